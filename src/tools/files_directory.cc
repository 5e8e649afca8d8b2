#include "tools/files_directory.h"

#include <filesystem>
#include <string_view>

namespace belljar::tools {

namespace {

Fd open_shared(const std::string& path) {
  Fd handle;
  try {
    handle = open_directory(path);
  } catch (const Error& e) {
    fail(Code::invalid,
         "the files directory (FILES_DIR, --files-dir) is \"{}\", which cannot be used: {}; make "
         "it, or name another directory",
         path, e.what());
  }
  return handle;
}

bool is_beneath(std::string_view place, std::string_view directory) {
  return place.starts_with(directory) &&
         (place.size() == directory.size() || place[directory.size()] == '/');
}

bool belongs_to_the_system(std::string_view place) {
  for (const char* directory : {"/", "/usr", "/usr/local", "/dev", "/run", "/var"}) {
    if (place == directory) return true;
  }
  for (const char* directory : {"/proc", "/sys", "/etc", "/boot", "/usr/bin", "/usr/sbin",
                                "/usr/lib", "/usr/local/bin", "/usr/local/sbin"}) {
    if (is_beneath(place, directory)) return true;
  }
  return false;
}

void check_place(int handle) {
  const std::string place =
      std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", handle)).string();
  if (!belongs_to_the_system(place)) return;
  fail(Code::invalid,
       "the files directory (FILES_DIR, --files-dir) is \"{}\": programs may change everything in "
       "it, so it must not be a directory of the system; make one for them",
       place);
}

}  // namespace

Fd open_files_directory(const std::string& path) {
  Fd directory = open_shared(path);
  check_place(directory.get());
  return directory;
}

FilesDirectory::FilesDirectory(const std::string& path, Fd directory, int view)
    : handle{std::make_shared<const Fd>(std::move(directory))},
      shared{share_files(path, view)},
      tracked{std::make_shared<files::TrackedFiles>(files::Directory{view})} {}

}  // namespace belljar::tools
