#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/task_group.h"
#include "sandbox/driver.h"
#include "sandbox/lease.h"
#include "sandbox/quota.h"

namespace belljar {

struct SessionLimits {
  std::chrono::seconds lifetime{3600};  // from creation, whatever runs in it
  std::chrono::seconds idle{1800};      // since the end of the last use; running work is use
  QuotaLimits quota;  // live sandboxes, ephemeral ones and those being made included
};

struct SandboxInfo {
  std::string id;
  Image image;
  Limits limits;
  Clock::WallTime created{};
  std::chrono::seconds age{0};
  std::chrono::seconds idle{0};  // 0 while something runs
  std::chrono::seconds lifetime_left{0};
  size_t running = 0;
  std::vector<uint16_t> ports;  // published on the host
};

// The live sandboxes, by owner and id: makes them within the quota, finds them for their owner
// only, and ends them when they are stopped, too old or idle for too long.
//
//   Sandboxes sandboxes{executor, driver, limits, clock};
//   const SandboxInfo info = co_await sandboxes.create(owner, spec);
//   Lease lease = sandboxes.use(info.id, owner);
//   const RunResult result = co_await lease.run(command, run_limits, nullptr);
//   co_await sandboxes.stop_all();  // must be awaited before the destructor
class Sandboxes {
 public:
  // `driver` and `clock` must outlive this object. Nothing is started before the first create().
  Sandboxes(const asio::any_io_executor& executor, Driver& driver, SessionLimits limits,
            Clock& clock);

  // A new session sandbox. Error{exhausted} if there are too many.
  Task<SandboxInfo> create(std::string owner, SandboxSpec spec);

  // A sandbox for one call: it has no id, is in no list, and is destroyed with its lease, without
  // waiting for the end of the destruction. Counts as a live sandbox.
  Task<Lease> create_ephemeral(std::string owner, SandboxSpec spec);

  // For a run in a session sandbox. Error{invalid} "Invalid container ID" for what cannot be an id.
  // An id that is unknown, that of another owner, or that of a sandbox stopped or being stopped are
  // all the same Error{not_found}.
  Lease use(std::string_view id, const std::string& owner);

  // Ends the sandbox and everything that runs in it. Errors as use(). The id is unknown from the
  // moment of the call; the task ends when the sandbox is gone. Cancelling it ends the waiting
  // only.
  Task<> stop(std::string id, std::string owner);

  // The owner's sandboxes, oldest first.
  std::vector<SandboxInfo> list(const std::string& owner) const;

  // Ends all sandboxes and the reaper; create() is Error{unavailable} from now on.
  Task<> stop_all();

  // Those of all owners, ephemeral ones and those being made included.
  size_t live() const { return quota_.used(); }

  const SessionLimits& limits() const { return limits_; }

 private:
  using Live = std::shared_ptr<LiveSandbox>;
  // The owner is part of the key: another's id takes the same path as an unknown one.
  using Key = std::pair<std::string, std::string>;

  Task<Live> make(std::string owner, SandboxSpec spec);
  Live find(std::string_view id, const std::string& owner) const;
  void retire(const Live& live, std::string reason);
  Task<> tear_down(Live live);
  Task<> reap();
  Clock::Time reap_once();
  SandboxInfo describe(const LiveSandbox& live) const;

  Driver& driver_;
  SessionLimits limits_;
  Clock& clock_;
  Quota quota_;
  std::map<Key, Live> live_;
  bool reaping_ = false;
  bool closing_ = false;
  TaskGroup reaper_;  // one task while there are sandboxes
  TaskGroup ends_;    // of sandboxes that nobody waits for
};

}  // namespace belljar
