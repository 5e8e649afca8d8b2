#include "drivers/linux/launcher/launcher.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "drivers/linux/launcher/confine.h"
#include "drivers/linux/launcher/features.h"
#include "drivers/linux/launcher/kernel.h"
#include "drivers/linux/launcher/processes.h"
#include "drivers/linux/launcher/start.h"

namespace belljar::launcher {

Launcher::Launcher(int control, Place place) : control_{control}, place_{std::move(place)} {
  sigset_t mask;
  sigemptyset(&mask);
  sigaddset(&mask, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &mask, nullptr);
  own_pid_namespace_.reset(::open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC));
  own_net_namespace_.reset(::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC));
  children_.reset(::signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK));
  memory_events_.reset(::epoll_create1(EPOLL_CLOEXEC));
}

// There may be a thousand sandboxes in which nothing happens: those are not looked at each time.
std::vector<Jar*> Launcher::busy_jars() {
  std::vector<Jar*> busy;
  for (auto at = busy_.begin(); at != busy_.end();) {
    const auto jar = jars_.find(*at);
    if (jar == jars_.end() || jar->second->is_quiet()) {
      at = busy_.erase(at);
    } else {
      busy.push_back(jar->second.get());
      ++at;
    }
  }
  return busy;
}

int Launcher::run() {
  if (!own_pid_namespace_ || !own_net_namespace_ || !children_ || !memory_events_) {
    std::fputs("belljar-launcher: no descriptors for its own namespaces and children\n", stderr);
    return 1;
  }
  bool try_again = false;
  while (!closing_ || !jars_.empty() || !zygotes_.empty()) {
    std::vector<pollfd> waits{{closing_ ? -1 : control_, POLLIN, 0},
                              {children_.get(), POLLIN, 0},
                              {memory_events_.get(), POLLIN, 0}};
    const size_t first = waits.size();
    struct Watched {
      Jar* jar = nullptr;
      Program* program = nullptr;
      Zygote* zygote = nullptr;
    };
    std::vector<Watched> watched;
    const auto watch = [&waits, &watched](const Fd& fd, const Watched& what) {
      if (!fd) return;
      waits.push_back({fd.get(), POLLIN, 0});
      watched.push_back(what);
    };
    for (Jar* const jar : busy_jars()) {
      watch(jar->status, {jar, nullptr, nullptr});
      watch(jar->mounting, {jar, nullptr, nullptr});
      for (const auto& [number, program] : jar->programs)
        watch(program->status, {jar, program.get(), nullptr});
    }
    for (const auto& [id, zygote] : zygotes_) {
      watch(zygote->control, {nullptr, nullptr, zygote.get()});
      watch(zygote->status, {nullptr, nullptr, zygote.get()});
    }
    const int patience = try_again ? 1 : needs_watchdog() ? kWatchdogMillis : -1;
    if (::poll(waits.data(), waits.size(), patience) < 0 && errno != EINTR) ::usleep(kPauseMicros);
    if (needs_watchdog() && now_millis() >= next_look_) watch_memory();
    // Reports before deaths: a helper announces a pid before anything else can be known of it. A
    // handler may end the program it is about, but removes nothing else.
    for (size_t i = 0; i < watched.size(); ++i) {
      const Watched& what = watched[i];
      if (waits[first + i].revents == 0) continue;
      if (what.zygote != nullptr) {
        on_zygote(*what.zygote);
      } else if (what.program != nullptr) {
        on_program_status(*what.program);
      } else if (waits[first + i].fd == what.jar->mounting.get()) {
        on_mount_status(*what.jar);
      } else {
        on_jar_status(*what.jar);
      }
    }
    if (waits[2].revents != 0) on_out_of_memory();
    if (waits[1].revents != 0) reap();
    try_again = false;
    for (Jar* const jar : busy_jars()) {
      if (jar->doomed && jar->init_ended && !remove(*jar)) try_again = true;
    }
    if (!bury_zygotes()) try_again = true;
    if (waits[0].revents != 0) {
      Message message;
      if (receive(control_, message)) {
        handle(message);
        // Every init is a copy of this process: what one caller sent must not lie around in it.
        ::explicit_bzero(message.payload.data(), message.payload.size());
      } else {
        closing_ = true;
        for (const auto& [id, jar] : jars_) doom(*jar);
        for (const auto& [id, zygote] : zygotes_) ::kill(zygote->pid, SIGKILL);
      }
    }
  }
  close();
  return 0;
}

