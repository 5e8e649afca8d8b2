#include "drivers/linux/sandbox.h"

#include <fcntl.h>

#include <string_view>

#include "base/log.h"
#include "base/posix.h"
#include "drivers/linux/process.h"
#include "sandbox/port_access.h"
#include "sandbox/program_start.h"

namespace belljar::linux_driver {

namespace {

// The strings as the launcher reads them: each with its NUL.
std::string pack(const Command& command, launcher::Request& request) {
  std::string payload;
  const auto add = [&payload](const std::string& text) {
    if (text.find('\0') != std::string::npos)
      fail(Code::invalid, "a command or variable contains a NUL byte");
    payload.append(text.c_str(), text.size() + 1);
  };
  for (const std::string& argument : command.argv) add(argument);
  const auto variables = whole_environment(command);
  for (const auto& [name, value] : variables) add(name + "=" + value);
  if (command.source) add(command.source->path);
  request.argc = static_cast<uint32_t>(command.argv.size());
  request.envc = static_cast<uint32_t>(variables.size());
  if (payload.size() > launcher::kMaxPayload ||
      request.argc + request.envc >= launcher::kMaxStrings) {
    fail(Code::invalid, "the command and its environment take {} bytes; the limit is {}",
         payload.size(), launcher::kMaxPayload);
  }
  return payload;
}

}  // namespace

LinuxSandbox::LinuxSandbox(std::shared_ptr<LauncherClient> client, uint64_t id)
    : client_{std::move(client)}, id_{id} {
  client_->watch(id_, stopped_);
}

LinuxSandbox::~LinuxSandbox() {
  client_->unwatch(id_);
  if (*stopped_) return;
  *stopped_ = true;
  client_->destroy_soon(id_, std::move(use_));
}

void LinuxSandbox::give(std::shared_ptr<const void> use) {
  use_ = std::move(use);
  if (parking_ != nullptr) parking_->given_away(id_, parked_);
}

Task<std::unique_ptr<Process>> LinuxSandbox::start(Command command, OutputSink& sink) {
  if (*stopped_) fail(Code::not_found, "the sandbox was stopped");
  if (command.argv.empty()) fail(Code::invalid, "there is no command to start");
  if (only_) co_return co_await start_as(std::move(command), sink, *only_);
  if (zygotes_ != nullptr && can_be_copy(command)) {
    zygotes_->want(kind_);
    if (*parked_ == 0) co_await zygotes_->settle(kind_);
  }
  const StartWay way = choose_way(command);
  if (way != StartWay::exec) {
    try {
      co_return co_await start_as(command, sink, way);
    } catch (const Error& e) {
      // It never ran. Whatever the reason was, executing it either works or says it better.
      log::debug("not as a copy: {}", e.what());
    }
    if (*stopped_) fail(Code::not_found, "the sandbox was stopped");
  }
  co_return co_await start_as(std::move(command), sink, StartWay::exec);
}

Task<std::unique_ptr<Process>> LinuxSandbox::start_as(Command command, OutputSink& sink,
                                                      StartWay way) {
  launcher::Request request{};
  request.type = launcher::RequestType::start;
  request.sandbox = id_;
  const bool is_parked = way == StartWay::parked_fork || way == StartWay::parked_exec;
  request.process = is_parked ? std::exchange(*parked_, 0) : next_process_++;
  if (is_parked) request.flags = launcher::kParked;
  if (way == StartWay::fork) request.flags = launcher::kForked;
  const bool is_copy = way == StartWay::fork || way == StartWay::parked_fork;
  if (is_copy && zygotes_ != nullptr) zygotes_->count_copy(kind_);
  std::string payload = pack(command, request);
  ProgramStreams streams{command};
  std::vector<int> fds{streams.in, streams.out, streams.err};
  Fd source;
  if (command.source) {
    source = make_memory_file("source", command.source->content);
    fds.push_back(source.get());
  }
  // Exists before the program does: if the caller is cancelled from here on, it kills what may have
  // started.
  const auto executor = co_await asio::this_coro::executor;
  auto program = std::make_shared<RunningProgram>(executor, std::move(streams.output.read),
                                                  std::move(streams.errors.read), sink, stopped_);
  auto process =
      std::make_unique<LinuxProcess>(*client_, id_, request.process, std::move(program), way);
  if (is_copy) process->set_after(after_program());
  const std::string what = "start " + command.argv.front();
  co_await client_->ask(request, std::move(payload), std::move(fds), what);
  co_return process;
}

StartWay LinuxSandbox::choose_way(const Command& command) const {
  if (zygotes_ == nullptr || !can_be_copy(command)) return StartWay::exec;
  if (*parked_ != 0) return is_executed_ ? StartWay::parked_exec : StartWay::parked_fork;
  return zygotes_->are_ready(kind_) ? StartWay::fork : StartWay::exec;
}

bool LinuxSandbox::can_park() const {
  return zygotes_ != nullptr && zygotes_->may_park() && zygotes_->are_ready(kind_);
}

Task<> LinuxSandbox::park() {
  is_executed_ = zygotes_ != nullptr && zygotes_->must_execute(kind_);
  const uint32_t flags = is_executed_ ? launcher::kExecuted : 0;
  // If another takes its place meanwhile, this counts as a copy of the old one, which is on the
  // safe side.
  parked_from_ = zygotes_ == nullptr ? 0 : zygotes_->current(kind_);
  if (!is_executed_ && !can_park()) co_return;
  const uint64_t process = next_process_++;
  co_await parking_->park(id_, process, parked_, flags);
}

// Where a second program runs, a third one is to be expected. What is called has no more to do with
// this object, which may be gone by then.
std::function<void()> LinuxSandbox::after_program() {
  if (++copies_ < 2 || !can_park()) return nullptr;
  const uint64_t process = next_process_++;
  return [parking = parking_, id = id_, process, place = parked_, stopped = stopped_] {
    if (!*stopped) parking->park_later(id, process, place);
  };
}

bool LinuxSandbox::is_stale() const {
  if (!can_park()) return false;
  return *parked_ == 0 || parked_from_ != zygotes_->current(kind_);
}

Task<Fd> LinuxSandbox::make_socket(uint32_t flags) {
  if (*stopped_) fail(Code::not_found, "the sandbox was stopped");
  launcher::Request request{};
  request.type = launcher::RequestType::socket;
  request.sandbox = id_;
  request.flags = flags;
  std::vector<int> no_fds;
  auto answer =
      co_await client_->ask(request, std::string{}, std::move(no_fds), "reach the sandbox");
  co_return std::move(answer.fds[0]);
}

Task<> LinuxSandbox::mount_packages(PackageDirectories directories) {
  if (*stopped_) fail(Code::not_found, "the sandbox was stopped");
  launcher::Request request{};
  request.type = launcher::RequestType::mount;
  request.sandbox = id_;
  std::vector<int> fds;
  for (const Fd& directory : *directories) fds.push_back(directory.get());
  try {
    co_await client_->ask(request, std::string{}, std::move(fds), "mount packages");
  } catch (const Error& e) {
    if (*stopped_) fail(Code::not_found, "the sandbox was stopped");
    const std::string_view what = e.what();
    const bool is_place = what.find(launcher::kPackagesPlaceStep) != std::string_view::npos;
    if (is_place && e.code() == Code::unavailable) {  // otherwise the sandbox is full, for example
      fail(Code::invalid,
           "packages cannot be mounted at /workspace/node_modules: a program of this sandbox has "
           "made something of that name that is no directory; remove or rename it, or use a new "
           "sandbox");
    }
    throw;
  }
}

Task<Fd> LinuxSandbox::connect(uint16_t port) {
  const MakeSocket make = [this](bool ipv6) { return make_socket(ipv6 ? launcher::kIpv6 : 0u); };
  co_return co_await connect_inside(make, port);
}

Task<Fd> LinuxSandbox::listen() {
  return make_socket(launcher::kListening);
}

Task<> LinuxSandbox::destroy() {
  if (*stopped_) co_return;
  *stopped_ = true;
  use_.reset();
  gate_ = {};
  workspace_.reset();  // it would keep the sandbox's files in memory
  launcher::Request request{};
  request.type = launcher::RequestType::destroy;
  request.sandbox = id_;
  std::vector<int> no_fds;
  co_await client_->ask(request, std::string{}, std::move(no_fds), "destroy the sandbox");
}

}  // namespace belljar::linux_driver
