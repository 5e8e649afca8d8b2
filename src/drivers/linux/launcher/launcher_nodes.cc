// Programs that are not executed but copied from a zygote: on demand, or ahead.
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "drivers/linux/launcher/files.h"
#include "drivers/linux/launcher/kernel.h"
#include "drivers/linux/launcher/launcher.h"
#include "drivers/linux/launcher/processors.h"
#include "drivers/linux/launcher/rights.h"

namespace belljar::launcher {

namespace {

// Numbers that belljar does not give to sandboxes.
constexpr uint64_t kFirstZygote = uint64_t{1} << 63;

// The pids of zygotes: high ones, that no process of a sandbox has soon, and that no other number
// in the memory of Node.js is taken for. V8 remembers it; see zygote/thread_id.h.
constexpr pid_t kFirstPid = 20000;
constexpr size_t kMostZygotes = 16;
constexpr pid_t kMostTries = 1000;

// What a zygote itself may use. Memory that its copies change is theirs.
SandboxLimits limits_of_zygote(SandboxLimits limits) {
  limits.memory = std::max(limits.memory, uint64_t{512} << 20);
  limits.pids = std::max(limits.pids, 64u);
  return limits;
}

// True if it can make copies for sandboxes of this image with these limits.
bool is_ready(const Zygote& zygote, uint32_t image, const SandboxLimits& limits) {
  return zygote.image == image && std::memcmp(&zygote.limits, &limits, sizeof limits) == 0 &&
         zygote.serial == 0 && zygote.control && !zygote.retired && !zygote.ended;
}

}  // namespace

void Launcher::make_zygote(const Request& request) {
  const auto base = templates_.find(request.image);
  if (base == templates_.end()) return answer(request, EINVAL, "understand the zygote");
  if ((request.flags & kRetire) != 0) {
    retire_others(request.image, request.limits, nullptr);
    return answer(request, 0, "");
  }
  for (const auto& [id, zygote] : zygotes_) {
    // belljar asks again when a copy has failed, whoever's fault that was.
    if ((request.flags & kRenew) == 0 && is_ready(*zygote, request.image, request.limits))
      return answer(ReplyType::done, request.serial, zygote->number, 0, "");
  }
  if (zygotes_.size() >= kMostZygotes) return answer(request, EAGAIN, "start another zygote");
  if (!zygote_library_) return answer(request, ENOENT, "find belljar-zygote.so");
  uint64_t id = kFirstZygote;
  while (zygotes_.count(id) != 0) ++id;
  auto zygote = std::make_unique<Zygote>();
  zygote->id = id;
  zygote->number = ++zygotes_made_;
  zygote->image = request.image;
  zygote->limits = request.limits;
  zygote->serial = request.serial;
  int control[2] = {-1, -1};
  int status[2] = {-1, -1};
  Fd group;
  const char* step = "create the cgroups";
  int error = cgroups_.create_sandbox(id, limits_of_zygote(request.limits));
  if (error == 0) error = cgroups_.open_sandbox(id, group);
  if (error == 0) {
    step = "start the zygote";
    const bool made = ::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control) == 0 &&
                      ::pipe2(status, O_CLOEXEC | O_NONBLOCK) == 0;
    auto pid = static_cast<pid_t>(id - kFirstZygote) + kFirstPid;
    // The number of one that has ended is taken until its last copy has left its session; and
    // numbers go round.
    do {
      zygote->pid = made ? clone_process(0, group.get(), pid++) : -1;
    } while (made && zygote->pid < 0 && errno == EEXIST && pid < kFirstPid + kMostTries);
    if (zygote->pid < 0) error = errno;
  }
  if (error == 0 && zygote->pid == 0) {
    start_zygote({cgroups_, base->second, masks_, owner_.get(), zygote_library_.get(), id,
                  request.limits, control[1], status[1]});
  }
  zygote->control.reset(control[0]);
  zygote->status.reset(status[0]);
  for (const int fd : {control[1], status[1]}) {
    if (fd >= 0) ::close(fd);
  }
  if (error == 0) error = send_zygote_setup(zygote->control.get(), filters_);
  if (error != 0) {
    if (zygote->pid > 0) ::kill(zygote->pid, SIGKILL);
    answer(request, error, step);
    if (zygote->pid <= 0) {
      cgroups_.remove_sandbox(id);
      return;
    }
    zygote->serial = 0;
  }
  zygotes_.emplace(id, std::move(zygote));
}

Zygote* Launcher::zygote_for(const Jar& jar) {
  for (const auto& [id, zygote] : zygotes_) {
    if (is_ready(*zygote, jar.image, jar.limits)) return zygote.get();
  }
  return nullptr;
}

