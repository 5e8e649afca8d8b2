#include "drivers/linux/sandbox.h"

#include <fcntl.h>

#include "base/posix.h"
#include "drivers/linux/process.h"

namespace belljar::linux_driver {

namespace {

// The whole environment of a program, but for what the caller adds. Nothing of the host's is in it.
const std::map<std::string, std::string>& default_environment() {
  static const std::map<std::string, std::string> variables{
      {"HOME", "/home/node"},
      {"LANG", "C.UTF-8"},
      {"LOGNAME", "node"},
      {"PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
      {"PWD", "/workspace"},
      {"SHELL", "/bin/sh"},
      {"TMPDIR", "/tmp"},
      {"USER", "node"},
  };
  return variables;
}

Fd standard_input(const std::string& input) {
  if (!input.empty()) return make_memory_file("stdin", input);
  return Fd{sys(::open("/dev/null", O_RDONLY | O_CLOEXEC), "open /dev/null")};
}

// The strings as the launcher reads them: each with its NUL.
std::string pack(const Command& command, launcher::Request& request) {
  std::string payload;
  const auto add = [&payload](const std::string& text) {
    if (text.find('\0') != std::string::npos)
      fail(Code::invalid, "a command or variable contains a NUL byte");
    payload.append(text.c_str(), text.size() + 1);
  };
  for (const std::string& argument : command.argv) add(argument);
  auto variables = command.env;
  variables.insert(default_environment().begin(), default_environment().end());
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
  launcher::Request request{};
  request.type = launcher::RequestType::destroy;
  request.sandbox = id_;
  client_->tell(request);
}

Task<std::unique_ptr<Process>> LinuxSandbox::start(Command command, OutputSink& sink) {
  if (*stopped_) fail(Code::not_found, "the sandbox was stopped");
  if (command.argv.empty()) fail(Code::invalid, "there is no command to start");
  launcher::Request request{};
  request.type = launcher::RequestType::start;
  request.sandbox = id_;
  request.process = next_process_++;
  std::string payload = pack(command, request);
  const Fd input = standard_input(command.input);
  Pipe output = make_pipe();
  Pipe errors = make_pipe();
  std::vector<int> fds{input.get(), output.write.get(), errors.write.get()};
  Fd source;
  if (command.source) {
    source = make_memory_file("source", command.source->content);
    fds.push_back(source.get());
  }
  // Exists before the program does: if the caller is cancelled from here on, it kills what may have
  // started.
  auto process = std::make_unique<LinuxProcess>(*client_, id_, request.process,
                                                std::move(output.read), std::move(errors.read),
                                                sink, stopped_, co_await asio::this_coro::executor);
  const std::string what = "start " + command.argv.front();
  co_await client_->ask(request, std::move(payload), std::move(fds), what);
  co_return process;
}

Task<Fd> LinuxSandbox::connect(uint16_t) {
  co_return Fd{};
}

Task<Fd> LinuxSandbox::listen() {
  co_return Fd{};
}

Task<> LinuxSandbox::destroy() {
  if (*stopped_) co_return;
  *stopped_ = true;
  launcher::Request request{};
  request.type = launcher::RequestType::destroy;
  request.sandbox = id_;
  std::vector<int> no_fds;
  co_await client_->ask(request, std::string{}, std::move(no_fds), "destroy the sandbox");
}

}  // namespace belljar::linux_driver
