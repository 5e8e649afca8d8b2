#include "drivers/linux/launcher/place.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <vector>

#include "drivers/linux/launcher/cgroup_tree.h"
#include "drivers/linux/launcher/confine.h"
#include "drivers/linux/launcher/files.h"
#include "drivers/linux/launcher/kernel.h"
#include "drivers/linux/launcher/proc.h"
#include "drivers/linux/launcher/slot.h"
#include "drivers/linux/launcher/subordinate_ids.h"

namespace belljar::launcher {

namespace {

constexpr const char* kInside = "inside";      // the first argument when the program runs again
constexpr const char* kSelf = "belljar-self";  // the cgroup of belljar and its launcher

// Root in a container may be somebody else outside: then it has neither our range of ids nor rights
// over the host, and is an ordinary user to us.
bool is_host_root() {
  if (::geteuid() != 0) return false;
  const std::string map = read_file_at(AT_FDCWD, "/proc/self/uid_map");
  char* end = nullptr;
  const unsigned long inside = std::strtoul(map.c_str(), &end, 10);
  const unsigned long outside = std::strtoul(end, &end, 10);
  const unsigned long count = std::strtoul(end, &end, 10);
  return inside == 0 && outside == 0 && count > kFirstId + kSlots * kIdsPerSlot;
}

bool may_move_into(const std::string& group) {
  return !group.empty() && ::access((group + "/cgroup.procs").c_str(), W_OK) == 0;
}

// The group that the caller was given. A caller that started another launcher before is in the
// child that was made then, and what was delegated is above it.
std::string delegated_cgroup() {
  const std::string own = own_cgroup_v2();
  const std::string child = std::string{"/"} + kSelf;
  if (own.ends_with(child)) {
    const std::string parent = own.substr(0, own.size() - child.size());
    if (may_move_into(parent)) return parent;
  }
  return may_move_into(own) ? own : std::string{};
}

// v2 gives controllers only to groups of a parent without processes. If nobody but belljar and this
// process is in the delegated group, both move to a child of it and make room.
void find_delegated_cgroup(Place& place) {
  const std::string own = delegated_cgroup();
  if (own.empty()) return;
  const std::string probe = own + "/" + kSelf;
  if (::mkdir(probe.c_str(), 0755) != 0 && errno != EEXIST) return;
  place.cgroup = own;
  const std::string us[] = {std::to_string(::getpid()), std::to_string(::getppid())};
  const std::string members = read_file_at(AT_FDCWD, (own + "/cgroup.procs").c_str());
  place.cgroup_has_room = true;
  for (size_t at = 0; at < members.size();) {
    const size_t end = members.find('\n', at);
    const std::string member = members.substr(at, end - at);
    at = end == std::string::npos ? members.size() : end + 1;
    if (member != us[0] && member != us[1]) place.cgroup_has_room = false;
  }
  for (const std::string& pid : us) {
    if (!place.cgroup_has_room) break;
    place.cgroup_has_room = write_file_at(AT_FDCWD, (probe + "/cgroup.procs").c_str(), pid) == 0;
  }
  if (!place.cgroup_has_room) ::rmdir(probe.c_str());
}

int become_root_of_own_namespace(Place& place) {
  const SubordinateIds ids = find_subordinate_ids(place.caller);
  const uid_t uid = ::geteuid();
  const gid_t gid = ::getegid();
  IdMapper mapper;
  if (ids.count > 0) mapper = start_id_mapper(ids, uid, gid);
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC) != 0) return errno;
  // The files in /proc that take the maps belong to the user only while the process is dumpable.
  ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
  place.first_id = 1;
  place.id_count = ids.count;
  int error = 0;
  if (!mapper.finish()) {
    place.first_id = 0;
    place.id_count = 1;
    error = map_own_id_only(uid, gid);
  }
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  if (error != 0) return error;
  // What the host mounts later shall be seen here, too, but not the other way round.
  return ::mount(nullptr, "/", nullptr, MS_SLAVE | MS_REC, nullptr) == 0 ? 0 : errno;
}

