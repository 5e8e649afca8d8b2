#pragma once

#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "files/beneath.h"

namespace belljar::files {

struct Info {
  Type type = Type::file;
  uint64_t size = 0;
  unsigned mode = 0;  // permission bits
  uint64_t inode = 0;
  timespec mtime{};  // whatever the owner of the file likes
  timespec ctime{};  // the kernel's
};

// An open regular file. `info` is what it was when it was opened.
struct File {
  Fd fd;
  Info info;
};

struct ListOptions {
  bool recursive = false;
  size_t max_entries = 1000;
  size_t max_depth = 64;
  size_t max_read = 200'000;  // names read at all, those that are only counted included
};

struct Listing {
  struct Entry {
    std::string path;  // relative to the directory that was listed; any bytes
    Type type = Type::file;
    uint64_t size = 0;
  };
  std::vector<Entry> entries;  // a directory comes before what is in it; names in byte order
  size_t more = 0;             // entries that exist but are not shown
  bool more_is_exact = true;   // false: there are at least that many
};

// A directory whose content belongs to hostile programs. Names are resolved by the kernel beneath
// it, without following any link or crossing to another mount, once per call: what was checked is
// what is used. Paths are relative, "." is the directory itself. Nothing here waits for a
// FIFO or a device, but disks block: use run_blocking().
//
// Errors: not_found (no such name), denied (a link, not a regular file, another file system, no
// permission); they show the path in a safe form.
class Directory {
 public:
  explicit Directory(Fd handle) : handle_{std::move(handle)} {}
  explicit Directory(int handle);  // keeps a duplicate

  int handle() const { return handle_.get(); }

  Directory open_directory(const std::string& path) const;

  // Nothing if there is no such name, or if the way to it leads through a link.
  std::optional<Info> look(const std::string& path) const;

  File open_file(const std::string& path) const;

  // Up to `limit` bytes from `offset`; less if the file ends there.
  std::string read(const std::string& path, uint64_t offset, size_t limit) const;

  // What lies beneath `path`. Directories that cannot be read look empty.
  Listing list(const std::string& path, const ListOptions& options) const;

 private:
  Fd open_handle(const std::string& path) const;

  Fd handle_;
};

// Up to `limit` bytes of an open regular file from `offset`. The file may grow and shrink
// meanwhile.
std::string read_range(int file, uint64_t offset, size_t limit);

// A relative path that a client sent, in its shortest form: "./a//b/" → "a/b", "./" → ".". One that
// is empty, absolute or too long, or has a NUL or a ".." is Error{invalid} and names the argument.
std::string check_relative_path(std::string_view argument, std::string_view path);

}  // namespace belljar::files
