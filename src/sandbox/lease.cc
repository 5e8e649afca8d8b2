#include "sandbox/lease.h"

#include <csignal>
#include <utility>

namespace belljar {

Lease::Lease(std::shared_ptr<LiveSandbox> live, const Clock& clock)
    : live_{std::move(live)}, clock_{&clock} {
  ++live_->running;
}

Lease::~Lease() {
  if (!live_) return;
  --live_->running;
  live_->last_used = clock_->now();
  live_->source_slots.erase(slot_);
}

int Lease::source_slot() {
  if (slot_ != 0) return slot_;
  int slot = 1;
  while (live_->source_slots.contains(slot)) ++slot;
  live_->source_slots.insert(slot);
  slot_ = slot;
  return slot;
}

Task<RunResult> Lease::run(Command command, RunLimits limits, LiveOutput live) {
  RunResult result;
  result.outcome.kind = Outcome::Kind::cancelled;
  if (live_->stop_reason.empty()) {
    try {
      result = co_await run_program(*live_->sandbox, std::move(command), limits, std::move(live));
    } catch (const Error&) {
      if (live_->stop_reason.empty()) throw;
    }
  }
  // A driver may see no more than the SIGKILL that the stop sent.
  const bool killed =
      result.outcome.kind == Outcome::Kind::signaled && result.outcome.code == SIGKILL;
  if (killed && !live_->stop_reason.empty()) result.outcome.kind = Outcome::Kind::cancelled;
  if (result.outcome.kind == Outcome::Kind::cancelled) result.stop_reason = live_->stop_reason;
  co_return result;
}

}  // namespace belljar
