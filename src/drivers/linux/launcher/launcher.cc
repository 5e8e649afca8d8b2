#include "drivers/linux/launcher/launcher.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "drivers/linux/launcher/confine.h"
#include "drivers/linux/launcher/create.h"
#include "drivers/linux/launcher/kernel.h"
#include "drivers/linux/launcher/start.h"

namespace belljar::launcher {

Launcher::Launcher(int control) : control_{control}, id_blocks_(kIdsPerSlot / kIdsPerSandbox) {
  sigset_t mask;
  sigemptyset(&mask);
  sigaddset(&mask, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &mask, nullptr);
  own_pid_namespace_.reset(::open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC));
  own_net_namespace_.reset(::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC));
  children_.reset(::signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK));
  // If somebody has stopped this process, the end of belljar must wake it up: nobody else would end
  // the sandboxes. A parent-death signal would not come from a belljar that has given up root.
  ::fcntl(control_, F_SETOWN, ::getpid());
  ::fcntl(control_, F_SETSIG, SIGCONT);
  ::fcntl(control_, F_SETFL, ::fcntl(control_, F_GETFL) | O_ASYNC);
}

int Launcher::run() {
  if (!own_pid_namespace_ || !own_net_namespace_ || !children_) {
    std::fputs("belljar-launcher: no descriptors for its own namespaces and children\n", stderr);
    return 1;
  }
  bool try_again = false;
  while (!closing_ || !jars_.empty()) {
    std::vector<pollfd> waits{{closing_ ? -1 : control_, POLLIN, 0}, {children_.get(), POLLIN, 0}};
    struct Watched {
      Jar* jar;
      Program* program;
      void (Launcher::*jar_handler)(Jar&);
    };
    std::vector<Watched> watched;
    const auto watch = [&waits, &watched](const Fd& fd, const Watched& what) {
      if (!fd) return;
      waits.push_back({fd.get(), POLLIN, 0});
      watched.push_back(what);
    };
    for (const auto& [id, jar] : jars_) {
      watch(jar->status, {jar.get(), nullptr, &Launcher::on_jar_status});
      watch(jar->out_of_memory, {jar.get(), nullptr, &Launcher::on_out_of_memory});
      for (const auto& [number, program] : jar->programs) {
        watch(program->status, {jar.get(), program.get(), nullptr});
      }
    }
    if (::poll(waits.data(), waits.size(), try_again ? 1 : -1) < 0 && errno != EINTR)
      ::usleep(kPauseMicros);
    // Reports before deaths: a helper announces a pid before anything else can be known of it. A
    // handler may end the program it is about, but removes nothing else.
    for (size_t i = 0; i < watched.size(); ++i) {
      const Watched& what = watched[i];
      if (waits[2 + i].revents == 0) continue;
      if (what.program != nullptr) {
        on_program_status(*what.program);
      } else {
        (this->*what.jar_handler)(*what.jar);
      }
    }
    if (waits[1].revents != 0) reap();
    try_again = false;
    for (auto at = jars_.begin(); at != jars_.end();) {
      Jar& jar = *(at++)->second;
      if (jar.doomed && jar.init_ended && !remove(jar)) try_again = true;
    }
    if (waits[0].revents != 0) {
      Message message;
      if (receive(message)) {
        handle(message);
        // Every init is a copy of this process: what one caller sent must not lie around in it.
        ::explicit_bzero(message.payload.data(), message.payload.size());
      } else {
        closing_ = true;
        for (const auto& [id, jar] : jars_) doom(*jar);
      }
    }
  }
  close();
  return 0;
}

bool Launcher::receive(Message& message) {
  char payload[kMaxPayload];
  char control[CMSG_SPACE(sizeof(int) * kMaxFds)];
  iovec parts[] = {{&message.request, sizeof message.request}, {payload, sizeof payload}};
  msghdr header{};
  header.msg_iov = parts;
  header.msg_iovlen = 2;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  const ssize_t size = ::recvmsg(control_, &header, MSG_CMSG_CLOEXEC);
  if (size <= 0) return size < 0 && (errno == EINTR || errno == ENOMEM || errno == ENOBUFS);
  for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr; part = CMSG_NXTHDR(&header, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof fd);
      message.fds.emplace_back(fd);
    }
  }
  const bool whole = static_cast<size_t>(size) >= sizeof message.request &&
                     (header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0;
  if (!whole) {
    message.request.type = RequestType{};  // answered as an unknown request
    return true;
  }
  const size_t length = static_cast<size_t>(size) - sizeof message.request;
  message.payload.assign(payload, length);
  ::explicit_bzero(payload, length);
  return true;
}

void Launcher::handle(Message& message) {
  switch (message.request.type) {
    case RequestType::prepare: return prepare(message);
    case RequestType::create: return create(message);
    case RequestType::start: return start(message);
    case RequestType::kill: return kill(message.request);
    case RequestType::destroy: return destroy(message.request);
    case RequestType::socket: return socket(message.request);
  }
  answer(message.request, EBADMSG, "understand the request");
}

int Launcher::set_up(std::string& step) {
  step = "take a slot in /run/belljar";
  std::string missing;
  int error = EBUSY;
  // The sandboxes of a launcher that was killed may still be dying; their slot is left to a later
  // start.
  for (unsigned first = 0; error == EBUSY; first = slot_.number + 1) {
    if (const int none = take_slot(slot_, first)) return none;
    error = cgroups_.set_up(slot_.number, missing);
  }
  if (error != 0) {
    step = "find cgroup controllers: no " + missing;
    return error;
  }
  clean_free_slots(cgroups_);
  step = "compile the seccomp filters";
  if ((error = compile_filters(filters_)) != 0) return error;
  step = "make the owner's user namespace";
  error = make_owner_namespace(kFirstId + slot_.number * kIdsPerSlot, kIdsPerSlot, owner_);
  if (error != 0) return error;
  step = "list /proc";
  if ((error = find_proc_masks(masks_)) != 0) return error;
  landlock_abi_ = landlock_abi();
  set_up_done_ = true;
  return 0;
}

