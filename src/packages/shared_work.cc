#include "packages/shared_work.h"

#include <list>

#include "base/log.h"

namespace belljar::packages {

struct SharedWork::Flight {
  explicit Flight(const asio::any_io_executor& executor) : ended{executor} {}

  void report(std::string_view message) {
    last_message = message;
    for (InstallProgress& progress : waiting) {
      if (!progress) continue;
      try {
        progress(message);
      } catch (const std::exception& thrown) {
        // One who cannot be told must not cost the others their packages.
        log::debug("progress of an installation: {}", thrown.what());
        progress = nullptr;
      }
    }
  }

  Event ended;
  std::exception_ptr error;
  std::list<InstallProgress> waiting;
  std::string last_message;
  TaskGroup::Id id = 0;
};

// Counts as waiting as long as it lives.
class SharedWork::Waiter {
 public:
  Waiter(SharedWork& owner, std::string name, std::shared_ptr<Flight> flight,
         InstallProgress progress)
      : owner_{owner}, name_{std::move(name)}, flight_{std::move(flight)} {
    if (progress && !flight_->last_message.empty()) progress(flight_->last_message);
    place_ = flight_->waiting.insert(flight_->waiting.end(), std::move(progress));
  }
  ~Waiter() {
    flight_->waiting.erase(place_);
    if (!flight_->waiting.empty() || flight_->ended.is_set()) return;
    // Whoever comes now starts anew, and does not get the end of this one.
    owner_.forget(name_, *flight_);
    owner_.group_.cancel(flight_->id);
  }
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

 private:
  SharedWork& owner_;
  std::string name_;
  std::shared_ptr<Flight> flight_;
  std::list<InstallProgress>::iterator place_;
};

SharedWork::SharedWork(asio::any_io_executor executor)
    : executor_{executor}, group_{std::move(executor)} {}
SharedWork::~SharedWork() = default;

Task<> SharedWork::join(std::string name, Work work, InstallProgress progress) {
  std::shared_ptr<Flight> flight;
  const auto at = flights_.find(name);
  const bool is_first = at == flights_.end();
  if (is_first) {
    flight = std::make_shared<Flight>(executor_);
    flights_[name] = flight;
  } else {
    flight = at->second;
  }
  const Waiter waiter{*this, name, flight, std::move(progress)};
  if (is_first) flight->id = group_.spawn(name, run(flight, name, std::move(work)));
  co_await flight->ended.wait();
  if (flight->error) std::rethrow_exception(flight->error);
}

Task<> SharedWork::run(std::shared_ptr<Flight> flight, std::string name, Work work) {
  const InstallProgress report = [&flight](std::string_view message) { flight->report(message); };
  try {
    co_await work(report);
  } catch (...) {
    flight->error = std::current_exception();
  }
  forget(name, *flight);
  flight->ended.set();
}

void SharedWork::forget(const std::string& name, const Flight& flight) {
  const auto at = flights_.find(name);
  if (at != flights_.end() && at->second.get() == &flight) flights_.erase(at);
}

Task<> SharedWork::stop() {
  co_await group_.stop();
}

}  // namespace belljar::packages
