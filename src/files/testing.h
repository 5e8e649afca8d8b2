#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/posix.h"
#include "files/directory.h"

// For unit tests only.
namespace belljar::files {

// A directory of its own for one test, deleted afterwards. The functions take paths relative to it
// and write plainly, as a program would.
class TestDirectory {
 public:
  TestDirectory() : TestDirectory{std::filesystem::temp_directory_path().string()} {}
  explicit TestDirectory(const std::string& where) {
    std::string name = where + "/belljar-files-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) fail_errno(errno, "create " + name);
    path_ = name;
  }
  ~TestDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TestDirectory(const TestDirectory&) = delete;
  TestDirectory& operator=(const TestDirectory&) = delete;

  std::string path(const std::string& name = "") const {
    return name.empty() ? path_ : path_ + "/" + name;
  }
  Directory directory() const { return Directory{belljar::open_directory(path_)}; }

  void write(const std::string& name, std::string_view content) const {
    const Fd file{sys(::open(path(name).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644),
                      "open {}", name)};
    sys(::write(file.get(), content.data(), content.size()), "write {}", name);
  }
  void make_directory(const std::string& name) const {
    sys(::mkdir(path(name).c_str(), 0755), "mkdir {}", name);
  }
  void rename(const std::string& from, const std::string& to) const {
    sys(::rename(path(from).c_str(), path(to).c_str()), "rename {}", from);
  }
  void remove(const std::string& name) const { std::filesystem::remove_all(path(name)); }
  void link_to(const std::string& target, const std::string& name) const {
    sys(::symlink(target.c_str(), path(name).c_str()), "symlink {}", name);
  }

 private:
  std::string path_;
};

// The Error that `function` throws: its code and its text.
template <class Function>
Error error_of(const Function& function) {
  try {
    function();
  } catch (const Error& error) {
    return error;
  }
  return Error{Code::internal, "no error"};
}

}  // namespace belljar::files