void Launcher::handle(Message& message) {
  if (!is_well_formed(message.request, message.payload, message.fds.size()))
    return answer(message.request, EBADMSG, "understand the request");
  switch (message.request.type) {
    case RequestType::prepare: return prepare(message);
    case RequestType::create: return create(message);
    case RequestType::start: return start(message);
    case RequestType::kill: return kill(message.request);
    case RequestType::destroy: return destroy(message.request);
    case RequestType::socket: return socket(message.request);
    case RequestType::seal: return seal(message);
    case RequestType::examine: return examine(message.request);
    case RequestType::zygote: return make_zygote(message.request);
    case RequestType::park: return park(message.request);
    case RequestType::mount: return mount(message);
  }
}

void Launcher::examine(const Request& request) const {
  Reply reply = make_reply(ReplyType::done, request.serial, 0);
  try_features(reply.trials);
  send(reply);
}

unsigned Launcher::take_id_block() {
  // Round and round, so that a block rests as long as possible before somebody else gets it. Block
  // 0 is the owner's.
  for (size_t i = 1; i < id_blocks_.size(); ++i) {
    const unsigned block = next_id_block_;
    next_id_block_ = next_id_block_ + 1 < id_blocks_.size() ? next_id_block_ + 1 : 1;
    if (id_blocks_[block]) continue;
    id_blocks_[block] = true;
    return block;
  }
  return 0;
}

void Launcher::free_id_block(unsigned block) {
  if (block != 0) id_blocks_[block] = false;
}

SandboxIds Launcher::ids_for(unsigned block, bool with_files) const {
  SandboxIds ids;
  ids.are_own = place_.has_own_ids();
  if (!ids.are_own) return ids;  // init and programs are the caller, 0 in every namespace above
  ids.init = block * slot_.ids_per_sandbox;
  ids.node = ids.init + 1;
  ids.node_here = slot_.first_id + ids.node;
  if (with_files && !place_.is_root) {
    // Only root can mount a directory so that its owner looks like somebody else. For an ordinary
    // user programs are the owner.
    ids.node = kOutsiderId;
    ids.node_here = 0;
  }
  return ids;
}

