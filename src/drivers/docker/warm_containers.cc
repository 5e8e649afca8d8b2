#include "drivers/docker/warm_containers.h"

#include <sys/stat.h>

#include <algorithm>

#include "base/log.h"

namespace belljar::docker {

namespace {

constexpr std::chrono::seconds kLookAgain{30};

std::string key_of(const SandboxSpec& spec) {
  struct stat files {};
  if (spec.files) ::fstat(spec.files->get(), &files);
  const Limits& limits = spec.limits;
  return fmt::format("{} {} {} {} {} {} {}:{}", spec.image.id, limits.memory, limits.cpus,
                     limits.pids, limits.disk, limits.inodes, files.st_dev, files.st_ino);
}

}  // namespace

WarmContainers::WarmContainers(const asio::any_io_executor& executor, Clock& clock,
                               Containers& containers, size_t size)
    : clock_{clock}, containers_{containers}, size_{size}, tasks_{executor} {}

WarmContainers::Kind* WarmContainers::find(const std::string& key) {
  const auto at = std::find_if(kinds_.begin(), kinds_.end(),
                               [&key](const Kind& kind) { return kind.key == key; });
  return at != kinds_.end() ? &*at : nullptr;
}

// The kind, which is then the one used last.
WarmContainers::Kind& WarmContainers::kind_of(const std::string& key, const SandboxSpec& spec) {
  const auto at = std::find_if(kinds_.begin(), kinds_.end(),
                               [&key](const Kind& kind) { return kind.key == key; });
  if (at != kinds_.end()) {
    kinds_.splice(kinds_.begin(), kinds_, at);
    return kinds_.front();
  }
  if (kinds_.size() == kMostKinds) {
    drop(kinds_.back());
    kinds_.pop_back();
  }
  return kinds_.emplace_front(Kind{key, spec, {}, 0, {}});
}

std::unique_ptr<Container> WarmContainers::take(const SandboxSpec& spec) {
  Kind* const kind = find(key_of(spec));
  while (kind != nullptr && !kind->ready.empty()) {
    std::unique_ptr<Container> container = std::move(kind->ready.front());
    kind->ready.pop_front();
    if (container->agent->alive()) return container;
    containers_.remove_soon(std::move(container));  // the engine was restarted, for example
  }
  return nullptr;
}

void WarmContainers::refill(const SandboxSpec& spec) {
  if (size_ == 0) return;
  const std::string key = key_of(spec);
  Kind& kind = kind_of(key, spec);
  kind.used = clock_.now();
  // A task may fail before spawn() returns: each is counted first, and none is tried twice.
  const size_t there = kind.ready.size() + kind.coming;
  for (size_t missing = size_ - std::min(size_, there); missing > 0; --missing) {
    ++kind.coming;
    tasks_.spawn("make a container ahead", add(key, spec));
  }
  if (!std::exchange(tending_, true)) tasks_.spawn("tend containers", tend());
}

Task<> WarmContainers::add(std::string key, SandboxSpec spec) {
  std::unique_ptr<Container> container;
  try {
    container = co_await containers_.make(std::move(spec));
  } catch (const Error& e) {
    log::debug("no container ahead: {}", e.what());  // whoever needs one is told
  }
  Kind* const kind = find(key);
  if (kind != nullptr && kind->coming > 0) --kind->coming;
  if (!container) co_return;
  if (kind != nullptr) {
    kind->ready.push_back(std::move(container));
  } else {
    containers_.remove_soon(std::move(container));
  }
}

void WarmContainers::drop(Kind& kind) {
  while (!kind.ready.empty()) {
    containers_.remove_soon(std::move(kind.ready.front()));
    kind.ready.pop_front();
  }
}

Task<> WarmContainers::tend() {
  while (!kinds_.empty()) {
    co_await sleep_for(kLookAgain);
    kinds_.remove_if([this](Kind& kind) {
      const bool is_old = clock_.now() - kind.used >= kForget;
      if (is_old) drop(kind);
      return is_old;
    });
  }
  tending_ = false;
}

size_t WarmContainers::ready() const {
  size_t count = 0;
  for (const Kind& kind : kinds_) count += kind.ready.size();
  return count;
}

Task<> WarmContainers::stop() {
  co_await tasks_.stop();
  for (Kind& kind : kinds_) drop(kind);
  kinds_.clear();
}

}  // namespace belljar::docker
