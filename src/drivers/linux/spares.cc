#include "drivers/linux/spares.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/log.h"

namespace belljar::linux_driver {

namespace {

constexpr size_t kMaxKinds = 4;

// Whoever just got a sandbox is about to start a program in it. That needs the same locks of the
// kernel, and comes first.
constexpr milliseconds kPause{4};

// Everything that makes two sandboxes different from birth.
std::string key_of(const SandboxSpec& spec) {
  const Limits& limits = spec.limits;
  return fmt::format("{} {} {} {} {} {} {} {} {}", spec.image.prefix, spec.image.node_version,
                     limits.memory, limits.cpus, limits.pids, limits.disk, limits.inodes,
                     static_cast<int>(spec.network), static_cast<const void*>(spec.files.get()));
}

}  // namespace

Spares::Spares(asio::any_io_executor executor, size_t count, Make make)
    : count_{count}, make_{std::move(make)}, tasks_{std::move(executor)} {}

Spares::Kind& Spares::kind_of(const SandboxSpec& spec) {
  const std::string key = key_of(spec);
  const auto at = std::find_if(kinds_.begin(), kinds_.end(),
                               [&key](const Kind& kind) { return kind.key == key; });
  if (at != kinds_.end()) {
    kinds_.splice(kinds_.begin(), kinds_, at);
    return kinds_.front();
  }
  kinds_.push_front({key, spec, {}, false});
  if (kinds_.size() > kMaxKinds) kinds_.pop_back();
  return kinds_.front();
}

Spares::Kind* Spares::find(const std::string& key) {
  for (Kind& kind : kinds_) {
    if (kind.key == key) return &kind;
  }
  return nullptr;
}

std::unique_ptr<LinuxSandbox> Spares::take(const SandboxSpec& spec) {
  if (count_ == 0) return nullptr;
  auto& ready = kind_of(spec).ready;
  while (!ready.empty()) {
    auto sandbox = std::move(ready.front());
    ready.pop_front();
    if (sandbox->alive()) return sandbox;
  }
  return nullptr;
}

void Spares::refill(const SandboxSpec& spec) {
  if (count_ == 0) return;
  Kind& kind = kind_of(spec);
  if (kind.filling || kind.ready.size() >= count_) return;
  kind.filling = true;
  tasks_.spawn("make a spare sandbox", fill(kind.key));
}

Task<> Spares::fill(std::string key) {
  co_await sleep_for(kPause);
  // The kind is looked up anew each time: it may be dropped while a sandbox is being made.
  for (Kind* kind = find(key); kind != nullptr; kind = find(key)) {
    if (kind->ready.size() >= count_) {
      kind->filling = false;
      co_return;
    }
    std::unique_ptr<LinuxSandbox> sandbox;
    SandboxSpec spec = kind->spec;
    try {
      sandbox = co_await make_(std::move(spec));
    } catch (const Error& e) {
      log::debug("no spare sandbox: {}", e.what());  // the next caller makes its own, and sees why
    }
    kind = find(key);
    if (kind != nullptr && sandbox) {
      kind->ready.push_back(std::move(sandbox));
    } else if (kind != nullptr) {
      kind->filling = false;
      co_return;
    }
  }
}

Task<> Spares::stop() {
  count_ = 0;
  co_await tasks_.stop();
  kinds_.clear();
}

}  // namespace belljar::linux_driver
