#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace belljar::packages {

struct UnpackedFile {
  std::string path;
  uint64_t size = 0;
  std::string sha256;  // hexadecimal
  bool executable = false;
};

struct UnpackOptions {
  uint64_t max_entries = 100'000;
  uint64_t max_bytes = 2ull << 30;  // unpacked, entries that are left out included
  // Which files are wanted, by their path without the first component. Empty: all of them.
  std::function<bool(std::string_view path)> wanted;
  // Told of each file that unpack_tarball() has written, if set: only then are they hashed.
  std::function<void(UnpackedFile file)> each;
};

struct Unpacked {
  uint64_t files = 0;
  uint64_t bytes = 0;
};

// Unpacks an npm tarball (gzip or plain tar) into a fresh, empty directory. The archive may be
// hostile:
//  - the first component of every name is dropped ("package/"); absolute names, "..", control
//    characters, ill-formed UTF-8 and over-long names are refused, and so are devices and
//    everything else that is neither file, directory nor link: a npm package has none of them;
//  - symbolic and hard links are left out, as npm does: few packages have some, by mistake;
//  - every name is resolved beneath `directory` without following a link; of files of the same name
//    the last one counts, as with npm: some packages have that;
//  - files become 0644, or 0755 if they were executable; owner, times, ACLs and xattrs are not
//  taken over.
// The first offence throws Error{denied} (limits: Error{exhausted}, a broken archive:
// Error{unavailable}) and leaves what was unpacked so far for the caller to remove. Blocks: call it
// by run_blocking().
Unpacked unpack_tarball(int tarball, int directory, const UnpackOptions& options);

// A file of a tarball in memory.
struct TarballFile {
  std::string content;  // at most its first ReadLimits::file bytes; less if there is no room left
  uint64_t size = 0;    // of all of it
};

struct ReadLimits {
  uint64_t file = 256u << 10;  // bytes kept of one file
  uint64_t all = 32u << 20;    // bytes kept of all files
};

// The wanted files by their path, read with the same checks and errors as unpack_tarball(), without
// touching the disk. What exceeds the limits is cut, not refused. Blocks.
std::map<std::string, TarballFile, std::less<>> read_tarball(int tarball,
                                                             const UnpackOptions& options,
                                                             const ReadLimits& limits);

}  // namespace belljar::packages
