#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "base/timeout.h"

namespace belljar {

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
