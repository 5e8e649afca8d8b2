#include "drivers/docker/agent/agent.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#include <cerrno>
#include <span>

#include "drivers/docker/agent/packages.h"
#include "drivers/docker/agent/packet.h"

namespace belljar::agent {

namespace {

constexpr int kMillisBetweenPasses = 5;

}  // namespace

Agent::Agent(Connection connection, Fd workspace, Fd signals, OomScore score,
             std::string host_directory, std::string node)
    : socket_{std::move(connection.socket)},
      carrier_{std::move(connection.carrier)},
      workspace_{std::move(workspace)},
      signals_{std::move(signals)},
      score_{std::move(score)},
      host_directory_{std::move(host_directory)},
      node_{std::move(node)},
      has_subreapers_{belljar::agent::has_subreapers()} {}

void Agent::run() {
  while (is_connected_) {
    std::vector<pollfd> ready = descriptors();
    if (::poll(ready.data(), ready.size(), is_hunting() ? kMillisBetweenPasses : -1) < 0 &&
        errno != EINTR)
      return;
    if (carrier_ && !carrier_->work()) return;
    look_after_programs();
    std::erase_if(connecting_, [this](Connecting& each) { return go_on(each); });
    if (ready[0].revents != 0) reap();
    if (ready[1].revents != 0 && !take_request()) return;
    if (is_hunting()) hunt();
  }
}

std::vector<pollfd> Agent::descriptors() const {
  std::vector<pollfd> all{{signals_.get(), POLLIN, 0}, {socket_.get(), POLLIN, 0}};
  if (carrier_) all.push_back({carrier_->handle(), POLLIN, 0});
  for (const auto& [number, program] : programs_) {
    for (const Fd* pipe : {&program.process.failure, &program.process.end}) {
      if (*pipe) all.push_back({pipe->get(), POLLIN, 0});
    }
  }
  for (const Connecting& each : connecting_) all.push_back({each.connection.socket(), POLLOUT, 0});
  return all;
}

// False: belljar is gone.
bool Agent::take_request() {
  Request request{};
  std::vector<Fd> fds(kMaxFds);
  const Packet packet = receive_packet(socket_.get(), &request, sizeof request, fds);
  if (packet.error != 0) return packet.error == ENOMEM || packet.error == ENOBUFS;
  if (packet.size != sizeof request) return false;
  const bool is_start = request.type == RequestType::start;
  const bool is_cut = !packet.whole || packet.fds < kMaxFds;
  if (is_start && is_cut) {  // there was no room for its descriptors
    answer(request.serial, Step::read_command, EMFILE);
    return true;
  }
  if (packet.fds != (is_start ? kMaxFds : 0)) return false;
  switch (request.type) {
    case RequestType::start: start(request, fds); return true;
    case RequestType::kill: kill(request.program); return true;
    case RequestType::connect: connect(request); return true;
    case RequestType::listen: listen(request); return true;
    case RequestType::link: link(request); return true;
  }
  return false;
}

void Agent::start(const Request& request, std::vector<Fd>& fds) {
  if (programs_.contains(request.program))
    return answer(request.serial, Step::make_process, EEXIST);
  StartCommand command;
  if (const int error = read_command(fds[3].get(), command))
    return answer(request.serial, Step::read_command, error);
  Program program;
  program.serial = request.serial;
  program.oom_kills = count_oom_kills();
  const uint64_t mark = has_subreapers_ ? 0 : mark_of_program(request.program);
  const StartContext context{command,          score_,       node_,
                             workspace_.get(), fds[0].get(), fds[1].get(),
                             fds[2].get(),     fds[3].get(), mark};
  if (const int error = start_program(context, program.process))
    return answer(request.serial, Step::make_process, error);
  programs_.emplace(request.program, std::move(program));
}

void Agent::kill(uint64_t number) {
  const auto at = programs_.find(number);
  if (at != programs_.end() && !at->second.hunt) at->second.hunt.emplace();
  if (at == programs_.end() && !has_subreapers_) orphans_.try_emplace(mark_of_program(number));
}

void Agent::connect(const Request& request) {
  Connecting connecting{request.serial, LoopbackConnection{static_cast<uint16_t>(request.number)}};
  if (!go_on(connecting)) connecting_.push_back(std::move(connecting));
}

// True if it is answered.
bool Agent::go_on(Connecting& connecting) {
  const int error = connecting.connection.go_on();
  if (error == EINPROGRESS) return false;
  if (error != 0) {
    answer(connecting.serial, Step::connect, error);
  } else {
    answer_with(connecting.serial, connecting.connection.take());
  }
  return true;
}

void Agent::listen(const Request& request) {
  Fd result;
  if (const int error = listen_on_loopback(result))
    return answer(request.serial, Step::make_socket, error);
  answer_with(request.serial, result);
}

void Agent::link(const Request& request) {
  const int error = link_packages(workspace_.get(), host_directory_, request.number);
  answer(request.serial, error == EEXIST ? Step::use_place : Step::link_packages, error);
}

void Agent::look_after_programs() {
  for (auto& [number, program] : programs_) {
    read_failure(program);
    read_end(number, program);
  }
}

void Agent::read_failure(Program& program) {
  if (!program.process.failure) return;
  StartFailure failure{};
  const ssize_t size = ::read(program.process.failure.get(), &failure, sizeof failure);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
  program.process.failure.reset();
  const bool has_failed = size == sizeof failure;
  program.has_ended = has_failed;  // it never was: its end is not told
  answer(program.serial, failure.step, failure.error);
  program.serial = 0;
}

// Not before its start was answered: if it has ended, that is known.
void Agent::read_end(uint64_t number, Program& program) {
  if (!program.process.end || program.process.failure) return;
  EndReport report{};
  const ssize_t size = ::read(program.process.end.get(), &report, sizeof report);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
  program.process.end.reset();
  if (size == sizeof report) tell_end(number, program, report);
}

void Agent::tell_end(uint64_t number, Program& program, const EndReport& report) {
  if (program.has_ended) return;
  program.has_ended = true;
  Reply reply{};
  reply.type = ReplyType::ended;
  reply.program = number;
  reply.status = report.status;
  reply.cpu_micros = report.cpu_micros;
  reply.max_rss = report.max_rss;
  const bool was_killed = WIFSIGNALED(report.status) && WTERMSIG(report.status) == SIGKILL;
  reply.out_of_memory = was_killed && count_oom_kills() > program.oom_kills ? 1 : 0;
  send(reply);
}

void Agent::reap() {
  signalfd_siginfo ignored;
  [[maybe_unused]] const ssize_t size = ::read(signals_.get(), &ignored, sizeof ignored);
  for (;;) {
    int status = 0;
    const pid_t pid = ::waitpid(-1, &status, WNOHANG | WUNTRACED | __WALL);
    if (pid <= 0) return;
    const auto at = find_by_supervisor(pid);
    if (at == programs_.end()) continue;  // an orphan
    // Nobody but a hostile program does that. What it has left is dealt with when it is dead.
    if (WIFSTOPPED(status)) {
      ::kill(pid, SIGKILL);
    } else {
      on_supervisor_death(at, status);
    }
  }
}

void Agent::on_supervisor_death(Programs::iterator at, int status) {
  auto& [number, program] = *at;
  read_failure(program);
  // A program that was killed before it was executed is one that was killed; no pipe of it is open.
  if (program.serial != 0) answer(program.serial, Step::none, 0);
  program.process.failure.reset();
  read_end(number, program);
  EndReport killed{};
  killed.status = SIGKILL;
  tell_end(number, program, killed);
  const bool by_itself = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  const bool is_hunted = program.hunt.has_value();
  if (!has_subreapers_ && (is_hunted || !by_itself)) orphans_.try_emplace(mark_of_program(number));
  programs_.erase(at);
  if (has_subreapers_ && !by_itself && !strays_) strays_.emplace();
}

Agent::Programs::iterator Agent::find_by_supervisor(pid_t pid) {
  auto at = programs_.begin();
  while (at != programs_.end() && at->second.process.supervisor != pid) ++at;
  return at;
}

bool Agent::is_hunting() const {
  if (strays_ || !orphans_.empty()) return true;
  for (const auto& [number, program] : programs_) {
    if (program.hunt) return true;
  }
  return false;
}

// A program whose supervisor has nothing beneath it yet is about to be started: the supervisor ends
// only when it has had one.
void Agent::hunt() {
  for (auto& [number, program] : programs_) {
    if (!program.hunt) continue;
    const uint64_t mark = has_subreapers_ ? 0 : mark_of_program(number);
    const Family family{program.process.supervisor, {}, mark};
    if (program.hunt->pass(family) == Hunt::Result::lost) return end_all();
  }
  if (strays_) hunt_strays();
  hunt_orphans();
}

void Agent::hunt_orphans() {
  for (auto at = orphans_.begin(); at != orphans_.end();) {
    const Hunt::Result result = at->second.pass({-1, {}, at->first});
    if (result == Hunt::Result::lost) return end_all();
    at = result == Hunt::Result::over ? orphans_.erase(at) : std::next(at);
  }
}

void Agent::hunt_strays() {
  Family family{::getpid(), {}, 0};
  for (const auto& [number, program] : programs_)
    family.apart.push_back(program.process.supervisor);
  const Hunt::Result result = strays_->pass(family);
  if (result == Hunt::Result::over) strays_.reset();
  if (result == Hunt::Result::lost) end_all();
}

// The last resort: all programs end for what one of them did. Where the agent is not the first
// process, its own end is all it can do.
void Agent::end_all() {
  if (!kill_everything()) is_connected_ = false;
  for (auto& [number, program] : programs_) program.hunt.reset();
  strays_.reset();
  orphans_.clear();
}

void Agent::answer(uint32_t serial, Step step, int error) {
  Reply reply{};
  reply.type = error == 0 ? ReplyType::done : ReplyType::failed;
  reply.serial = serial;
  reply.step = error == 0 ? Step::none : step;
  reply.error = error;
  send(reply);
}

void Agent::answer_with(uint32_t serial, const Fd& fd) {
  Reply reply{};
  reply.type = ReplyType::done;
  reply.serial = serial;
  send(reply, &fd);
}

void Agent::send(const Reply& reply, const Fd* fd) {
  const int fds[] = {fd != nullptr ? fd->get() : -1};
  const std::span<const int> with{fds, fd != nullptr ? size_t{1} : size_t{0}};
  int error = send_packet(socket_.get(), &reply, sizeof reply, with);
  // Nobody else makes room there: what is carried waits for this process.
  if (error == EAGAIN && carrier_ && carrier_->work())
    error = send_packet(socket_.get(), &reply, sizeof reply, with);
  if (error != 0) is_connected_ = false;
}

}  // namespace belljar::agent
