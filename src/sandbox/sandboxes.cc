#include "sandbox/sandboxes.h"

#include <algorithm>
#include <tuple>

#include "base/error.h"
#include "base/id.h"
#include "base/log.h"

namespace belljar {

using std::chrono::duration_cast;
using std::chrono::seconds;

namespace {

constexpr size_t kMaxIdLength = 128;

// How long stop_all() waits for the driver; what is left then ends with the driver itself.
constexpr milliseconds kEndGrace{700};

bool is_alphanumeric(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

void check_id(std::string_view id) {
  const auto allowed = [](char c) {
    return is_alphanumeric(c) || c == '_' || c == '.' || c == '-';
  };
  const bool valid = !id.empty() && id.size() <= kMaxIdLength && is_alphanumeric(id.front()) &&
                     std::all_of(id.begin(), id.end(), allowed);
  if (!valid) fail(Code::invalid, "Invalid container ID");
}

struct End {
  explicit End(const asio::any_io_executor& executor) : reached{executor} {}

  Event reached;
  std::exception_ptr failure;
};

Task<> tell_of_end(Task<> work, std::shared_ptr<End> end) {
  try {
    co_await std::move(work);
  } catch (...) {
    end->failure = std::current_exception();
  }
  end->reached.set();
}

}  // namespace

Sandboxes::Sandboxes(const asio::any_io_executor& executor, Driver& driver, SessionLimits limits,
                     Clock& clock)
    : driver_{driver},
      limits_{limits},
      clock_{clock},
      quota_{limits.quota},
      reaper_{executor},
      ends_{executor} {}

Task<Sandboxes::Live> Sandboxes::make(std::string owner, SandboxSpec spec) {
  constexpr const char* kClosing = "belljar is shutting down";
  if (closing_) fail(Code::unavailable, "{}", kClosing);
  Quota::Place place = quota_.take(owner);
  auto live = std::make_shared<LiveSandbox>(std::move(owner), spec, std::move(place));
  live->sandbox = co_await driver_.create(std::move(spec));
  if (closing_) fail(Code::unavailable, "{}", kClosing);
  live->created = clock_.now();
  live->created_wall = clock_.wall();
  live->last_used = live->created;
  co_return live;
}

Task<SandboxInfo> Sandboxes::create(std::string owner, SandboxSpec spec) {
  const Live live = co_await make(std::move(owner), std::move(spec));
  live->id = "js-sbx-" + random_uuid();
  live_.emplace(Key{live->owner, live->id}, live);
  if (!reaping_) {
    reaping_ = true;
    reaper_.spawn("reap sandboxes", reap());
  }
  co_return describe(*live);
}

Task<Lease> Sandboxes::create_ephemeral(std::string owner, SandboxSpec spec) {
  Live live = co_await make(std::move(owner), std::move(spec));
  co_return Lease{std::move(live), clock_};
}

Sandboxes::Live Sandboxes::find(std::string_view id, const std::string& owner) const {
  check_id(id);
  const auto at = live_.find(Key{owner, std::string{id}});
  if (at == live_.end()) {
    fail(Code::not_found,
         "no such sandbox: {}; it was never made, was stopped, or its time ran out. "
         "Make a new one with sandbox_initialize",
         id);
  }
  return at->second;
}

Lease Sandboxes::use(std::string_view id, const std::string& owner) {
  return Lease{find(id, owner), clock_};
}

Task<> Sandboxes::stop(std::string id, std::string owner) {
  const Live live = find(id, owner);
  retire(live, "the sandbox was stopped");
  // Whoever waits for the end may be cancelled. The end itself may not: nobody would find what is
  // left of a sandbox that is in no list any more.
  const auto end = std::make_shared<End>(co_await asio::this_coro::executor);
  ends_.spawn("stop " + live->id, tell_of_end(tear_down(live), end));
  co_await end->reached.wait();
  if (end->failure) std::rethrow_exception(end->failure);
}

std::vector<SandboxInfo> Sandboxes::list(const std::string& owner) const {
  std::vector<const LiveSandbox*> own;
  for (auto at = live_.lower_bound(Key{owner, ""}); at != live_.end(); ++at) {
    if (at->first.first != owner) break;
    own.push_back(at->second.get());
  }
  const auto older = [](const LiveSandbox* a, const LiveSandbox* b) {
    return std::tie(a->created, a->id) < std::tie(b->created, b->id);
  };
  std::sort(own.begin(), own.end(), older);
  std::vector<SandboxInfo> result;
  result.reserve(own.size());
  for (const LiveSandbox* live : own) result.push_back(describe(*live));
  return result;
}

SandboxInfo Sandboxes::describe(const LiveSandbox& live) const {
  const Clock::Time now = clock_.now();
  SandboxInfo info;
  info.id = live.id;
  info.image = live.spec.image;
  info.limits = live.spec.limits;
  info.created = live.created_wall;
  info.age = duration_cast<seconds>(now - live.created);
  if (live.running == 0) info.idle = duration_cast<seconds>(now - live.last_used);
  const auto left = duration_cast<seconds>(live.created + limits_.lifetime - now);
  info.lifetime_left = std::max(left, seconds{0});
  info.running = live.running;
  for (const auto& [port, attachment] : live.ports) info.ports.push_back(port);
  return info;
}

void Sandboxes::retire(const Live& live, std::string reason) {
  live->stop_reason = std::move(reason);
  if (live->on_stop) live->on_stop->set();
  live_.erase(Key{live->owner, live->id});
}

Task<> Sandboxes::tear_down(Live live) {
  co_await live->stop_attachments();
  co_await live->sandbox->destroy();
  live->connectivity.reset();  // not before: see Egress::stop()
  // Leases may keep the object alive for a while, but it holds nothing any more.
  live->place.release();
}

Clock::Time Sandboxes::reap_once() {
  const Clock::Time now = clock_.now();
  // Every deadline that arises while the reaper sleeps (a new sandbox, the end of a use) is at
  // least this far away, so nothing has to wake it.
  Clock::Time next = now + std::min(limits_.idle, limits_.lifetime);
  std::vector<Live> due;
  for (const auto& [key, live] : live_) {
    const Clock::Time end_of_life = live->created + limits_.lifetime;
    const Clock::Time end_of_idling =
        live->running > 0 ? Clock::Time::max() : live->last_used + limits_.idle;
    if (std::min(end_of_life, end_of_idling) > now) {
      next = std::min({next, end_of_life, end_of_idling});
      continue;
    }
    due.push_back(live);
  }
  for (const Live& live : due) {
    const bool old = live->created + limits_.lifetime <= now;
    std::string reason =
        old ? fmt::format("the sandbox reached its lifetime of {} s", limits_.lifetime.count())
            : fmt::format("the sandbox was idle for {} s", limits_.idle.count());
    log::info("stop {}: {}", live->id, reason);
    retire(live, std::move(reason));
    ends_.spawn("stop " + live->id, tear_down(live));
  }
  return next;
}

Task<> Sandboxes::reap() {
  while (true) {
    const Clock::Time next = reap_once();
    if (live_.empty()) break;
    co_await clock_.sleep_until(next);
  }
  reaping_ = false;
}

Task<> Sandboxes::stop_all() {
  closing_ = true;
  while (!live_.empty()) {
    const Live live = live_.begin()->second;
    retire(live, "belljar is shutting down");
    ends_.spawn("stop " + live->id, tear_down(live));
  }
  co_await with_timeout(kEndGrace, ends_.finish());
  co_await ends_.stop();
  co_await reaper_.stop();
}

}  // namespace belljar
