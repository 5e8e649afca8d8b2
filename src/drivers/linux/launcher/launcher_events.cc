// What happens to sandboxes and programs after they were asked for: reports, deaths, removal.
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "drivers/linux/launcher/kernel.h"
#include "drivers/linux/launcher/launcher.h"
#include "drivers/linux/launcher/processes.h"
#include "drivers/linux/launcher/rights.h"
#include "drivers/linux/launcher/weak.h"

namespace belljar::launcher {

void Launcher::on_jar_status(Jar& jar) {
  Report report{};
  std::vector<Fd> fds;
  const ssize_t size = receive_report(jar.status.get(), report, fds);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (size == sizeof report && report.kind == Report::mapped) {
    if (!fds.empty()) jar.packages_map = std::move(fds[0]);
    return;
  }
  if (size == sizeof report && report.kind == Report::pid) {
    jar.init = report.number;
    jar.init_pidfd.reset(pidfd_open(jar.init));
    const int error = errno;
    if (jar.doomed) return doom(jar);
    if (jar.init_pidfd) return;
    jar.status.reset();
    answer(ReplyType::failed, jar.create_serial, jar.id, error, "watch init");
    return doom(jar);
  }
  jar.status.reset();
  if (size == sizeof report && report.kind == Report::ready) {
    // Opened while there is no program that could have put something else in its place.
    const std::string path = std::to_string(jar.init) + "/root/workspace";
    const Fd workspace{
        ::openat(place_.proc.get(), path.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
    if (workspace) {
      jar.ready = true;
      std::vector<int> given{workspace.get()};
      for (const Fd& socket : fds) given.push_back(socket.get());
      return answer(ReplyType::done, jar.create_serial, jar.id, 0, "", given);
    }
    report.error = errno;
    std::strncpy(report.step, "open the workspace", sizeof report.step - 1);
  }
  // A step failed, or everybody who could tell is dead.
  const bool told = size == sizeof report;
  answer(ReplyType::failed, jar.create_serial, jar.id, told ? report.error : ECHILD,
         told ? report.step : "start init");
  doom(jar);
}

void Launcher::on_program_status(Program& program) {
  Report report{};
  const ssize_t size = ::read(program.status.get(), &report, sizeof report);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (size == sizeof report && report.kind == Report::ready) {
    program.waits = true;
    return on_parked(program);
  }
  program.status.reset();
  program.answered = true;
  const bool told = size == sizeof report;
  // What is executed closes the pipe by that; what takes a job says that it has.
  const bool begun = told ? report.kind == Report::begun : !program.takes_job;
  if (begun) {
    answer(ReplyType::done, program.serial, program.sandbox, 0, "");
    publish_load(slot_, programs_per_cpu());  // it has chosen its processors
  } else if (program.serial != 0) {
    // A step failed, or it was killed, or its zygote before there was one.
    answer(ReplyType::failed, program.serial, program.sandbox, told ? report.error : ECHILD,
           told ? report.step : "wait in the sandbox");
    program.job.reset();
    program.serial = 0;  // its exit is nobody's business
    program.unwanted = true;
  }
  if (program.ended) finish_program(program);
}

void Launcher::on_out_of_memory() {
  epoll_event events[16];
  const int ready = ::epoll_wait(memory_events_.get(), events, 16, 0);
  for (int i = 0; i < ready; ++i) {
    const auto jar = jars_.find(events[i].data.u64);
    uint64_t count = 0;
    if (jar != jars_.end() &&
        ::read(jar->second->out_of_memory.get(), &count, sizeof count) == sizeof count)
      kill_for_memory(*jar->second);
  }
}

void Launcher::kill_for_memory(Jar& jar) {
  // A program that lost one of its processes is of no use any more, and the others would only fill
  // the memory again.
  for (const auto& [id, program] : jar.programs) {
    program->out_of_memory = true;  // the kernel counts its own victim only later
    kill_program(jar, id);
  }
  for (const uint64_t id : jar.leftovers) kill_program(jar, id);
}

bool Launcher::needs_watchdog() const {
  if (!set_up_done_ || cgroups_.limit_memory() || is_left_out("look at memory")) return false;
  return std::any_of(jars_.begin(), jars_.end(), [](const auto& entry) {
    return !entry.second->programs.empty() || !entry.second->leftovers.empty();
  });
}

// Slower and coarser than a cgroup: what is taken and given back between two looks is not seen.
void Launcher::watch_memory() {
  next_look_ = now_millis() + kWatchdogMillis;
  struct Usage {
    uint64_t memory = 0;
    size_t processes = 0;
  };
  std::map<uint64_t, Usage> used;  // by pid namespace
  for (const auto& [pid, info] : list_processes(place_.proc.get())) {
    used[info.pid_namespace].memory += info.memory;
    ++used[info.pid_namespace].processes;
  }
  for (const auto& [id, jar] : jars_) {
    if (jar->programs.empty() && jar->leftovers.empty()) continue;
    const Usage usage = used[pid_namespace_of(place_.proc.get(), jar->init)];
    if (jar->programs.empty() && usage.processes <= 1) jar->leftovers.clear();  // init alone
    if (usage.memory > jar->limits.memory) kill_for_memory(*jar);
  }
}

std::vector<unsigned> Launcher::programs_per_cpu() {
  std::vector<unsigned> counts(CPU_SETSIZE);
  for (const Jar* const jar : busy_jars()) {
    for (const auto& [number, program] : jar->programs) {
      cpu_set_t cpus;
      if (program->pid <= 0 || ::sched_getaffinity(program->pid, sizeof cpus, &cpus) != 0) continue;
      int left = CPU_COUNT(&cpus);
      for (unsigned cpu = 0; left > 0; ++cpu) {
        if (!CPU_ISSET(cpu, &cpus)) continue;
        ++counts[cpu];
        --left;
      }
    }
  }
  return counts;
}

void Launcher::reap() {
  signalfd_siginfo ignored[16];
  while (::read(children_.get(), ignored, sizeof ignored) > 0) {
  }
  for (;;) {
    int status = 0;
    rusage usage{};
    const pid_t pid = ::wait4(-1, &status, WNOHANG, &usage);
    if (pid < 0 && errno == EINTR) continue;
    if (pid <= 0) return;
    if (reap_zygote(pid)) continue;
    // Others are helpers that have done their work, or copies whose pid is not known yet.
    bool is_known = false;
    for (const auto& [id, jar] : jars_) {
      if (jar->init == pid) {
        on_init_exit(*jar);
        is_known = true;
        break;
      }
      const auto program =
          std::find_if(jar->programs.begin(), jar->programs.end(),
                       [pid](const auto& entry) { return entry.second->pid == pid; });
      if (program == jar->programs.end()) continue;
      on_program_exit(*program->second, status, usage);
      is_known = true;
      break;
    }
    if (!is_known && owes_copies(0)) unclaimed_[pid] = {status, usage};
  }
}

void Launcher::on_init_exit(Jar& jar) {
  jar.init_ended = true;
  jar.init_pidfd.reset();
  if (jar.doomed || jar.status) return;
  // Nobody asked for this: something killed it from outside.
  answer(ReplyType::died, 0, jar.id, 0, "");
  jar.doomed = true;
  busy_.insert(jar.id);
}

void Launcher::on_program_exit(Program& program, int status, const rusage& usage) {
  program.pid = 0;
  program.ended = true;
  program.wait_status = status;
  program.usage = usage;
  if (program.answered) finish_program(program);
}

void Launcher::finish_program(Program& program) {
  Jar& jar = *jars_.at(program.sandbox);
  const uint64_t id = program.id;
  if (program.serial != 0 || program.job) {
    Reply reply{};
    reply.type = ReplyType::exited;
    reply.sandbox = jar.id;
    reply.process = id;
    reply.status = program.wait_status;
    const auto micros = [](const timeval& time) {
      return static_cast<uint64_t>(time.tv_sec) * 1000000 + static_cast<uint64_t>(time.tv_usec);
    };
    reply.cpu_micros = micros(program.usage.ru_utime) + micros(program.usage.ru_stime);
    reply.max_rss = static_cast<uint64_t>(program.usage.ru_maxrss) * 1024;
    if (program.wait_status != 0) {
      const uint64_t kills = cgroups_.oom_kills(jar.id);
      reply.out_of_memory = program.out_of_memory || kills > jar.oom_kills ? 1 : 0;
      jar.oom_kills = kills;
    }
    send(reply);
  }
  const auto is_gone = [this, &jar](uint64_t left) {
    return cgroups_.remove_process(jar.id, left);
  };
  std::erase_if(jar.leftovers, is_gone);
  // Without cgroups nobody knows what it left behind; watch_memory() will look.
  const bool is_known = !cgroups_.can_kill() && !jar.leftovers.empty();
  if (!cgroups_.remove_process(jar.id, id) && !is_known) jar.leftovers.push_back(id);
  jar.programs.erase(id);
  publish_load(slot_, programs_per_cpu());
}

bool Launcher::remove(Jar& jar) {
  // Programs are children of this process, not of init: they are dead, but may not be reaped yet.
  for (const auto& [id, program] : jar.programs) {
    if (program->pid != 0 || program->status) return true;
  }
  if (jar.mounting) return true;  // somebody waits for the answer
  // The kernel lets go of a cgroup a moment after its last process.
  if (!cgroups_.remove_sandbox(jar.id)) return false;
  free_id_block(jar.id_block);
  if (jar.destroy_serial != 0) answer(ReplyType::done, jar.destroy_serial, jar.id, 0, "");
  // A sandbox that is being made may still hold it, and with it its place there.
  ::epoll_ctl(memory_events_.get(), EPOLL_CTL_DEL, jar.out_of_memory.get(), nullptr);
  jars_.erase(jar.id);
  return true;
}

void Launcher::close() {
  if (slot_.lock && cgroups_.remove_slot(slot_.number)) release_slot(slot_);
}

void Launcher::answer(const Request& request, int error, std::string_view step) {
  answer(error == 0 ? ReplyType::done : ReplyType::failed, request.serial, request.sandbox, error,
         step);
}

void Launcher::answer(ReplyType type, uint32_t serial, uint64_t sandbox, int error,
                      std::string_view step, const std::vector<int>& fds) {
  Reply reply = make_reply(type, serial, sandbox);
  reply.error = error;
  std::memcpy(reply.step, step.data(), std::min(step.size(), sizeof reply.step - 1));
  send(reply, fds);
}

Reply Launcher::make_reply(ReplyType type, uint32_t serial, uint64_t sandbox) const {
  Reply reply{};
  reply.type = type;
  reply.serial = serial;
  reply.sandbox = sandbox;
  reply.facts = place_.is_root ? kFactRoot : 0u;
  if (!set_up_done_) return reply;
  reply.facts |= cgroups_.facts() | (full_proc_ ? kFactFullProc : 0u) |
                 (place_.has_own_ids() ? kFactOwnIds : 0u);
  reply.landlock_abi = landlock_abi_;
  return reply;
}

void Launcher::send(const Reply& reply, const std::vector<int>& fds) const {
  Reply copy = reply;
  iovec part{&copy, sizeof copy};
  Rights rights;
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  rights.attach(header, fds);
  // belljar reads all the time. Where there is no memory for the message there will be some soon.
  while (::sendmsg(control_, &header, MSG_NOSIGNAL) < 0) {
    if (errno == EINTR) continue;
    if (errno != ENOMEM && errno != ENOBUFS) {
      ::shutdown(control_, SHUT_RDWR);  // rather the end than a client that waits for ever
      return;
    }
    ::usleep(kPauseMicros);
  }
}

}  // namespace belljar::launcher