// 0 or an errno: asks the zygote for a copy that enters the sandbox as this program.
int Launcher::ask_for_copy(Jar& jar, Program& program, bool is_awaited) {
  Zygote* const zygote = zygote_for(jar);
  if (zygote == nullptr) return ENOENT;
  if (const int error = cgroups_.create_process(jar.id, program.id)) return error;
  std::vector<Fd> fds(kForkFds);
  constexpr const char* kNamespaces[] = {"pid", "user", "mnt", "net", "ipc", "uts"};
  for (size_t i = 0; i < kForkStatus; ++i) {
    const std::string path = std::to_string(jar.init) + "/ns/" + kNamespaces[i];
    fds[i].reset(::openat(place_.proc.get(), path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fds[i]) return errno;
  }
  int status[2];
  if (::pipe2(status, O_CLOEXEC | O_NONBLOCK) != 0) return errno;
  program.status.reset(status[0]);
  fds[kForkStatus].reset(status[1]);
  int job[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, job) != 0) return errno;
  program.job.reset(job[0]);
  fds[kForkJob].reset(job[1]);
  ForkRequest request{};
  request.sandbox = jar.id;
  request.process = program.id;
  request.limits = jar.limits;
  request.has_own_ids = jar.ids.are_own ? 1 : 0;
  request.is_awaited = is_awaited ? 1 : 0;
  request.cgroup_counts_processes = (cgroups_.facts() & kFactPidsLimit) != 0 ? 1 : 0;
  Fd group;
  if (const int error = cgroups_.open_process(jar.id, program.id, group)) return error;
  if (group) {
    request.has_group = 1;
    fds.push_back(std::move(group));
  }
  std::vector<Fd> tasks;
  if (const int error = cgroups_.admit(jar.id, program.id, slot_.first_id, tasks)) return error;
  if (tasks.size() > kMostTasks) return EOVERFLOW;
  request.tasks = static_cast<uint32_t>(tasks.size());
  for (Fd& file : tasks) fds.push_back(std::move(file));
  std::vector<int> numbers;
  numbers.reserve(fds.size());
  for (const Fd& fd : fds) numbers.push_back(fd.get());
  const int error = send_fork_request(zygote->control.get(), request, numbers);
  program.takes_job = true;
  if (error == 0) program.zygote = zygote->id;  // from now on there may be a copy
  return error;
}

// 0 or an errno: what it runs, with its standard streams. A packet to somebody who waits for it
// never blocks.
int Launcher::hand_over(Jar& jar, Program& program, Message& message) {
  for (size_t i = 0; i < 3; ++i) {
    if (const int error = give_pipe(message.fds[i].get(), jar.ids.node_here)) return error;
  }
  std::vector<int> numbers;
  numbers.reserve(message.fds.size());
  for (const Fd& fd : message.fds) numbers.push_back(fd.get());
  iovec parts[] = {{&message.request, sizeof message.request},
                   {message.payload.data(), message.payload.size()}};
  Rights rights;
  msghdr header{};
  header.msg_iov = parts;
  header.msg_iovlen = 2;
  rights.attach(header, numbers);
  if (::sendmsg(program.job.get(), &header, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) return errno;
  program.job.reset();
  return 0;
}

int Launcher::pin(const Jar& jar, const Program& program) {
  auto per_cpu = programs_per_cpu();
  add_load_of_others(slot_, per_cpu);
  cpu_set_t chosen;
  const unsigned here = static_cast<unsigned>(std::max(0, ::sched_getcpu()));
  if (const int error = choose_processors(per_cpu, here, jar.limits.cpu_millis, chosen))
    return error;
  return ::sched_setaffinity(program.pid, sizeof chosen, &chosen) == 0 ? 0 : errno;
}

void Launcher::park(const Request& request) {
  const auto at = jars_.find(request.sandbox);
  if (at == jars_.end() || !at->second->ready || at->second->doomed)
    return answer(request, ESRCH, "find the sandbox");
  Jar& jar = *at->second;
  if (jar.programs.count(request.process) != 0)
    return answer(request, EINVAL, "understand the request");
  if ((request.flags & kExecuted) != 0) return park_executed(jar, request);
  auto program = std::make_unique<Program>();
  program->sandbox = jar.id;
  program->id = request.process;
  program->serial = request.serial;
  if (const int error = ask_for_copy(jar, *program, false)) {
    cgroups_.remove_process(jar.id, request.process);
    return answer(request, error, "ask for a copy of the zygote");
  }
  add(jar, std::move(program));
}

void Launcher::start_forked(Jar& jar, Message& message) {
  const Request& request = message.request;
  if (jar.programs.count(request.process) != 0)
    return answer(request, EINVAL, "understand the command");
  auto program = std::make_unique<Program>();
  program->sandbox = jar.id;
  program->id = request.process;
  program->serial = request.serial;
  if (const int error = ask_for_copy(jar, *program, true)) {
    cgroups_.remove_process(jar.id, request.process);
    return answer(request, error, "ask for a copy of the zygote");
  }
  program->message = std::make_unique<Message>(std::move(message));
  add(jar, std::move(program));
}

// The copy is there: it gets its program. Not before: whoever runs can be waited for and killed,
// and a program whose copy is lost has not begun.
void Launcher::start_copied(Jar& jar, Program& program) {
  const auto message = std::move(program.message);
  pin(jar, program);  // if it is gone, that is known
  const int error = program.unwanted ? ECANCELED : hand_over(jar, program, *message);
  if (error == 0) return;
  if (program.serial != 0) answer(message->request, error, "hand the program over");
  program.serial = 0;
  program.job.reset();  // it ends as its socket does
}

void Launcher::start_parked(Jar& jar, Message& message) {
  const Request& request = message.request;
  const auto at = jar.programs.find(request.process);
  if (at == jar.programs.end()) return answer(request, ESRCH, "find the parked process");
  Program& program = *at->second;
  const bool is_dying = !program.status || program.ended;
  if (!program.job || program.serial != 0 || is_dying)
    return answer(request, ESRCH, "find the parked process");
  int error = pin(jar, program);
  if (error != 0) return answer(request, error, "limit the processors");
  program.serial = request.serial;
  ::kill(program.pid, SIGCONT);  // in a session an earlier program may have stopped it
  error = hand_over(jar, program, message);
  if (error == 0) return;
  program.serial = 0;
  answer(request, error, "hand the program over");
}

void Launcher::on_zygote(Zygote& zygote) {
  if (zygote.status) {
    Report report{};
    const ssize_t size = ::read(zygote.status.get(), &report, sizeof report);
    if (size == sizeof report) {
      answer(ReplyType::failed, zygote.serial, 0, report.error, report.step);
      zygote.serial = 0;
    }
    if (size >= 0 || (errno != EAGAIN && errno != EINTR)) zygote.status.reset();
  }
  ForkReply reply{};
  while (zygote.control) {
    const ssize_t size = ::recv(zygote.control.get(), &reply, sizeof reply, MSG_DONTWAIT);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) break;
    if (size != sizeof reply) return lose(zygote);
    if (zygote.serial == 0) {
      on_copy(reply);
    } else {
      on_zygote_ready(zygote);
    }
  }
  if (zygote.retired && !owes_copies(zygote.id)) lose(zygote);
}

