#include "tools/files_directory.h"

#include <filesystem>

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

void check_place(int handle) {
  const std::string place =
      std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", handle)).string();
  for (const char* forbidden : {"/", "/proc", "/sys", "/dev", "/etc", "/usr", "/boot", "/run"}) {
    if (place != forbidden) continue;
    fail(
        Code::invalid,
        "the files directory (FILES_DIR, --files-dir) is \"{}\": programs may change everything in "
        "it, so it must not be a directory of the system; make one for them",
        place);
  }
}

}  // namespace

FilesDirectory::FilesDirectory(const std::string& path)
    : handle{std::make_shared<const Fd>(open_shared(path))},
      shared{share_files(path, handle->get())},
      tracked{std::make_shared<files::TrackedFiles>(files::Directory{handle->get()})} {
  check_place(handle->get());
}

}  // namespace belljar::tools
