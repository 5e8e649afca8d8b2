#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sandbox/driver.h"

namespace belljar {

// A driver without sandboxes, for tests: programs are little scripts (drivers/fake/script.h) that
// run in memory, at once and always in the same way. Everything that a test may want to know or to
// go wrong is here. Sandboxes and processes must not outlive it.
class FakeDriver final : public Driver {
 public:
  explicit FakeDriver(asio::any_io_executor executor);
  ~FakeDriver() override;
  FakeDriver(const FakeDriver&) = delete;
  FakeDriver& operator=(const FakeDriver&) = delete;

  Task<Capabilities> probe() override;
  Task<std::unique_ptr<Sandbox>> create(SandboxSpec spec) override;
  Task<> recover() override;
  Task<> shut_down() override;

  // From now on create() waits until let_go(); then it goes on.
  void hold_creation();
  void let_go();

  // The next create() ends with this Error.
  void fail_next_creation(Error error) { failure_ = std::move(error); }

  size_t live_sandboxes() const { return sandboxes_.size(); }
  size_t live_processes() const;

  // Everything it was ever asked for, in order.
  const std::vector<SandboxSpec>& specs() const { return specs_; }
  const std::vector<Command>& commands() const { return commands_; }
  const std::vector<std::string>& packages() const { return packages_; }  // the directories' paths

 private:
  friend class FakeSandbox;

  asio::any_io_executor executor_;
  std::unique_ptr<Event> held_;
  std::optional<Error> failure_;
  std::vector<class FakeSandbox*> sandboxes_;  // the live ones
  std::vector<SandboxSpec> specs_;
  std::vector<Command> commands_;
  std::vector<std::string> packages_;
};

}  // namespace belljar
