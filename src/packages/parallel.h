#pragma once

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

// Awaits work(0) … work(count - 1), four at a time. The first exception cancels the others and
// reaches the caller when they have ended.
inline Task<> in_parallel(size_t count, std::function<Task<>(size_t)> work) {
  using namespace asio::experimental::awaitable_operators;
  size_t next = 0;
  co_await ((take_turns(work, next, count) && take_turns(work, next, count)) &&
            (take_turns(work, next, count) && take_turns(work, next, count)));
}

}  // namespace belljar::packages
