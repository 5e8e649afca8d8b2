#pragma once

#include <algorithm>
#include <exception>
#include <functional>

#include "base/task.h"

namespace belljar::packages {

// Takes one number after the other until there is none left. `failure` is the first exception of
// all who take turns; those of the ones who are cancelled because of it come later.
inline Task<> take_turns(const std::function<Task<>(size_t)>& work, size_t& next, size_t count,
                         std::exception_ptr& failure) {
  while (next < count) {
    const size_t mine = next++;
    try {
      co_await work(mine);
    } catch (...) {
      if (!failure) failure = std::current_exception();
      throw;
    }
  }
}

inline Task<> take_turns_together(const std::function<Task<>(size_t)>& work, size_t& next,
                                  size_t count, size_t width, std::exception_ptr& failure) {
  using namespace asio::experimental::awaitable_operators;
  if (width <= 1)
    co_await take_turns(work, next, count, failure);
  else
    co_await (take_turns_together(work, next, count, width / 2, failure) &&
              take_turns_together(work, next, count, width - width / 2, failure));
}

// Awaits work(0) … work(count - 1), `width` at a time. The first exception cancels the others and
// reaches the caller when they have ended.
inline Task<> in_parallel(size_t count, std::function<Task<>(size_t)> work, size_t width = 4) {
  size_t next = 0;
  std::exception_ptr failure;
  bool has_failed = false;
  try {
    co_await take_turns_together(work, next, count, std::min(count, width), failure);
  } catch (...) {
    has_failed = true;  // with several exceptions, in the order of their places
    if (!failure) failure = std::current_exception();
  }
  if (has_failed) std::rethrow_exception(failure);
}

}  // namespace belljar::packages
