#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "packages/tree_manifest.h"

namespace belljar::packages {

// What programs have made of a tree.
struct TreeChanges {
  std::vector<UnpackedFile> files;  // new ones, and those with other content or another mode
  std::vector<TreeLink> links;      // new ones, and those that lead elsewhere
  // Files and links of the tree that are not there any more, or are among the above.
  std::set<std::string, std::less<>> replaced;
  std::vector<std::string> left_out;  // in words: what a tree of packages cannot have

  bool empty() const { return files.empty() && links.empty() && replaced.empty(); }
};

struct ChangeLimits {
  uint64_t entries = 50'000;      // new ones, directories included
  uint64_t bytes = 512ull << 20;  // of all files that are new or changed
};

// Compares a tree that hostile programs had in their hands, and perhaps still have, with the one
// that it was at first. Nothing is followed, and nothing but directories, regular files and links
// that stay within the tree is taken over; names that are not plain text are left out, and of modes
// only whether a file is executable is kept. Directories without files are nothing.
//
//   `changed`    the tree
//   `original`   the same as it was: a file that still has the size and the times that it has there
//                has not been touched, as nobody but the kernel sets the time of the last change
//   `manifest`   of the original
//   `contents`   an empty directory: content of the files is copied there, named by their number
//
// Error{exhausted} if there is more than the limits allow, and what else keeps us from reading it
// all. Blocks.
TreeChanges collect_changes(int changed, int original, const TreeManifest& manifest, int contents,
                            const ChangeLimits& limits);

// Where a link leads, without looking at other links: true if it stays within the tree.
bool stays_within(std::string_view path, std::string_view target);

}  // namespace belljar::packages
