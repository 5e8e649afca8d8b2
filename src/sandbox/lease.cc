#include "sandbox/lease.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include "sandbox/background.h"

namespace belljar {

namespace {

constexpr size_t kMaxBackground = 16;  // each keeps its newest output

}  // namespace

Task<> LiveSandbox::stop_attachments() {
  files.reset();
  // All ports are closed before the end of any connection is waited for.
  const auto published = std::exchange(ports, {});
  std::vector<Task<>> ends;
  ends.reserve(published.size());
  for (const auto& [port, attachment] : published) ends.push_back(attachment->stop());
  for (Task<>& end : ends) co_await std::move(end);
  for (const auto& process : std::exchange(background, {})) co_await process->stop();
}

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

int Lease::keep(std::shared_ptr<BackgroundProcess> process) {
  if (!live_->stop_reason.empty()) fail(Code::not_found, "{}", live_->stop_reason);
  auto& all = live_->background;
  if (all.size() >= kMaxBackground) {
    const auto ended =
        std::find_if(all.begin(), all.end(), [](const auto& other) { return !other->running(); });
    if (ended == all.end()) {
      fail(Code::exhausted,
           "{} programs run in the background of this sandbox, which is the limit; end one, for "
           "example with sandbox_exec and kill, or use another sandbox",
           all.size());
    }
    all.erase(ended);
  }
  all.push_back(std::move(process));
  return ++live_->background_started;
}

std::map<uint16_t, std::shared_ptr<Attachment>>& Lease::ports() const {
  if (!live_->stop_reason.empty()) fail(Code::not_found, "{}", live_->stop_reason);
  return live_->ports;
}

void Lease::set_connectivity(std::shared_ptr<Connectivity> way) {
  if (!live_->stop_reason.empty()) fail(Code::not_found, "{}", live_->stop_reason);
  live_->connectivity = std::move(way);
}

std::shared_ptr<files::TrackedFiles> Lease::tracked_files() const {
  const int workspace = live_->sandbox->workspace();
  if (workspace < 0 || live_->spec.files) return nullptr;
  if (!live_->files) {
    live_->files = std::make_shared<files::TrackedFiles>(files::Directory{workspace}, "files");
  }
  return live_->files;
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
      command.env.insert(live_->environment.begin(), live_->environment.end());
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

Task<std::shared_ptr<const void>> Lease::wait_to_install() {
  const std::shared_ptr<LiveSandbox> live = live_;
  while (live->installing && !live->installing->is_set()) {
    const std::shared_ptr<Event> other = live->installing;
    co_await other->wait();
  }
  const auto executor = co_await asio::this_coro::executor;
  const auto turn = std::make_shared<Event>(executor);
  live->installing = turn;
  co_return std::shared_ptr<const void>{turn.get(), [turn](const void*) { turn->set(); }};
}

Task<> Lease::mount_packages(PackageDirectories directories) {
  if (!live_->stop_reason.empty()) co_return;
  try {
    co_await live_->sandbox->mount_packages(directories);
    live_->packages = std::move(directories);
  } catch (const Error&) {
    if (live_->stop_reason.empty()) throw;
  }
}

Task<std::string> Lease::stopped() const {
  const std::shared_ptr<LiveSandbox> live = live_;
  const auto executor = co_await asio::this_coro::executor;
  if (!live->on_stop) live->on_stop = std::make_shared<Event>(executor);
  if (live->stop_reason.empty()) co_await live->on_stop->wait();
  co_return live->stop_reason;
}

}  // namespace belljar