void Launcher::prepare(Message& message) {
  const Request& request = message.request;
  std::string step;
  if (!set_up_done_) {
    if (const int error = set_up(step)) return answer(request, error, step);
  }
  Template made;
  const int runtime = message.fds.empty() ? -1 : message.fds[0].get();
  if (const int error = build_template(owner_.get(), runtime, made, step))
    return answer(request, error, step);
  if (const int error = try_full_proc(owner_.get(), made, full_proc_))
    return answer(request, error, "try to mount /proc");
  templates_[request.image] = std::move(made);
  answer(request, 0, "");
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

namespace {

// A zero would mean "unlimited" to the kernel.
bool are_sane(const SandboxLimits& limits) {
  return limits.memory >= (1 << 20) && limits.disk >= (64 << 10) && limits.inodes >= 64 &&
         limits.cpu_millis >= 10 && limits.cpu_millis <= 1000000 && limits.pids >= 1 &&
         limits.pids <= 1000000;
}

}  // namespace

void Launcher::create(const Message& message) {
  const Request& request = message.request;
  const auto base = templates_.find(request.image);
  if (base == templates_.end() || jars_.count(request.sandbox) != 0 || !are_sane(request.limits)) {
    return answer(request, EINVAL, "understand the sandbox");
  }
  const unsigned block = take_id_block();
  if (block == 0) return answer(request, EUSERS, "take a block of user ids");
  auto jar = std::make_unique<Jar>();
  jar->id = request.sandbox;
  jar->create_serial = request.serial;
  jar->limits = request.limits;
  jar->id_block = block;
  int status[2] = {-1, -1};
  int error = cgroups_.create_sandbox(request.sandbox, request.limits);
  const char* step = "create the cgroups";
  pid_t helper = -1;
  if (error == 0) {
    step = "start the helper";
    Fd group;
    error = cgroups_.open_sandbox(request.sandbox, group);
    if (error == 0 && ::pipe2(status, O_CLOEXEC | O_NONBLOCK) == 0)
      helper = clone_process(0, group.get());
    if (error == 0 && helper < 0) error = errno;
  }
  if (error == 0 && helper == 0) {
    create_sandbox({cgroups_, base->second, masks_, filters_, owner_.get(), block * kIdsPerSandbox,
                    kFirstId + slot_.number * kIdsPerSlot + block * kIdsPerSandbox + 1,
                    request.sandbox, request.limits, status[1],
                    message.fds.empty() ? -1 : message.fds[0].get(), -1, full_proc_,
                    (request.flags & kInBackground) != 0});
  }
  jar->status.reset(status[0]);
  if (status[1] >= 0) ::close(status[1]);
  if (error != 0) {
    cgroups_.remove_sandbox(request.sandbox);
    id_blocks_[block] = false;
    return answer(request, error, step);
  }
  jar->out_of_memory = cgroups_.watch_out_of_memory(request.sandbox);
  jars_.emplace(request.sandbox, std::move(jar));
}

namespace {

// Cuts the payload into `count` strings; nothing if it is not exactly that.
std::vector<char*> split_strings(std::string& payload, size_t count) {
  std::vector<char*> strings;
  if (payload.empty() || payload.back() != '\0' || count > kMaxStrings) return strings;
  for (size_t at = 0; at < payload.size(); at += std::strlen(payload.data() + at) + 1) {
    strings.push_back(payload.data() + at);
  }
  if (strings.size() != count) strings.clear();
  return strings;
}

}  // namespace

void Launcher::start(Message& message) {
  const Request& request = message.request;
  const auto at = jars_.find(request.sandbox);
  if (at == jars_.end() || !at->second->ready || at->second->doomed)
    return answer(request, ESRCH, "find the sandbox");
  Jar& jar = *at->second;
  const bool has_source = message.fds.size() == 4;
  const size_t count = size_t{request.argc} + request.envc + (has_source ? 1 : 0);
  std::vector<char*> strings = split_strings(message.payload, count);
  if (strings.empty() || request.argc == 0 || message.fds.size() < 3 ||
      jar.programs.count(request.process) != 0) {
    return answer(request, EINVAL, "understand the command");
  }
  auto program = std::make_unique<Program>();
  program->sandbox = jar.id;
  program->id = request.process;
  program->serial = request.serial;
  if (const int error = cgroups_.create_process(jar.id, request.process)) {
    return answer(request, error, "create the program's cgroup");
  }
  int status[2] = {-1, -1};
  if (::pipe2(status, O_CLOEXEC | O_NONBLOCK) == 0) program->pid = clone_into(jar, request.process);
  if (program->pid == 0) {
    const auto middle = strings.begin() + request.argc;
    StartContext context{cgroups_,
                         filters_,
                         jar.init_pidfd.get(),
                         kFirstId + slot_.number * kIdsPerSlot + jar.id_block * kIdsPerSandbox + 1,
                         jar.id,
                         request.process,
                         jar.limits,
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
  jar.programs.emplace(request.process, std::move(program));
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
  // A program that has ended may have left children; its group is still there then.
  if (jar != jars_.end()) cgroups_.kill_process(request.sandbox, request.process);
  answer(request, 0, "");
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
  answer(ReplyType::done, request.serial, request.sandbox, 0, "", made.get());
}

void Launcher::doom(Jar& jar) {
  jar.doomed = true;
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
