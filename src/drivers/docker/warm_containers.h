#pragma once

#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <string>

#include "base/clock.h"
#include "drivers/docker/containers.h"

namespace belljar::docker {

// Containers made ahead, each for one sandbox, of the kinds that were asked for lately: so that a
// caller need not wait for the engine. Refilled in the background; none after minutes without a
// caller.
class WarmContainers {
 public:
  static constexpr size_t kMostKinds = 4;
  static constexpr std::chrono::minutes kForget{5};

  // Of each kind `size` are kept ready; 0 turns it off.
  WarmContainers(const asio::any_io_executor& executor, Clock& clock, Containers& containers,
                 size_t size);

  // One that fits, or nothing. Of the image by its id: one whose name means another image now is
  // of no use.
  std::unique_ptr<Container> take(const SandboxSpec& spec);

  // Says that one of this kind is in use: more are made in the background.
  void refill(const SandboxSpec& spec);

  size_t ready() const;

  // To be awaited before destruction; all are then gone.
  Task<> stop();

 private:
  struct Kind {
    std::string key;
    SandboxSpec spec;
    Clock::Time used{};
    size_t coming = 0;
    std::deque<std::unique_ptr<Container>> ready;
  };
  Kind* find(const std::string& key);
  Kind& kind_of(const std::string& key, const SandboxSpec& spec);
  void drop(Kind& kind);
  Task<> add(std::string key, SandboxSpec spec);
  Task<> tend();

  Clock& clock_;
  Containers& containers_;
  size_t size_;
  std::list<Kind> kinds_;  // the one used last is first
  bool tending_ = false;
  TaskGroup tasks_;
};

}  // namespace belljar::docker
