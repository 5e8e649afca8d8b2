#include "drivers/fake/driver.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/posix.h"
#include "drivers/fake/script.h"

namespace belljar {

namespace {

class FakeProcess final : public Process {
 public:
  explicit FakeProcess(std::shared_ptr<FakeProgram> program) : program_{std::move(program)} {}
  ~FakeProcess() override { kill(Outcome::Kind::cancelled); }
  FakeProcess(const FakeProcess&) = delete;
  FakeProcess& operator=(const FakeProcess&) = delete;

  Task<Outcome> wait() override {
    co_await program_->wait();
    co_return program_->outcome();
  }
  void kill(Outcome::Kind why) override {
    if (!program_->ended()) program_->kill(why);
  }

 private:
  std::shared_ptr<FakeProgram> program_;
};

}  // namespace

class FakeSandbox final : public Sandbox {
 public:
  explicit FakeSandbox(FakeDriver& driver) : driver_{driver} { driver.sandboxes_.push_back(this); }
  ~FakeSandbox() override { end(); }
  FakeSandbox(const FakeSandbox&) = delete;
  FakeSandbox& operator=(const FakeSandbox&) = delete;

  Task<std::unique_ptr<Process>> start(Command command, OutputSink& sink) override {
    if (ended_) fail(Code::not_found, "start {}: the sandbox is gone", command.argv.at(0));
    if (!fake_can_execute(command)) {
      fail(Code::not_found, "start {}: no such program", command.argv.at(0));
    }
    driver_.commands_.push_back(command);
    auto program =
        std::make_shared<FakeProgram>(driver_.executor_, std::move(command), &sink, world_);
    programs_.push_back(program);
    step_all();
    co_return std::make_unique<FakeProcess>(std::move(program));
  }

  int workspace() const override {
    if (ended_) return -1;
    if (!workspace_) workspace_ = open_directory(world_.make_workspace());
    return workspace_.get();
  }

  Task<> mount_packages(PackageDirectories directories) override {
    if (ended_) fail(Code::not_found, "mount packages: the sandbox is gone");
    const std::filesystem::path place = world_.make_workspace() + "/node_modules";
    const auto status = std::filesystem::symlink_status(place);
    if (std::filesystem::exists(status) && !std::filesystem::is_directory(status)) {
      fail(Code::invalid, "mount packages: node_modules is no directory");
    }
    // Nobody else sees this directory, so a copy is as good as a mount.
    std::filesystem::remove_all(place);
    for (size_t i = directories->size(); i-- > 0;) {  // the first hides what the second has
      const std::string handle = fmt::format("/proc/self/fd/{}", (*directories)[i].get());
      const std::string path = std::filesystem::read_symlink(handle);
      using Options = std::filesystem::copy_options;
      std::filesystem::copy(path, place, Options::recursive | Options::overwrite_existing);
      driver_.packages_.push_back(path);
    }
    co_return;
  }

  Task<Fd> connect(uint16_t port) override {
    if (ended_ || !world_.ports.contains(port)) {
      fail(Code::unavailable, "nothing accepts connections on port {}", port);
    }
    int ends[2];
    sys(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends),
        "make a connection");
    Fd ours{ends[0]};
    const Fd theirs{ends[1]};
    const std::string greeting = fmt::format("port {}\n", port);
    sys(::write(theirs.get(), greeting.data(), greeting.size()), "greet");
    co_return ours;
  }

  const Isolation& isolation() const override { return isolation_; }
  Gate take_gate() override { return {}; }
  Task<Fd> listen() override {
    constexpr int kType = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;
    Fd socket{sys(::socket(AF_INET, kType, 0), "make a socket")};
    sockaddr_in here{};
    here.sin_family = AF_INET;
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    sys(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&here), sizeof here), "bind it");
    sys(::listen(socket.get(), 16), "listen");
    co_return socket;
  }

  Task<> destroy() override {
    end();
    co_return;
  }

  void end() {
    if (ended_) return;
    ended_ = true;
    for (const auto& program : programs_) program->kill(Outcome::Kind::cancelled);
    std::erase(driver_.sandboxes_, this);
    workspace_.reset();
    std::error_code ignored;
    if (!world_.workspace.empty()) std::filesystem::remove_all(world_.workspace, ignored);
  }

  size_t live_processes() const { return world_.running; }

 private:
  // A program may wait for a file that a later step of another one makes.
  void step_all() {
    size_t files = world_.files.size() + 1;
    while (files != world_.files.size()) {
      files = world_.files.size();
      const auto programs = programs_;
      for (const auto& program : programs) {
        if (!program->ended()) program->step();
      }
    }
  }

  FakeDriver& driver_;
  Isolation isolation_;
  mutable FakeWorld world_;
  mutable Fd workspace_;
  std::vector<std::shared_ptr<FakeProgram>> programs_;
  bool ended_ = false;
};

FakeDriver::FakeDriver(asio::any_io_executor executor) : executor_{std::move(executor)} {}

FakeDriver::~FakeDriver() = default;

Task<Capabilities> FakeDriver::probe() {
  Capabilities capabilities;
  capabilities.driver = "fake";
  Feature feature;
  feature.name = "isolation";
  feature.state = Feature::State::missing;
  feature.need = Feature::Need::convenience;  // tests see what a good host shows
  feature.detail = "programs are scripts that the test interprets itself";
  feature.fix = "use another driver outside of tests";
  capabilities.features.push_back(feature);
  co_return capabilities;
}

Task<std::unique_ptr<Sandbox>> FakeDriver::create(SandboxSpec spec) {
  specs_.push_back(std::move(spec));
  if (held_) co_await held_->wait();
  if (failure_) {
    const Error error = *failure_;
    failure_.reset();
    fail_with(error.code(), error.what());
  }
  co_return std::make_unique<FakeSandbox>(*this);
}

Task<> FakeDriver::recover() {
  co_return;
}

Task<> FakeDriver::shut_down() {
  const auto sandboxes = sandboxes_;
  for (FakeSandbox* sandbox : sandboxes) sandbox->end();
  co_return;
}

void FakeDriver::hold_creation() {
  held_ = std::make_unique<Event>(executor_);
}

void FakeDriver::let_go() {
  held_->set();
}

size_t FakeDriver::live_processes() const {
  size_t count = 0;
  for (const FakeSandbox* sandbox : sandboxes_) count += sandbox->live_processes();
  return count;
}

}  // namespace belljar
