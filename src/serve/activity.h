#pragma once

#include <cstddef>

#include "base/task.h"

namespace belljar::serve {

// What is under way, so that somebody can wait for its end.
class Activity {
 public:
  explicit Activity(const asio::any_io_executor& executor)
      : idle_{executor, std::chrono::steady_clock::time_point::max()} {}

  class Hold {
   public:
    explicit Hold(Activity& activity) : activity_{activity} { ++activity_.count_; }
    ~Hold() {
      if (--activity_.count_ == 0) activity_.idle_.cancel();
    }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

   private:
    Activity& activity_;
  };

  size_t count() const { return count_; }

  Task<> until_idle() {
    while (count_ > 0) {
      boost::system::error_code error;
      co_await idle_.async_wait(asio::redirect_error(asio::use_awaitable, error));
      const auto state = co_await asio::this_coro::cancellation_state;
      if (state.cancelled() != asio::cancellation_type::none)
        throw boost::system::system_error{error};
    }
  }

 private:
  size_t count_ = 0;
  asio::steady_timer idle_;
};

}  // namespace belljar::serve
