#include "drivers/linux/zygote/start_times.h"

#include <bit>
#include <cmath>
#include <span>

#include "drivers/linux/zygote/node_abi.h"
#include "drivers/linux/zygote/own_memory.h"

namespace belljar::zygote {

namespace {

// node::performance::PerformanceMilestone
enum Milestone : size_t {
  origin_timestamp,
  origin,
  environment,
  node_start,
  v8_start,
  loop_start,
  loop_exit,
  bootstrap_complete,
  kMilestones,
};

// The values are differences of large numbers.
bool is_near(double nanoseconds, double milliseconds) {
  return std::abs(nanoseconds / 1e6 - milliseconds) < 1e-4;
}

bool are_milestones(const double* values, const StartTimes::Known& known) {
  const double begin = values[origin];
  return begin > 0 && is_near(values[node_start] - begin, known.node_start) &&
         is_near(values[v8_start] - begin, known.v8_start) &&
         is_near(values[environment] - begin, known.environment) &&
         is_near(values[bootstrap_complete] - begin, known.bootstrap_complete);
}

// How uv_loop_t begins: a public structure, the same in all of libuv 1.x.
struct LoopBegin {
  void* data;
  unsigned active_handles;
  void* handle_queue[2];
  void* active_requests;
  uint64_t* internal_fields;
};
constexpr size_t kLoopFields = 19;  // up to and with the times that it was idle

}  // namespace

bool StartTimes::find(const Known& known, uv_loop_s* loop) {
  OwnMemory memory;
  size_t found = 0;
  memory.find(kMilestones, false, [&](const uint64_t* words, uint64_t* place) {
    if (!are_milestones(reinterpret_cast<const double*>(words), known)) return;
    milestones_ = reinterpret_cast<double*>(place);
    ++found;
  });
  if (found != 1) return false;
  // On the stack, which is not looked through.
  const auto begin = static_cast<uint64_t>(milestones_[origin]);
  const double timestamp = milestones_[origin_timestamp];
  memory.find(1, false, [&](const uint64_t* word, uint64_t* place) {
    if (*word == begin && origin_count_ < kMost) origins_[origin_count_++] = place;
    if (*word == std::bit_cast<uint64_t>(timestamp) && timestamp_count_ < kMost)
      timestamps_[timestamp_count_++] = reinterpret_cast<double*>(place);
  });
  begin_ = begin;
  timestamp_ = timestamp;
  return origin_count_ > 0 && origin_count_ < kMost && timestamp_count_ < kMost &&
         find_idle_time(loop);
}

// Beside what else libuv keeps for the loop: elsewhere any number may have the same value.
bool StartTimes::find_idle_time(uv_loop_s* loop) {
  const uint64_t idle = ::uv_metrics_idle_time(loop);
  if (idle == 0) return true;  // as in a process that has just booted
  uint64_t* const fields = reinterpret_cast<LoopBegin*>(loop)->internal_fields;
  size_t found = 0;
  for (uint64_t* field = fields; field < fields + kLoopFields; ++field) {
    if (*field != idle) continue;
    idle_time_ = field;
    ++found;
  }
  return found == 1;
}

void StartTimes::renew() {
  const double age = static_cast<double>(::uv_hrtime()) - milestones_[bootstrap_complete];
  for (const Milestone each : {origin, environment, node_start, v8_start, bootstrap_complete})
    milestones_[each] += age;
  milestones_[loop_start] = -1;
  if (idle_time_ != nullptr) *idle_time_ = 0;
  for (uint64_t* const place : std::span{origins_, origin_count_}) {
    if (*place == begin_) *place += static_cast<uint64_t>(age);
  }
  for (double* const place : std::span{timestamps_, timestamp_count_}) {
    if (*place == timestamp_) *place += age / 1e3;
  }
}

void StartTimes::mark_loop_start() {
  milestones_[loop_start] = static_cast<double>(::uv_hrtime());
}

}  // namespace belljar::zygote
