#include "runtime/runtime_store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/id.h"
#include "base/json.h"
#include "base/posix.h"
#include "packages/npm_install.h"

namespace belljar::runtime {
namespace {

namespace fs = std::filesystem;
using packages::Version;

constexpr std::string_view kTemporary = ".tmp-";
constexpr double kTick = 0.05;  // seconds; a kernel's time stamps are at most 10 ms apart

}  // namespace

RuntimeStore::RuntimeStore(std::string directory) : directory_{std::move(directory)} {}

std::string RuntimeStore::path_of(const Version& version) const {
  return directory_ + "/" + to_string(version);
}

const std::vector<Installed>& RuntimeStore::list() {
  struct stat status {};
  if (::stat(directory_.c_str(), &status) != 0) {
    if (errno == ENOMEM) fail_errno(errno, "look at " + directory_);
    installed_.clear();
    read_at_.reset();
    return installed_;
  }
  const std::pair<long, long> changed{status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
  if (read_at_ == changed) return installed_;
  read_at_.reset();
  installed_.clear();
  std::error_code error;
  for (const auto& entry : fs::directory_iterator{directory_, error}) {
    const auto version = packages::parse_version(entry.path().filename().string());
    const std::string prefix = entry.path().string();
    if (!version || to_string(*version) != entry.path().filename()) continue;
    if (::access((prefix + "/bin/node").c_str(), X_OK) == 0) {
      installed_.push_back({*version, prefix});
    } else if (errno == ENOMEM) {
      fail_errno(errno, "look at " + prefix);
    }
  }
  // What is overlooked would be downloaded again.
  if (error) fail(Code::unavailable, "list {}: {}", directory_, error.message());
  std::sort(installed_.begin(), installed_.end(),
            [](const Installed& a, const Installed& b) { return a.version < b.version; });
  // The time stamp is coarse: a change in the same tick as this reading would not show.
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  const double age = static_cast<double>(now.tv_sec - status.st_mtim.tv_sec) +
                     1e-9 * static_cast<double>(now.tv_nsec - status.st_mtim.tv_nsec);
  if (age > kTick) read_at_ = changed;
  return installed_;
}

const Installed* RuntimeStore::find(const Version& version) {
  for (const Installed& installed : list())
    if (installed.version == version) return &installed;
  return nullptr;
}

std::optional<Fd> RuntimeStore::try_lock() {
  make_directories(directory_);
  const std::string path = directory_ + "/.lock";
  Fd file{
      sys(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644), "open {}", path)};
  if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) return file;
  if (errno != EWOULDBLOCK && errno != EINTR) fail_errno(errno, "lock " + path);
  return std::nullopt;
}

namespace {

std::vector<fs::path> leftovers_in(const std::string& directory) {
  std::vector<fs::path> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator{directory, error})
    if (entry.path().filename().string().starts_with(kTemporary)) found.push_back(entry.path());
  return found;
}

}  // namespace

bool RuntimeStore::has_leftovers() const {
  return !leftovers_in(directory_).empty();
}

void RuntimeStore::clean() const {
  std::error_code error;
  for (const fs::path& path : leftovers_in(directory_)) fs::remove_all(path, error);
}

std::string RuntimeStore::make_temporary() {
  const std::string path = directory_ + "/" + std::string{kTemporary} + random_hex(8);
  sys(::mkdir(path.c_str(), 0755), "create {}", path);
  sys(::chmod(path.c_str(), 0755), "set the mode of {}", path);
  return path;
}

Installed RuntimeStore::publish(const std::string& temporary, const Version& version) const {
  const Fd built{
      sys(::open(temporary.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC), "open {}", temporary)};
  sys(::syncfs(built.get()), "write {} to the disk", temporary);
  const std::string path = path_of(version);
  std::error_code error;
  // Only something incomplete can be in the way: a complete version is never installed again.
  if (fs::exists(path, error)) fs::remove_all(path, error);
  sys(::rename(temporary.c_str(), path.c_str()), "rename {} to {}", temporary, path);
  return {version, path};
}

std::optional<std::string> RuntimeStore::take_away(const Version& version) {
  std::string away = directory_ + "/" + std::string{kTemporary} + random_hex(8);
  if (::rename(path_of(version).c_str(), away.c_str()) == 0) return away;
  if (errno != ENOENT) fail_errno(errno, "remove Node.js " + to_string(version));
  return std::nullopt;
}

std::string npm_version(const Installed& installed) {
  boost::system::error_code error;
  std::string text;
  try {
    text = read_file(installed.prefix + "/lib/node_modules/npm/package.json", 1u << 20);
  } catch (const Error&) {
    return "";
  }
  const json::value manifest = json::parse(text, error);
  const json::object* object = error ? nullptr : manifest.if_object();
  const json::string* version = object != nullptr ? find_string(*object, "version") : nullptr;
  return version != nullptr ? std::string{*version} : "";
}

std::string default_data_directory() {
  if (std::string directory = environment("BELLJAR_DATA_DIR"); !directory.empty()) return directory;
  // The XDG specification says that a relative value is to be ignored.
  if (const std::string base = environment("XDG_DATA_HOME"); base.starts_with('/'))
    return base + "/belljar";
  return packages::Surroundings::of_this_process().home + "/.local/share/belljar";
}

}  // namespace belljar::runtime
