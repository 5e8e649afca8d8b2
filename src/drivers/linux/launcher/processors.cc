#include "drivers/linux/launcher/processors.h"

#include <algorithm>
#include <cerrno>

namespace belljar::launcher {

int choose_processors(const std::vector<unsigned>& programs_per_cpu, unsigned here,
                      unsigned cpu_millis, cpu_set_t& chosen) {
  cpu_set_t available;
  if (::sched_getaffinity(0, sizeof available, &available) != 0) return errno;
  std::vector<std::pair<unsigned, unsigned>> order;  // programs there, and how far it is from here
  for (unsigned far = 0; far < CPU_SETSIZE; ++far) {
    const unsigned cpu = (here + far) % CPU_SETSIZE;
    if (CPU_ISSET(cpu, &available)) order.emplace_back(programs_per_cpu[cpu], far);
  }
  std::sort(order.begin(), order.end());
  const size_t wanted = std::max(1u, (cpu_millis + 999) / 1000);
  order.resize(std::min(order.size(), wanted));
  CPU_ZERO(&chosen);
  for (const auto& [programs, far] : order) CPU_SET((here + far) % CPU_SETSIZE, &chosen);
  return 0;
}

}  // namespace belljar::launcher
