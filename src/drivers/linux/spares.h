#pragma once

#include <functional>
#include <list>
#include <memory>
#include <string>

#include "base/task_group.h"
#include "drivers/linux/sandbox.h"

namespace belljar::linux_driver {

// Sandboxes made ahead, empty and locked, so that a caller need not wait for one. Each serves one
// caller. Only what was asked for before is kept ready, and only the kinds asked for last.
class Spares {
 public:
  using Make = std::function<Task<std::unique_ptr<LinuxSandbox>>(SandboxSpec)>;

  // Keeps `count` of each kind ready; 0 turns it off. `make` makes one.
  Spares(asio::any_io_executor executor, size_t count, Make make);

  // One that fits, or nothing.
  std::unique_ptr<LinuxSandbox> take(const SandboxSpec& spec);

  // Says that one of this kind was used: more are made in the background, one at a time.
  void refill(const SandboxSpec& spec);

  // To be awaited before destruction; the spares are then gone.
  Task<> stop();

 private:
  struct Kind {
    std::string key;
    SandboxSpec spec;
    std::list<std::unique_ptr<LinuxSandbox>> ready;
    bool filling = false;
  };
  Kind& kind_of(const SandboxSpec& spec);
  Kind* find(const std::string& key);
  Task<> fill(std::string key);

  size_t count_;
  Make make_;
  std::list<Kind> kinds_;  // the one used last is first
  TaskGroup tasks_;
};

}  // namespace belljar::linux_driver
