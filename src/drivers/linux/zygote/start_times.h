#pragma once

#include <cstddef>
#include <cstdint>

struct uv_loop_s;

namespace belljar::zygote {

// When the process was started, as `performance` tells it. Copies would tell when the zygote was.
// The fields are not exported; they are found by what `performance.nodeTiming` says of them.
class StartTimes {
 public:
  // Milliseconds since the start, as in performance.nodeTiming.
  struct Known {
    double environment;
    double node_start;
    double v8_start;
    double bootstrap_complete;
  };

  // In the zygote. False if they are not found.
  bool find(const Known& known, uv_loop_s* loop);

  // In a copy: as if it had just booted, and its loop had not begun yet.
  void renew();
  void mark_loop_start();

 private:
  bool find_idle_time(uv_loop_s* loop);

  static constexpr size_t kMost = 16;
  double* milestones_ = nullptr;
  uint64_t begin_ = 0;
  double timestamp_ = 0;
  // Where those two stand, or stood: garbage may have been collected since.
  uint64_t* origins_[kMost] = {};  // nanoseconds of the clock that never goes back
  size_t origin_count_ = 0;
  double* timestamps_[kMost] = {};  // microseconds since 1970
  size_t timestamp_count_ = 0;
  uint64_t* idle_time_ = nullptr;  // how long the loop has had nothing to do
};

}  // namespace belljar::zygote
