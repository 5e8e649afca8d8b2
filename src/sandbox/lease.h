#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/task.h"
#include "files/tracked_files.h"
#include "sandbox/attachment.h"
#include "sandbox/driver.h"
#include "sandbox/quota.h"
#include "sandbox/run.h"
#include "sandbox/spec.h"
#include "sandbox/traffic.h"

namespace belljar {

class BackgroundProcess;

// A sandbox that somebody may use, and what must be known to end it in time. Shared between the
// table of sandboxes and the leases of the calls that use it just now.
struct LiveSandbox {
  LiveSandbox(std::string owner_of_it, SandboxSpec spec_of_it, Quota::Place place_of_it)
      : owner{std::move(owner_of_it)}, spec{std::move(spec_of_it)}, place{std::move(place_of_it)} {}

  std::string id;  // empty for an ephemeral one, which nobody can name
  std::string owner;
  SandboxSpec spec;
  std::unique_ptr<Sandbox> sandbox;
  Quota::Place place;
  Clock::Time created{};
  Clock::WallTime created_wall{};
  Clock::Time last_used{};
  size_t running = 0;          // leases; while there is one, the sandbox is not idle
  std::set<int> source_slots;  // see Lease::source_slot()
  std::vector<std::shared_ptr<BackgroundProcess>> background;  // oldest first; ended ones too
  int background_started = 0;
  std::map<uint16_t, std::shared_ptr<Attachment>> ports;  // published on the host
  // Of these, see Lease::spare_ports().
  std::shared_ptr<std::set<uint16_t>> spare_ports = std::make_shared<std::set<uint16_t>>();
  std::map<std::string, std::string> environment;   // see Lease::environment()
  std::shared_ptr<Connectivity> connectivity;       // the way out; null: there is none
  std::shared_ptr<files::TrackedFiles> files;       // once somebody asked for it
  std::shared_ptr<Event> installing;                // see Lease::wait_to_install()
  PackageDirectories packages;                      // those that are mounted
  std::map<std::string, std::string> dependencies;  // see Lease::dependencies()
  std::string stop_reason;                          // not empty: it is being stopped or gone
  std::shared_ptr<Event> on_stop;                   // once somebody waits for that

  // Ends what belongs to the sandbox, and lets go of its files, before the sandbox itself.
  Task<> stop_attachments();
};

// The use of a sandbox by one call. As long as a lease exists the sandbox is not idle and its
// object exists, even if it is stopped meanwhile: what runs in it then ends as `cancelled`.
class Lease {
 public:
  Lease(std::shared_ptr<LiveSandbox> live, const Clock& clock);
  ~Lease();
  Lease(Lease&& other) = default;
  Lease& operator=(Lease&&) = delete;

  // Another lease of the same sandbox.
  Lease again() const { return Lease{live_, *clock_}; }

  const SandboxSpec& spec() const { return live_->spec; }
  const std::string& id() const { return live_->id; }

  // For what is not a run of a program. The sandbox may be stopped at any time; its functions then
  // fail.
  Sandbox& sandbox() const { return *live_->sandbox; }

  // The programs that were started in the background, oldest first, and a place for one more: its
  // number. The oldest that has ended is forgotten when there are many; Error{exhausted} if all of
  // them run.
  const std::vector<std::shared_ptr<BackgroundProcess>>& background() const {
    return live_->background;
  }
  int keep(std::shared_ptr<BackgroundProcess> process);

  // The ports of the sandbox that are published. Error{not_found} if it was stopped meanwhile.
  std::map<uint16_t, std::shared_ptr<Attachment>>& ports() const;

  // Of these, the ones that were chosen for a program which does not need them any more. Shared
  // with whoever will give one back.
  std::shared_ptr<std::set<uint16_t>> spare_ports() const { return live_->spare_ports; }

  // Variables that every program of the sandbox finds unless its command sets them itself.
  std::map<std::string, std::string>& environment() const { return live_->environment; }

  // Names and versions of the packages that programs of the sandbox have asked for so far.
  std::map<std::string, std::string>& dependencies() const { return live_->dependencies; }

  // The sandbox's way out; null if it has none. It ends with the sandbox.
  const std::shared_ptr<Connectivity>& connectivity() const { return live_->connectivity; }
  void set_connectivity(std::shared_ptr<Connectivity> way);

  // The sandbox's own ./files, followed from run to run; null if it cannot be looked into, or is a
  // directory of the host.
  std::shared_ptr<files::TrackedFiles> tracked_files() const;

  // The lowest number, from 1, that no other lease of this sandbox holds; kept until the lease
  // ends. Programs that run at the same time get files of different names by it.
  int source_slot();

  // run_program() that knows why a sandbox was stopped: a stop before or during the run is the
  // outcome `cancelled` with a stop_reason, never an Error of the driver.
  Task<RunResult> run(Command command, RunLimits limits, LiveOutput live);

  // Waits until no other call changes the packages of the sandbox; the next one may when what is
  // returned is let go of.
  Task<std::shared_ptr<const void>> wait_to_install();

  // See Sandbox::mount_packages(). If the sandbox is stopped before or meanwhile, that is no error
  // here either: the run that the packages are for says so.
  Task<> mount_packages(PackageDirectories directories);

  // Ends when the sandbox is stopped: why. For work elsewhere that is done for this sandbox.
  Task<std::string> stopped() const;

  // See Sandbox::listen().
  Task<Fd> listen() { return live_->sandbox->listen(); }

 private:
  std::shared_ptr<LiveSandbox> live_;  // empty after a move
  const Clock* clock_;
  int slot_ = 0;
};

}  // namespace belljar