void Launcher::create(const Message& message) {
  const Request& request = message.request;
  const auto base = templates_.find(request.image);
  if (base == templates_.end() || jars_.count(request.sandbox) != 0)
    return answer(request, EINVAL, "understand the sandbox");
  const bool with_files = !message.fds.empty();
  Fd files;
  if (with_files) {
    if (!trust_.allows_files(message.fds[0].get()))
      return answer(request, EPERM, "use that files directory");
    if (const int error = find_here(place_, message.fds[0].get(), files))
      return answer(request, error, "find the files directory");
  }
  const unsigned block = place_.has_own_ids() ? take_id_block() : 0;
  if (place_.has_own_ids() && block == 0) return answer(request, EUSERS, kTakeIdsStep);
  auto jar = std::make_unique<Jar>();
  jar->id = request.sandbox;
  jar->image = request.image;
  jar->create_serial = request.serial;
  jar->limits = request.limits;
  jar->id_block = block;
  jar->ids = ids_for(block, with_files);
  jar->packages_owner = packages_owner_;
  int status[2] = {-1, -1};
  int error = cgroups_.create_sandbox(request.sandbox, request.limits);
  const char* step = "create the cgroups";
  pid_t helper = -1;
  if (error == 0) {
    step = "start the helper";
    Fd group;
    error = cgroups_.open_sandbox(request.sandbox, group);
    constexpr int kKind = SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK;
    if (error == 0 && ::socketpair(AF_UNIX, kKind, 0, status) == 0)
      helper = clone_process(0, group.get());
    if (error == 0 && helper < 0) error = errno;
  }
  if (error == 0 && helper == 0) {
    create_sandbox({cgroups_, base->second, masks_, filters_, place_, owner_.get(), jar->ids,
                    request.sandbox, request.limits, status[1], files.get(), -1, full_proc_,
                    (request.flags & kInBackground) != 0, (request.flags & kGated) != 0, Gate{},
                    packages_owner_});
  }
  jar->status.reset(status[0]);
  if (status[1] >= 0) ::close(status[1]);
  if (error != 0) {
    cgroups_.remove_sandbox(request.sandbox);
    free_id_block(block);
    return answer(request, error, step);
  }
  jar->out_of_memory = cgroups_.watch_out_of_memory(request.sandbox);
  epoll_event event{EPOLLIN, {.u64 = jar->id}};
  ::epoll_ctl(memory_events_.get(), EPOLL_CTL_ADD, jar->out_of_memory.get(), &event);
  busy_.insert(jar->id);
  jars_.emplace(request.sandbox, std::move(jar));
}

void Launcher::start(Message& message) {
  const Request& request = message.request;
  const auto at = jars_.find(request.sandbox);
  if (at == jars_.end() || !at->second->ready || at->second->doomed)
    return answer(request, ESRCH, "find the sandbox");
  Jar& jar = *at->second;
  if ((request.flags & kParked) != 0) return start_parked(jar, message);
  if ((request.flags & kForked) != 0) return start_forked(jar, message);
  const bool has_source = message.fds.size() == 4;
  const size_t count = size_t{request.argc} + request.envc + (has_source ? 1 : 0);
  std::vector<char*> strings = split_strings(message.payload, count);
  if (strings.empty() || jar.programs.count(request.process) != 0)
    return answer(request, EINVAL, "understand the command");
  auto program = std::make_unique<Program>();
  program->sandbox = jar.id;
  program->id = request.process;
  program->serial = request.serial;
  if (const int error = cgroups_.create_process(jar.id, request.process)) {
    return answer(request, error, "create the program's cgroup");
  }
  auto per_cpu = programs_per_cpu();
  add_load_of_others(slot_, per_cpu);
  int status[2] = {-1, -1};
  if (::pipe2(status, O_CLOEXEC | O_NONBLOCK) == 0) program->pid = clone_into(jar, request.process);
  if (program->pid == 0) {
    const auto middle = strings.begin() + request.argc;
    StartContext context{cgroups_,
                         filters_,
                         jar.init_pidfd.get(),
                         jar.ids,
                         jar.id,
                         request.process,
                         jar.limits,
                         std::move(per_cpu),
                         {strings.begin(), middle},
                         {middle, middle + request.envc},
                         has_source ? strings.back() : nullptr,
                         message.fds[0].get(),
                         message.fds[1].get(),
                         message.fds[2].get(),
                         has_source ? message.fds[3].get() : -1,
                         status[1]};
    context.argv.push_back(nullptr);
    context.envp.push_back(nullptr);
    start_program(std::move(context));
  }
  program->status.reset(status[0]);
  if (status[1] >= 0) ::close(status[1]);
  if (program->pid < 0) {
    const int error = errno;
    cgroups_.remove_process(jar.id, request.process);
    return answer(request, error, "start a process");
  }
  add(jar, std::move(program));
}

void Launcher::add(Jar& jar, std::unique_ptr<Program> program) {
  busy_.insert(jar.id);
  jar.programs.emplace(program->id, std::move(program));
}

