#include "drivers/docker/run_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/error.h"
#include "base/id.h"
#include "base/log.h"
#include "base/posix.h"
#include "base/sha256.h"

namespace belljar::docker {

namespace {

constexpr size_t kBytes = 8;  // of a name

Fd open_lock(const std::string& path) {
  return Fd{sys(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600), "open {}", path)};
}

// Held while a run's directory is without its own lock, and while others look for such.
Fd lock_all(const std::string& root) {
  Fd lock = open_lock(root + "/lock");
  sys(::flock(lock.get(), LOCK_EX), "lock {}", root);
  return lock;
}

std::string short_hash(const std::string& text) {
  Sha256 hash;
  hash.add(text);
  return hash.finish().substr(0, 2 * kBytes);
}

bool is_run(const std::string& name) {
  return name.size() == 2 * kBytes &&
         name.find_first_not_of("0123456789abcdef") == std::string::npos;
}

void remove_tree(const std::string& path) {
  std::error_code error;
  std::filesystem::remove_all(path, error);
  if (error) log::warning("{} stays: {}", path, error.message());
}

}  // namespace

RunDirectory::Place::~Place() {
  if (handle_) remove_tree(path_);
}

RunDirectory::RunDirectory(const std::string& data_directory, const std::string& engine_directory)
    : root_{data_directory + "/docker"},
      engine_root_{engine_directory + "/docker"},
      run_{random_hex(kBytes)},
      data_label_{short_hash(engine_directory)} {
  make_directories(root_, 0700);
  const Fd all = lock_all(root_);
  sys(::mkdir((root_ + "/" + run_).c_str(), 0700), "make {}/{}", root_, run_);
  lock_ = open_lock(root_ + "/" + run_ + "/lock");
  sys(::flock(lock_.get(), LOCK_EX | LOCK_NB), "lock {}/{}", root_, run_);
}

RunDirectory::~RunDirectory() {
  remove_tree(root_ + "/" + run_);
}

RunDirectory::Place RunDirectory::make_place() {
  const uint64_t number = next_++;
  const std::string path = fmt::format("{}/{}", this->path(), number);
  sys(::mkdir(path.c_str(), 0755), "make {}", path);
  sys(::chmod(path.c_str(), 0755), "open {} to its container", path);
  return {path, fmt::format("{}/{}", engine_path(), number), open_directory(path)};
}

bool RunDirectory::is_alive(const std::string& run) const {
  if (run == run_) return true;
  if (!is_run(run)) return false;
  const Fd all = lock_all(root_);
  const std::string path = fmt::format("{}/{}/lock", root_, run);
  const Fd lock{::open(path.c_str(), O_RDWR | O_CLOEXEC)};
  return lock && ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0;
}

void RunDirectory::remove_dead() {
  for (const auto& entry : std::filesystem::directory_iterator{root_}) {
    const std::string name = entry.path().filename().string();
    if (is_run(name) && !is_alive(name)) remove_tree(entry.path().string());
  }
}

}  // namespace belljar::docker
