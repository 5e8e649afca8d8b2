#pragma once

#include <algorithm>
#include <boost/asio/multiple_exceptions.hpp>
#include <exception>
#include <functional>

#include "base/task.h"

namespace belljar::packages {

// Takes one number after the other until there is none left.
inline Task<> take_turns(const std::function<Task<>(size_t)>& work, size_t& next, size_t count) {
  while (next < count) {
    const size_t mine = next++;
    co_await work(mine);
  }
}

inline Task<> take_turns_together(const std::function<Task<>(size_t)>& work, size_t& next,
                                  size_t count, size_t width) {
  using namespace asio::experimental::awaitable_operators;
  if (width <= 1)
    co_await take_turns(work, next, count);
  else
    co_await (take_turns_together(work, next, count, width / 2) &&
              take_turns_together(work, next, count, width - width / 2));
}

// The exceptions of those that were cancelled come along with that of the one that failed.
[[noreturn]] inline void rethrow_first(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const asio::multiple_exceptions& several) {
    rethrow_first(several.first_exception());
  }
}

// Awaits work(0) … work(count - 1), `width` at a time. The first exception cancels the others and
// reaches the caller when they have ended.
inline Task<> in_parallel(size_t count, std::function<Task<>(size_t)> work, size_t width = 4) {
  size_t next = 0;
  std::exception_ptr error;
  try {
    co_await take_turns_together(work, next, count, std::min(count, width));
  } catch (...) {
    error = std::current_exception();
  }
  if (error) rethrow_first(error);
}

}  // namespace belljar::packages
