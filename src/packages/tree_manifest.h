#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "packages/tarball.h"

namespace belljar::packages {

struct TreeLink {
  std::string path;
  std::string target;
};

// What a directory of the store holds, to the last byte. Directories are there because something
// is in them. On the disk it is a text, one line per file and link, much like that of sha256sum:
//
//   <sha256> x <size> bin/cli.js
//   <sha256> - <size> package.json
//   -> ../semver/bin/semver.js<NUL>.bin/semver
struct TreeManifest {
  std::vector<UnpackedFile> files;  // sorted by directory, then by name
  std::vector<TreeLink> links;      // sorted by path

  void sort();
  std::string serialize() const;

  // Error{unavailable} if the text is damaged.
  static TreeManifest parse(std::string_view text);

  uint64_t bytes() const;       // of all files
  uint64_t disk_bytes() const;  // the same in blocks of the usual size, with directories
};

// "a/b.js" → "a", "b.js" → "".
std::string_view directory_of(std::string_view path);
std::string_view base_name(std::string_view path);

// A size in whole blocks of 4 KiB, as most file systems store it.
uint64_t in_blocks(uint64_t bytes);

// The first difference in names, kinds, sizes and modes between the manifest and what is really
// there, in words; "" if there is none. No link is followed. Blocks.
std::string find_difference(const TreeManifest& manifest, int directory);

// The same for the content of the files from number `first` up to `last` (not included): reads and
// hashes them. Blocks.
std::string find_changed_file(const TreeManifest& manifest, int directory, size_t first,
                              size_t last);

}  // namespace belljar::packages
