#include "base/task_group.h"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>
#include <cstdlib>
#include <system_error>
#include <thread>
#include <vector>

#include "base/log.h"

namespace belljar {

namespace {

// Asio's own threads cannot be used: a pool that gets only some of them waits for these for ever.
class BlockingPool {
 public:
  BlockingPool() {
    try {
      while (threads_.size() < 2) threads_.emplace_back([this] { pool_.attach(); });
    } catch (const std::system_error& e) {
      if (threads_.empty()) fail(Code::exhausted, "start a thread: {}", e.code().message());
    }
  }
  ~BlockingPool() {
    pool_.stop();
    for (std::thread& thread : threads_) thread.join();
  }
  asio::thread_pool& pool() { return pool_; }

 private:
  asio::thread_pool pool_{0};
  std::vector<std::thread> threads_;
};

}  // namespace

asio::thread_pool& blocking_pool() {
  static BlockingPool pool;
  return pool.pool();
}

bool is_cancellation(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const boost::system::system_error& e) {
    return e.code() == asio::error::operation_aborted;
  } catch (const Error& e) {
    return e.code() == Code::cancelled;
  } catch (...) {
    return false;
  }
}

struct TaskGroup::Running {
  asio::cancellation_signal signal;
};

TaskGroup::TaskGroup(asio::any_io_executor executor)
    : executor_{std::move(executor)},
      empty_{executor_, std::chrono::steady_clock::time_point::max()} {}

TaskGroup::~TaskGroup() {
  if (running_.empty()) return;
  log::error("a task group was destroyed while {} of its tasks ran", running_.size());
  std::abort();
}

TaskGroup::Id TaskGroup::spawn(std::string name, Task<> task) {
  const Id id = next_++;
  auto running = std::make_shared<Running>();
  running_.emplace(id, running);
  auto on_end = [this, id, running, name = std::move(name)](const std::exception_ptr& error) {
    ended(id, name, error);
  };
  asio::co_spawn(executor_, std::move(task),
                 asio::bind_cancellation_slot(running->signal.slot(), std::move(on_end)));
  return id;
}

void TaskGroup::cancel(Id id) {
  const auto at = running_.find(id);
  if (at == running_.end()) return;
  const auto running = at->second;  // the task may end, and leave the map, inside emit()
  running->signal.emit(asio::cancellation_type::terminal);
}

void TaskGroup::ended(Id id, const std::string& name, const std::exception_ptr& error) {
  if (error && !is_cancellation(error)) {
    try {
      std::rethrow_exception(error);
    } catch (const std::exception& e) {
      log::error("{}: {}", name, e.what());
    }
  }
  running_.erase(id);
  empty_.cancel();
}

Task<> TaskGroup::stop() {
  std::vector<Id> ids;
  ids.reserve(running_.size());
  for (const auto& [id, running] : running_) ids.push_back(id);
  for (const Id id : ids) cancel(id);
  co_await finish();
}

Task<> TaskGroup::finish() {
  while (!running_.empty()) {
    boost::system::error_code ignored;
    co_await empty_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
}

}  // namespace belljar