pid_t Launcher::clone_into(const Jar& jar, uint64_t process) {
  Fd group;
  errno = cgroups_.open_process(jar.id, process, group);
  if (errno != 0) return -1;
  // A pid namespace is entered by being born there: children made between the two setns() calls
  // are.
  if (::setns(jar.init_pidfd.get(), CLONE_NEWPID) != 0) return -1;
  const pid_t child = clone_process(0, group.get());
  const int error = errno;
  if (child == 0) return 0;
  // Without the way back every later child would be born in this sandbox: better no launcher at
  // all.
  if (::setns(own_pid_namespace_.get(), CLONE_NEWPID) != 0) ::_exit(1);
  errno = error;
  return child;
}

void Launcher::kill(const Request& request) {
  const auto jar = jars_.find(request.sandbox);
  if (jar != jars_.end()) {
    const auto program = jar->second->programs.find(request.process);
    if (program != jar->second->programs.end()) program->second->unwanted = true;
    // A program that has ended may have left children; its group is still there then.
    kill_program(*jar->second, request.process);
  }
  answer(request, 0, "");
}

void Launcher::kill_program(Jar& jar, uint64_t process) {
  if (cgroups_.can_kill()) return cgroups_.kill_process(jar.id, process);
  if (!jar.init_pidfd) return;
  std::vector<pid_t> others;
  for (const auto& [id, program] : jar.programs) {
    if (id != process && program->pid > 0) others.push_back(program->pid);
  }
  // What cannot be killed alone is killed with all of its sandbox.
  if (!kill_processes(place_.proc.get(), jar.init, others)) doom(jar);
}

void Launcher::destroy(const Request& request) {
  const auto at = jars_.find(request.sandbox);
  if (at == jars_.end()) return answer(request, 0, "");
  at->second->destroy_serial = request.serial;
  doom(*at->second);
}

namespace {

// 0 or an errno.
int make_socket(uint32_t flags, Fd& result) {
  const bool ipv6 = (flags & kIpv6) != 0;
  result.reset(::socket(ipv6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!result) return errno;
  if ((flags & kListening) == 0) return 0;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const auto* any = reinterpret_cast<const sockaddr*>(&address);
  if (::bind(result.get(), any, sizeof address) != 0) return errno;
  return ::listen(result.get(), SOMAXCONN) == 0 ? 0 : errno;
}

}  // namespace

// A socket belongs to the network it was made in, whoever holds it. The launcher makes it and
// hands it out; connecting or accepting is belljar's business, so nothing here waits.
void Launcher::socket(const Request& request) {
  const auto at = jars_.find(request.sandbox);
  if (at == jars_.end() || !at->second->ready || at->second->doomed)
    return answer(request, ESRCH, "find the sandbox");
  if (::setns(at->second->init_pidfd.get(), CLONE_NEWNET) != 0)
    return answer(request, errno, "enter the sandbox's network");
  Fd made;
  const int error = make_socket(request.flags, made);
  // Better no launcher than one that lives in a sandbox's network.
  if (::setns(own_net_namespace_.get(), CLONE_NEWNET) != 0) ::_exit(1);
  if (error != 0) return answer(request, error, "make a socket");
  answer(ReplyType::done, request.serial, request.sandbox, 0, "", {made.get()});
}

void Launcher::doom(Jar& jar) {
  jar.doomed = true;
  busy_.insert(jar.id);
  // The end of init is the end of its pid namespace: the kernel kills all in it before init itself
  // is gone.
  if (jar.init_pidfd) {
    pidfd_kill(jar.init_pidfd.get(), SIGKILL);
  } else if (jar.init > 0 && !jar.init_ended) {
    ::kill(jar.init, SIGKILL);  // the number is nobody else's before this process has reaped it
  } else if (!jar.status) {
    // It never came to life, is reaped already, or nobody could tell its pid.
    cgroups_.kill_sandbox(jar.id);
    jar.init_ended = true;
  }
}

}  // namespace belljar::launcher