// Waits for the launcher. When belljar ends, the launcher, woken if somebody has stopped it, has
// some time to remove everything and end too; then it is killed, and with it every sandbox.
[[noreturn]] void keep(pid_t launcher, const Fd& belljar) {
  constexpr int kMillisToTidyUp = 1000;
  ::prctl(PR_SET_NAME, "belljar-keeper", 0, 0, 0);
  const Fd ended{pidfd_open(launcher)};
  // belljar must see the launcher's end of the socket close.
  int kept[] = {belljar.get(), ended.get()};
  std::sort(std::begin(kept), std::end(kept));
  if (kept[0] >= 0) close_all_but(kept, std::size(kept));
  pollfd waits[] = {{ended.get(), POLLIN, 0}, {belljar.get(), POLLIN, 0}};
  while (::poll(waits, std::size(waits), -1) < 0 && errno == EINTR) {
  }
  if (waits[0].revents == 0) {
    ::kill(launcher, SIGCONT);
    if (::poll(waits, 1, kMillisToTidyUp) <= 0) ::kill(launcher, SIGKILL);
  }
  int status = 0;
  while (::waitpid(launcher, &status, 0) < 0 && errno == EINTR) {
  }
  ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

// The kernel counts the memory of a process to the user namespace in which its program was
// executed, and that one's rights decide who may look into it through /proc. From here on it is
// ours.
int execute_again(const Place& place) {
  std::string words[] = {"belljar-launcher",
                         kInside,
                         std::to_string(place.first_id),
                         std::to_string(place.id_count),
                         std::to_string(place.caller),
                         place.cgroup_has_room ? "1" : "0",
                         place.cgroup};
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  char* const no_environment[] = {nullptr};
  ::execve("/proc/self/exe", argv.data(), no_environment);
  return errno;
}

int become_first_of_own_pid_namespace() {
  const Fd keeper{pidfd_open(::getpid())};
  const Fd belljar{pidfd_open(::getppid())};
  if (!keeper || !belljar) return errno;
  if (::unshare(CLONE_NEWPID) != 0) return errno;
  const pid_t child = ::fork();
  if (child < 0) return errno;
  if (child > 0) keep(child, belljar);
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) return errno;
  pollfd ended{keeper.get(), POLLIN, 0};
  if (::poll(&ended, 1, 0) != 0) ::_exit(1);  // it died before it could take us with it
  return 0;
}

void mount_own_proc(Place& place) {
  place.step = "mount the launcher's /proc";
  place.error = make_proc(place.proc);
}

Place enter_place() {
  Place place;
  place.caller = ::geteuid();
  place.is_root = is_host_root();
  if (place.is_root) {
    place.first_id = kFirstId;
    place.id_count = kSlots * kIdsPerSlot;
  } else {
    find_delegated_cgroup(place);
    place.step = "make the launcher's user namespace";
    place.error = become_root_of_own_namespace(place);
    if (place.error != 0) return place;
  }
  place.step = "make the launcher's pid namespace";
  place.error = become_first_of_own_pid_namespace();
  if (place.error != 0) return place;
  if (!place.is_root) {
    place.step = "execute the launcher again";
    place.error = execute_again(place);
    return place;
  }
  mount_own_proc(place);
  return place;
}

Place resume_place(char* const* words) {
  const auto number = [](const char* word) {
    return static_cast<unsigned>(std::strtoul(word, nullptr, 10));
  };
  Place place;
  place.first_id = number(words[0]);
  place.id_count = number(words[1]);
  place.caller = number(words[2]);
  place.cgroup_has_room = number(words[3]) != 0;
  place.cgroup = words[4];
  mount_own_proc(place);
  return place;
}

}  // namespace

Place find_place(int argc, char* const* argv) {
  if (argc == 7 && std::strcmp(argv[1], kInside) == 0) return resume_place(argv + 2);
  return enter_place();
}

int find_here(const Place& place, int directory, Fd& result) {
  struct stat given;
  struct stat found;
  if (::fstat(directory, &given) != 0) return errno;
  if (!S_ISDIR(given.st_mode)) return ENOTDIR;
  if (place.is_root) {
    result.reset(::fcntl(directory, F_DUPFD_CLOEXEC, 0));
    return result ? 0 : errno;
  }
  // A mount can be copied only by its own namespace, and belljar's is another one. The same
  // directory has the same path here, unless somebody moves it at this very moment.
  char path[PATH_MAX];
  const std::string link = "/proc/self/fd/" + std::to_string(directory);
  const ssize_t length = ::readlink(link.c_str(), path, sizeof path - 1);
  if (length < 0) return errno;
  path[length] = '\0';
  result.reset(::open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!result || ::fstat(result.get(), &found) != 0) return errno;
  return found.st_dev == given.st_dev && found.st_ino == given.st_ino ? 0 : ESTALE;
}

}  // namespace belljar::launcher
