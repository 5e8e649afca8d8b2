#include "drivers/linux/launcher/subordinate_ids.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <vector>

#include "drivers/linux/launcher/files.h"
#include "drivers/linux/launcher/slot.h"

namespace belljar::launcher {

namespace {

constexpr const char* kMapUids = "/usr/bin/newuidmap";
constexpr const char* kMapGids = "/usr/bin/newgidmap";

// The fields of the lines of a file such as /etc/passwd.
std::vector<std::vector<std::string>> read_table(const char* path) {
  std::vector<std::vector<std::string>> rows(1, std::vector<std::string>(1));
  for (const char c : read_file_at(AT_FDCWD, path)) {
    if (c == '\n') {
      rows.emplace_back(1);
    } else if (c == ':') {
      rows.back().emplace_back();
    } else {
      rows.back().back() += c;
    }
  }
  return rows;
}

std::string name_of(uid_t user) {
  for (const auto& row : read_table("/etc/passwd")) {
    if (row.size() > 2 && row[2] == std::to_string(user)) return row[0];
  }
  return {};
}

unsigned to_number(const std::string& text) {
  return static_cast<unsigned>(std::strtoul(text.c_str(), nullptr, 10));
}

// The user's first range that is large enough for a launcher.
bool find_range(const char* path, uid_t user, unsigned& first, unsigned& count) {
  const std::string number = std::to_string(user);
  const std::string name = name_of(user);
  for (const auto& row : read_table(path)) {
    if (row.size() != 3 || row[0].empty() || (row[0] != number && row[0] != name)) continue;
    first = to_number(row[1]);
    count = to_number(row[2]);
    if (first > 0 && count >= kIdsPerRootlessSlot && count <= ~0u - first) return true;
  }
  return false;
}

// One of the two programs: "newuidmap PID 0 OWN 1 1 FIRST COUNT".
bool run(const char* program, pid_t target, unsigned own, unsigned first, unsigned count) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::string words[] = {program,
                           std::to_string(target),
                           "0",
                           std::to_string(own),
                           "1",
                           "1",
                           std::to_string(first),
                           std::to_string(count)};
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    char* const no_environment[] = {nullptr};
    ::execve(program, argv.data(), no_environment);
    ::_exit(127);
  }
  int status = 1;
  while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return child > 0 && status == 0;
}

}  // namespace

SubordinateIds find_subordinate_ids(uid_t user) {
  SubordinateIds ids;
  unsigned gids = 0;
  const bool can = ::access(kMapUids, X_OK) == 0 && ::access(kMapGids, X_OK) == 0 &&
                   find_range("/etc/subuid", user, ids.first_uid, ids.count) &&
                   find_range("/etc/subgid", user, ids.first_gid, gids);
  ids.count = can ? std::min(ids.count, gids) : 0;
  return ids;
}

IdMapper start_id_mapper(const SubordinateIds& ids, uid_t uid, gid_t gid) {
  int start[2];
  if (::pipe2(start, O_CLOEXEC) != 0) return {};
  const Fd read_end{start[0]};
  Fd write_end{start[1]};
  const pid_t target = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return {};
  if (child > 0) return {child, std::move(write_end)};
  write_end.reset();
  char byte = 0;
  if (::read(read_end.get(), &byte, 1) != 1) ::_exit(1);
  // Groups first: if that is refused nothing is mapped, and the caller can do it in another way.
  const bool done = run(kMapGids, target, gid, ids.first_gid, ids.count) &&
                    run(kMapUids, target, uid, ids.first_uid, ids.count);
  ::_exit(done ? 0 : 1);
}

bool IdMapper::finish() {
  if (child_ < 0) return false;
  const bool started = ::write(start_.get(), "m", 1) == 1;
  start_.reset();
  int status = 1;
  while (::waitpid(child_, &status, 0) < 0 && errno == EINTR) {
  }
  return started && status == 0;
}

int map_own_id_only(uid_t uid, gid_t gid) {
  // The kernel's condition for letting an ordinary user map a group.
  if (const int error = write_file_at(AT_FDCWD, "/proc/self/setgroups", "deny")) return error;
  const auto line = [](unsigned id) { return "0 " + std::to_string(id) + " 1\n"; };
  if (const int error = write_file_at(AT_FDCWD, "/proc/self/uid_map", line(uid))) return error;
  return write_file_at(AT_FDCWD, "/proc/self/gid_map", line(gid));
}

}  // namespace belljar::launcher
