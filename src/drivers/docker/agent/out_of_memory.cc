#include "drivers/docker/agent/out_of_memory.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "base/fd.h"

namespace belljar::agent {

namespace {

constexpr const char* kProgramScore = "900";  // of 1000, as the launcher's programs have

void write_score(const Fd& file, const char* score) {
  if (!file) return;
  [[maybe_unused]] const ssize_t ignored = ::pwrite(file.get(), score, std::strlen(score), 0);
}

// The number after "oom_kill " at the beginning of a line.
bool read_count(const char* path, uint64_t& count) {
  const Fd file{::open(path, O_RDONLY | O_CLOEXEC)};
  char text[1024] = "\n";
  const ssize_t size = file ? ::read(file.get(), text + 1, sizeof text - 2) : -1;
  if (size <= 0) return false;
  text[1 + size] = '\0';
  constexpr const char* kKey = "\noom_kill ";
  const char* at = std::strstr(text, kKey);
  if (at == nullptr) return false;
  count = std::strtoull(at + std::strlen(kKey), nullptr, 10);
  return true;
}

}  // namespace

OomScore::OomScore() : file_{::open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC)} {
  const ssize_t size = file_ ? ::pread(file_.get(), first_, sizeof first_ - 1, 0) : -1;
  const bool is_lower = size > 0 && std::atoi(first_) < std::atoi(kProgramScore);
  if (!is_lower) file_.reset();
}

void OomScore::raise() const {
  write_score(file_, kProgramScore);
}

void OomScore::restore() const {
  write_score(file_, first_);
}

uint64_t count_oom_kills() {
  uint64_t count = 0;
  if (!read_count("/sys/fs/cgroup/memory.events", count))
    read_count("/sys/fs/cgroup/memory/memory.oom_control", count);
  return count;
}

}  // namespace belljar::agent
