#include "drivers/linux/demand.h"

namespace belljar::linux_driver {

void Demand::taken(Clock::Time now) {
  last_ = now;
  while (!open_.empty() && open_.front() <= now - kBurst) open_.pop_front();
  open_.push_back(now);
  // A peak that is neither higher nor later than this one says nothing any more.
  while (!peaks_.empty() && peaks_.back().height <= open_.size()) peaks_.pop_back();
  while (!peaks_.empty() && peaks_.front().time <= now - kLately) peaks_.pop_front();
  peaks_.push_back({now, open_.size()});
}

void Demand::made() {
  if (!open_.empty()) open_.pop_front();
}

size_t Demand::peak(Clock::Time now) const {
  for (const Peak& peak : peaks_) {
    if (peak.time > now - kLately) return peak.height;
  }
  return 0;
}

}  // namespace belljar::linux_driver
