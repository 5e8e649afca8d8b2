#pragma once

#include <filesystem>
#include <string>

#include "fuzz.h"
#include "runtime/unpack_runtime.h"

namespace belljar::fuzz {

namespace fs = std::filesystem;

// In memory, because every input makes and removes a directory.
inline std::string make_outer_directory() {
  std::string path =
      fs::exists("/dev/shm") ? "/dev/shm/belljar-fuzz-XXXXXX" : "/tmp/belljar-fuzz-XXXXXX";
  expect(::mkdtemp(path.data()) != nullptr, "there is a directory to unpack into");
  return path;
}

// A directory in an outer one of its own: whatever else appears there has broken out.
class Place {
 public:
  Place() { fs::create_directory(path()); }

  std::string path() const { return outer_.path() + "/inner"; }

  // The number of files in it.
  size_t check() const {
    const auto beside = fs::directory_iterator{outer_.path()};
    expect(std::distance(fs::begin(beside), fs::end(beside)) == 1, "nothing leaves the directory");
    size_t files = 0;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator{path()}) {
      const fs::file_status status = entry.symlink_status();
      expect(fs::is_directory(status) || fs::is_regular_file(status), "only files and directories");
      const auto mode = static_cast<unsigned>(status.permissions());
      expect(mode == 0755 || (mode == 0644 && fs::is_regular_file(status)), "modes are plain");
      files += fs::is_regular_file(status) ? 1 : 0;
    }
    return files;
  }

 private:
  runtime::TemporaryTree outer_{make_outer_directory()};
};

}  // namespace belljar::fuzz
