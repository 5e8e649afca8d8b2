#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <exception>
#include <optional>
#include <utility>
#include <variant>

// Part of base/task.h.
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

// Ends when it is cancelled, too: what is thrown only to be forgotten takes time all the same.
inline Task<> sleep_at_most(std::chrono::steady_clock::duration time) {
  asio::steady_timer timer{co_await asio::this_coro::executor, time};
  boost::system::error_code ignored;
  co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
}

// Runs `task`, but no longer than `limit`: its result or its exception, or nothing if the time ran
// out (the task is then cancelled and has ended). A task that ignores cancellation makes this wait
// for it.
template <class T>
Task<std::optional<T>> with_timeout(std::chrono::steady_clock::duration limit, Task<T> task) {
  using namespace asio::experimental::awaitable_operators;
  // `||` waits for the first success, so one that fails would wait for the timer: settle it first.
  auto result = co_await (settle(std::move(task)) || sleep_at_most(limit));
  if (result.index() == 1) {
    const asio::cancellation_state state = co_await asio::this_coro::cancellation_state;
    if (state.cancelled() == asio::cancellation_type::none) co_return std::nullopt;
    throw boost::system::system_error{asio::error::operation_aborted};
  }
  Settled<T>& settled = std::get<0>(result);
  if (settled.error) std::rethrow_exception(settled.error);
  co_return std::move(settled.value);
}

// True if the task ended in time.
inline Task<bool> with_timeout(std::chrono::steady_clock::duration limit, Task<> task) {
  const auto result = co_await with_timeout(limit, ended(std::move(task)));
  co_return result.has_value();
}

}  // namespace belljar
