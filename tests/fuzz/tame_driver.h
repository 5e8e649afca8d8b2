#pragma once

#include "drivers/fake/driver.h"

namespace belljar {

// Runs the same harmless program, whatever it is told to run.
class TameSandbox final : public Sandbox {
 public:
  explicit TameSandbox(std::unique_ptr<Sandbox> inner) : inner_{std::move(inner)} {}
  Task<std::unique_ptr<Process>> start(Command command, OutputSink& sink) override {
    command.argv = {"/bin/sh", "-c", "save dir/a.txt hello\nprint done"};
    return inner_->start(std::move(command), sink);
  }
  int workspace() const override { return inner_->workspace(); }
  Task<> mount_packages(PackageDirectories directories) override {
    return inner_->mount_packages(std::move(directories));
  }
  Task<Fd> connect(uint16_t port) override { return inner_->connect(port); }
  Task<Fd> listen() override { return inner_->listen(); }
  const Isolation& isolation() const override { return inner_->isolation(); }
  Gate take_gate() override { return inner_->take_gate(); }
  Task<> destroy() override { return inner_->destroy(); }

 private:
  std::unique_ptr<Sandbox> inner_;
};

class TameDriver final : public Driver {
 public:
  explicit TameDriver(asio::any_io_executor executor) : fake_{std::move(executor)} {}
  Task<Capabilities> probe() override { return fake_.probe(); }
  Task<std::unique_ptr<Sandbox>> create(SandboxSpec spec) override {
    auto inner = co_await fake_.create(std::move(spec));
    co_return std::make_unique<TameSandbox>(std::move(inner));
  }
  Task<> recover() override { return fake_.recover(); }
  Task<> shut_down() override { return fake_.shut_down(); }

 private:
  FakeDriver fake_;
};

}  // namespace belljar
