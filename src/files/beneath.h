#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// What the rest of this folder is made of: name resolution that cannot be led astray.
namespace belljar::files {

enum class Type : uint8_t { file, directory, symlink, fifo, socket, device };

Type type_of(mode_t mode);

// "file", "directory", "symbolic link", "FIFO", "socket", "device".
std::string_view type_name(Type type);

// openat2 that follows no link, leaves neither the directory nor its mount, and does not wait for
// anything. The new descriptor (close-on-exec), or -1 and errno.
int open_beneath(int directory, const char* path, uint64_t flags);

// A handle (O_PATH) of the directory of that name; if something is mounted there, of that. Only for
// a name where nobody but the launcher mounts.
int open_mount(int directory, const char* name);

constexpr uint64_t kHandle = O_PATH | O_NOFOLLOW;             // to look at it, whatever it is
constexpr uint64_t kFolder = O_RDONLY | O_DIRECTORY;          // to read its names
constexpr int kLook = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT;  // for fstatat

// One name in a directory, any bytes but '/' and NUL.
struct Name {
  std::string name;
  unsigned char kind;  // d_type: a hint only, DT_UNKNOWN on some file systems
};

// The names in an open directory without "." and "..", in no order; `limit` at most. False if
// there are more. A directory that cannot be read to its end ends there.
bool read_names(int directory, size_t limit, std::vector<Name>& names);

}  // namespace belljar::files
