#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/error.h"

namespace belljar {

namespace asio = boost::asio;
using std::chrono::milliseconds;

// A function that waits returns a Task. Everything runs on one io_context and one thread.
// Cancelling a task makes the operation it waits for throw; resources are let go by destructors.
template <class T = void>
using Task = asio::awaitable<T>;

inline Task<> sleep_for(std::chrono::steady_clock::duration time) {
  asio::steady_timer timer{co_await asio::this_coro::executor, time};
  co_await timer.async_wait(asio::use_awaitable);
}

template <class T>
struct Settled {  // how a task ended: with an exception, or with a value
  std::exception_ptr error;
  std::optional<T> value;
};

template <class T>
Task<Settled<T>> settle(Task<T> task) {
  Settled<T> settled;
  try {
    settled.value.emplace(co_await std::move(task));
  } catch (...) {
    settled.error = std::current_exception();
  }
  co_return settled;
}

inline Task<bool> ended(Task<> task) {
  co_await std::move(task);
  co_return true;
}

// Runs `task`, but no longer than `limit`: its result or its exception, or nothing if the time ran
// out (the task is then cancelled and has ended). A task that ignores cancellation makes this wait
// for it.
template <class T>
Task<std::optional<T>> with_timeout(std::chrono::steady_clock::duration limit, Task<T> task) {
  using namespace asio::experimental::awaitable_operators;
  // `||` waits for the first success, so one that fails would wait for the timer: settle it first.
  auto result = co_await (settle(std::move(task)) || sleep_for(limit));
  if (result.index() == 1) co_return std::nullopt;
  Settled<T>& settled = std::get<0>(result);
  if (settled.error) std::rethrow_exception(settled.error);
  co_return std::move(settled.value);
}

// True if the task ended in time.
inline Task<bool> with_timeout(std::chrono::steady_clock::duration limit, Task<> task) {
  const auto result = co_await with_timeout(limit, ended(std::move(task)));
  co_return result.has_value();
}

// Lets any number of tasks wait until set() is called, once; waiting afterwards returns at once.
class Event {
 public:
  explicit Event(const asio::any_io_executor& executor)
      : timer_{executor, std::chrono::steady_clock::time_point::max()} {}
  bool is_set() const { return set_; }
  void set() {
    set_ = true;
    timer_.cancel();
  }
  Task<> wait() {
    while (!set_) {
      boost::system::error_code error;
      co_await timer_.async_wait(asio::redirect_error(asio::use_awaitable, error));
      // The timer is cancelled by set() or by the cancellation of the waiting task.
      if (!set_) throw boost::system::system_error{error};
    }
  }

 private:
  asio::steady_timer timer_;
  bool set_ = false;
};

asio::thread_pool& blocking_pool();  // for work that blocks: disk, decompression, name look-up

template <class Function>
auto settle_call(Function& function) {
  Settled<std::invoke_result_t<Function>> settled;
  try {
    settled.value.emplace(function());
  } catch (...) {
    settled.error = std::current_exception();
  }
  return settled;
}

// Runs a function that blocks on `where`, the pool or a strand of it. The function must not touch
// objects of the loop. Cancelling does not interrupt it: the waiting task ends after it.
// (co_spawn() would send a cancellation to the other thread as a pointer that may be gone by then.)
template <class Executor, class Function>
Task<std::invoke_result_t<Function>> run_blocking_on(Executor where, Function function) {
  if constexpr (std::is_void_v<std::invoke_result_t<Function>>) {
    auto with_value = [&function] { return function(), true; };
    co_await run_blocking_on(where, std::move(with_value));
  } else {
    using Result = Settled<std::invoke_result_t<Function>>;
    auto start = [&function, &where](auto resume) {
      auto loop = asio::make_work_guard(asio::get_associated_executor(resume));
      auto work = [&function, resume = std::move(resume), loop = std::move(loop)]() mutable {
        auto finish = [resume = std::move(resume), result = settle_call(function)]() mutable {
          std::move(resume)(std::move(result));
        };
        asio::post(loop.get_executor(), std::move(finish));
      };
      asio::post(where, std::move(work));
    };
    const auto& token = asio::use_awaitable;
    auto result = co_await asio::async_initiate<decltype(token), void(Result)>(start, token);
    if (result.error) std::rethrow_exception(result.error);
    co_return std::move(*result.value);
  }
}

template <class Function>
Task<std::invoke_result_t<Function>> run_blocking(Function function) {
  return run_blocking_on(blocking_pool().get_executor(), std::move(function));
}

}  // namespace belljar
