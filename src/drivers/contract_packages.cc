#include "drivers/contract_packages.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <vector>

#include "base/error.h"
#include "base/posix.h"

namespace belljar::contract {

Packages::Packages(const std::map<std::string, std::string>& files) {
  if (::mkdtemp(path_.data()) == nullptr) fail_errno(errno, "make a directory");
  sys(::chmod(path_.c_str(), 0755), "open {} to sandboxes", path_);
  for (const auto& [name, content] : files) {
    const std::filesystem::path file = path_ + "/" + name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream{file} << content;
  }
  std::vector<Fd> directories;
  directories.push_back(open_directory(path_));
  directory = std::make_shared<const std::vector<Fd>>(std::move(directories));
  before_ = state(true);
  before_links_ = state(false);
}

Packages::~Packages() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

PackageDirectories Packages::over(const Packages& base) const {
  std::vector<Fd> directories;
  directories.push_back(open_directory(path_));
  directories.push_back(open_directory(base.path_));
  return std::make_shared<const std::vector<Fd>>(std::move(directories));
}

bool Packages::is_unchanged(const Bench& bench) const {
  // Containers get further names of the files, which shows in the files' state.
  const bool counts_links = !bench.is_container();
  return state(counts_links) == (counts_links ? before_ : before_links_);
}

// Names, contents, owners, modes; with links also their number, and times of change, which nobody
// can set back.
std::string Packages::state(bool counts_links) const {
  std::vector<std::filesystem::path> paths{path_};
  for (const auto& entry : std::filesystem::recursive_directory_iterator{path_}) {
    paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::string text;
  for (const auto& path : paths) {
    struct stat info {};
    sys(::lstat(path.c_str(), &info), "look at {}", path.string());
    text += fmt::format("{} {} {} {:o} {}.{}\n", path.string(), info.st_uid, info.st_gid,
                        info.st_mode, info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
    if (counts_links) {
      text += fmt::format("{} {}.{}\n", info.st_nlink, info.st_ctim.tv_sec, info.st_ctim.tv_nsec);
    }
    if (S_ISREG(info.st_mode)) text += read_file(path);
  }
  return text;
}

}  // namespace belljar::contract
