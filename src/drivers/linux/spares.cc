#include "drivers/linux/spares.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/log.h"

namespace belljar::linux_driver {

namespace {

// Everything that makes two sandboxes different from birth.
std::string key_of(const SandboxSpec& spec) {
  const Limits& limits = spec.limits;
  return fmt::format("{} {} {} {} {} {} {} {} {}", spec.image.prefix, spec.image.node_version,
                     limits.memory, limits.cpus, limits.pids, limits.disk, limits.inodes,
                     static_cast<int>(spec.network), static_cast<const void*>(spec.files.get()));
}

}  // namespace

Spares::Spares(asio::any_io_executor executor, Clock& clock, Bounds bounds, Make make,
               IsStale is_stale)
    : clock_{clock},
      bounds_{bounds},
      make_{std::move(make)},
      is_stale_{std::move(is_stale)},
      tasks_{std::move(executor)} {}

Spares::Kind& Spares::kind_of(const SandboxSpec& spec) {
  const std::string key = key_of(spec);
  const auto at = std::find_if(kinds_.begin(), kinds_.end(),
                               [&key](const Kind& kind) { return kind.key == key; });
  if (at != kinds_.end()) {
    kinds_.splice(kinds_.begin(), kinds_, at);
    return kinds_.front();
  }
  kinds_.push_front({key, spec, Demand{clock_.now()}, {}});
  if (kinds_.size() > kMostKinds) kinds_.pop_back();
  return kinds_.front();
}

Spares::Kind* Spares::find(const std::string& key) {
  for (Kind& kind : kinds_) {
    if (kind.key == key) return &kind;
  }
  return nullptr;
}

std::shared_ptr<const void> Spares::begin_use() {
  if (bounds_.least == 0) return nullptr;
  const auto use = std::make_shared<const char>();
  forget_old_uses();
  uses_.push_back({clock_.now(), use});
  return use;
}

std::unique_ptr<LinuxSandbox> Spares::take(const SandboxSpec& spec) {
  if (bounds_.least == 0) return nullptr;
  Kind& kind = kind_of(spec);
  kind.demand.taken(clock_.now());
  kind.ready.remove_if([](const auto& sandbox) { return !sandbox->alive(); });
  if (kind.ready.empty()) return nullptr;
  auto at = std::find_if_not(kind.ready.begin(), kind.ready.end(),
                             [this](const auto& sandbox) { return is_stale_(*sandbox); });
  if (at == kind.ready.end()) at = kind.ready.begin();
  auto sandbox = std::move(*at);
  kind.ready.erase(at);
  return sandbox;
}

void Spares::refill(const SandboxSpec& spec) {
  if (bounds_.least == 0) return;
  kind_of(spec).failed = false;
  wake();
  if (!std::exchange(tending_, true)) tasks_.spawn("look after spare sandboxes", tend());
}

void Spares::look_again() {
  ++looks_;
  for (Kind& kind : kinds_) kind.failed = kind.no_better = false;
  if (!kinds_.empty()) wake();
}

size_t Spares::ready() const {
  size_t count = 0;
  for (const Kind& kind : kinds_) count += kind.ready.size();
  return count;
}

size_t Spares::wanted(const Kind& kind) const {
  const Clock::Time now = clock_.now();
  if (now >= kind.demand.last() + kForget) return 0;
  const size_t peak = kind.demand.peak(now);
  return std::max(bounds_.least, peak + peak / 4);
}

// How many each kind may have: the least for all, the rest for those used last.
std::vector<size_t> Spares::share_out() const {
  std::vector<size_t> shares;
  size_t room = std::min<uint64_t>(kMost, bounds_.memory / bounds_.each);
  for (const Kind& kind : kinds_) {
    shares.push_back(std::min({wanted(kind), bounds_.least, room}));
    room -= shares.back();
  }
  auto share = shares.begin();
  for (const Kind& kind : kinds_) {
    const size_t more = std::min(wanted(kind) - std::min(wanted(kind), *share), room);
    *share++ += more;
    room -= more;
  }
  return shares;
}

void Spares::forget_old_uses() {
  const Clock::Time now = clock_.now();
  while (!uses_.empty() && uses_.front().begin + kYoung <= now) uses_.pop_front();
}

bool Spares::is_busy() {
  forget_old_uses();
  const Clock::Time just_now = clock_.now() - kPause;
  size_t in_use = 0;
  for (const Use& use : uses_) {
    if (use.use.expired()) continue;
    if (use.begin > just_now) return true;
    ++in_use;
  }
  return in_use >= bounds_.processors;
}

bool Spares::has_many_callers() {
  forget_old_uses();
  return uses_.size() > kFewCallersPerProcessor * bounds_.processors;
}

bool Spares::has_to_replace(const Kind& kind) const {
  if (kind.failed || kind.no_better) return false;
  return std::any_of(kind.ready.begin(), kind.ready.end(),
                     [this](const auto& one) { return is_stale_(*one); });
}

void Spares::wake() {
  if (!std::exchange(working_, true)) tasks_.spawn("make spare sandboxes", work());
}

Task<> Spares::wait_for_quiet() {
  const Clock::Time end = clock_.now() + kPatience;
  while (is_busy() && clock_.now() < end) co_await clock_.sleep_until(clock_.now() + kPause);
}

Task<> Spares::work() {
  bool changed = false;
  for (;; changed = true) {
    co_await wait_for_quiet();
    if (const Kind* const kind = next_to_add()) {
      co_await add(kind->key);
    } else if (drop_one()) {
      co_await clock_.sleep_until(clock_.now() + kPause);
    } else if (std::any_of(kinds_.begin(), kinds_.end(),
                           [this](const Kind& kind) { return has_to_replace(kind); })) {
      co_await clock_.sleep_until(clock_.now() + kYoung);  // there are many callers
    } else {
      break;
    }
  }
  kinds_.remove_if([this](const Kind& kind) { return kind.ready.empty() && wanted(kind) == 0; });
  working_ = false;
  if (changed) log::debug("spare sandboxes: {} ready, of {} kinds", ready(), kinds_.size());
}

// One that lacks some, or has one to be replaced and the time for it.
Spares::Kind* Spares::next_to_add() {
  const std::vector<size_t> shares = share_out();
  auto share = shares.begin();
  for (Kind& kind : kinds_) {
    const size_t most = *share++;
    kind.ready.remove_if([](const auto& sandbox) { return !sandbox->alive(); });
    if (kind.failed) continue;
    if (kind.ready.size() < most) return &kind;
    if (kind.ready.size() == most && has_to_replace(kind) && !has_many_callers()) return &kind;
  }
  return nullptr;
}

Task<> Spares::add(std::string key) {
  SandboxSpec spec = find(key)->spec;
  std::unique_ptr<LinuxSandbox> sandbox;
  const uint64_t looks = looks_;
  const Content content = has_many_callers() ? Content::empty : Content::node;
  try {
    sandbox = co_await make_(std::move(spec), content);
  } catch (const Error& e) {
    log::debug("no spare sandbox: {}", e.what());  // the next caller makes its own, and sees why
  }
  Kind* const kind = find(key);  // it may have been forgotten meanwhile
  if (kind == nullptr) co_return;
  kind->failed = !sandbox;
  if (!sandbox) co_return;
  // Unless it has become so since it was asked for.
  kind->no_better = is_stale_(*sandbox) && content == Content::node && looks == looks_;
  kind->demand.made();
  kind->ready.push_back(std::move(sandbox));
}

// Of a kind that has more than its share.
bool Spares::drop_one() {
  const std::vector<size_t> shares = share_out();
  auto share = shares.begin();
  for (Kind& kind : kinds_) {
    if (kind.ready.size() <= *share++) continue;
    drop(kind);
    return true;
  }
  return false;
}

void Spares::drop(Kind& kind) {
  auto at = std::find_if(kind.ready.begin(), kind.ready.end(),
                         [this](const auto& sandbox) { return is_stale_(*sandbox); });
  if (at == kind.ready.end()) at = kind.ready.begin();
  kind.ready.erase(at);
}

Task<> Spares::tend() {
  while (!kinds_.empty()) {
    co_await clock_.sleep_until(clock_.now() + kLookAgain);
    wake();
  }
  tending_ = false;
}

Task<> Spares::stop() {
  bounds_.least = 0;
  co_await tasks_.stop();
  kinds_.clear();
}

}  // namespace belljar::linux_driver
