#include "drivers/docker/sandbox.h"

#include <sys/stat.h>

#include <filesystem>

#include "base/posix.h"
#include "drivers/docker/package_links.h"
#include "drivers/docker/process.h"
#include "sandbox/program_start.h"

namespace belljar::docker {

namespace {

std::string packages_path(const std::string& place, uint32_t number) {
  return fmt::format("{}/packages/{}", place, number);
}

// Makes PLACE/packages/NUMBER/node_modules. Blocks.
void lay_out(const std::string& place, uint32_t number, const std::vector<Fd>& directories) {
  const std::string path = packages_path(place, number) + "/node_modules";
  make_directories(path);
  link_packages(directories, open_directory(path).get());
}

void remove_packages(const std::string& place, uint32_t number) {
  std::error_code ignored;  // what stays goes with the sandbox
  std::filesystem::remove_all(packages_path(place, number), ignored);
}

}  // namespace

DockerSandbox::DockerSandbox(Containers& containers, std::unique_ptr<Container> container,
                             std::shared_ptr<const Isolation> isolation)
    : containers_{containers},
      container_{std::move(container)},
      isolation_{std::move(isolation)},
      c_library_{container_->agent->hello().c_library} {}

DockerSandbox::~DockerSandbox() {
  *stopped_ = true;
  if (container_) containers_.remove_soon(std::move(container_));
}

std::shared_ptr<AgentClient> DockerSandbox::agent() const {
  if (!container_) fail(Code::not_found, "the sandbox was stopped");
  if (!container_->agent->alive()) {
    fail(
        Code::not_found,
        "the sandbox's container has ended: the engine was stopped, or somebody removed it, or its "
        "memory ran out");
  }
  return container_->agent;
}

int DockerSandbox::workspace() const {
  return container_ ? container_->agent->hello().workspace.get() : -1;
}

Task<std::unique_ptr<Process>> DockerSandbox::start(Command command, OutputSink& sink) {
  const auto agent = this->agent();
  if (command.argv.empty()) fail(Code::invalid, "there is no command to start");
  command.env = whole_environment(command);
  ProgramStreams streams{command};
  const auto executor = co_await asio::this_coro::executor;
  auto program = std::make_shared<RunningProgram>(executor, std::move(streams.output.read),
                                                  std::move(streams.errors.read), sink, stopped_);
  // Exists before the program does: if the caller is cancelled from here on, it kills what may have
  // started.
  const uint64_t id = next_program_++;
  auto process = std::make_unique<DockerProcess>(agent, id, std::move(program));
  co_await agent->start(id, command, streams.in, streams.out, streams.err);
  co_return process;
}

Task<> DockerSandbox::mount_packages(PackageDirectories directories) {
  const auto agent = this->agent();
  if (mounting_) fail(Code::unavailable, "other packages are just being mounted");
  mounting_ = true;
  const std::string place = container_->place.path();
  const uint32_t number = ++packages_;
  const auto stopped = stopped_;
  const auto lay = [&] { lay_out(place, number, *directories); };
  std::exception_ptr failure;
  try {
    co_await run_blocking(lay);
    co_await agent->link_packages(number);
  } catch (...) {
    failure = std::current_exception();
  }
  if (*stopped) fail(Code::not_found, "the sandbox was stopped");
  mounting_ = false;
  const uint32_t unused = failure ? number : number - 1;
  const auto tidy = [&] { remove_packages(place, unused); };
  co_await run_blocking(tidy);
  if (failure) std::rethrow_exception(failure);
}

Task<Fd> DockerSandbox::connect(uint16_t port) {
  const auto agent = this->agent();
  co_return co_await agent->connect(port);
}

Task<Fd> DockerSandbox::listen() {
  const auto agent = this->agent();
  co_return co_await agent->listen();
}

Task<> DockerSandbox::destroy() {
  *stopped_ = true;
  if (!container_) co_return;
  co_await containers_.remove(std::move(container_));
}

}  // namespace belljar::docker