void Launcher::on_copy(const ForkReply& reply) {
  const auto jar = jars_.find(reply.sandbox);
  if (jar == jars_.end()) return;
  const auto at = jar->second->programs.find(reply.process);
  if (at == jar->second->programs.end()) return;
  Program& program = *at->second;
  program.zygote = 0;
  if (reply.error != 0) {
    program.status.reset();
    if (program.serial != 0)
      answer(ReplyType::failed, program.serial, reply.sandbox, reply.error, "copy the zygote");
    cgroups_.remove_process(reply.sandbox, reply.process);
    jar->second->programs.erase(at);
    return;
  }
  program.pid = reply.pid;
  if (program.message) start_copied(*jar->second, program);
  on_parked(program);
  const auto ended = unclaimed_.extract(reply.pid);
  // Whoever else is in it is nobody's copy, and its number will be somebody else's.
  if (!owes_copies(0)) unclaimed_.clear();
  if (ended) on_program_exit(program, ended.mapped().first, ended.mapped().second);
}

// The copy and its zygote speak for themselves, and either may be first.
void Launcher::on_parked(Program& program) {
  if (!program.waits || !program.job || program.pid < 0 || program.serial == 0) return;
  answer(ReplyType::done, program.serial, program.sandbox, 0, "");
  program.serial = 0;
}

// What it was still to copy fails; programs that it has made go on.
void Launcher::lose(Zygote& zygote) {
  if (!zygote.control) return;
  zygote.control.reset();
  if (zygote.serial != 0) {
    answer(ReplyType::failed, zygote.serial, 0, ECHILD, "warm the zygote up");
  } else if (!zygote.retired && !closing_) {
    answer(ReplyType::zygote_died, 0, zygote.number, 0, "");
  }
  zygote.serial = 0;
  for (const auto& [id, jar] : jars_) {
    std::vector<ForkReply> failed;
    for (const auto& [number, program] : jar->programs) {
      if (program->zygote == zygote.id) failed.push_back({id, number, -1, ECHILD});
    }
    for (const ForkReply& reply : failed) {
      // A copy may exist of which it could not tell any more; it may not have left its group yet.
      cgroups_.kill_sandbox(zygote.id);
      kill_program(*jar, reply.process);
      on_copy(reply);
    }
  }
  if (!zygote.ended) ::kill(zygote.pid, SIGKILL);
}

bool Launcher::reap_zygote(pid_t pid) {
  for (const auto& [id, zygote] : zygotes_) {
    if (zygote->pid != pid) continue;
    zygote->ended = true;
    return true;
  }
  return false;
}

bool Launcher::bury_zygotes() {
  bool buried = true;
  for (auto at = zygotes_.begin(); at != zygotes_.end();) {
    Zygote& zygote = *(at++)->second;
    if (!zygote.ended) continue;
    if (zygote.control) on_zygote(zygote);  // its last words
    if (zygote.control) lose(zygote);
    if (cgroups_.remove_sandbox(zygote.id)) {
      zygotes_.erase(zygote.id);
    } else {
      buried = false;
    }
  }
  return buried;
}

}  // namespace belljar::launcher
