#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "drivers/linux/launcher/seccomp.h"
#include "drivers/linux/launcher/weak.h"

namespace belljar::launcher {

namespace {

int load(const std::vector<sock_filter>& program) {
  sock_fprog code{static_cast<unsigned short>(program.size()),
                  const_cast<sock_filter*>(program.data())};
  return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &code) == 0 ? 0 : errno;
}

}  // namespace

int load_filters(const SeccompFilters& filters) {
  const int error = is_left_out("seccomp arguments") ? 0 : load(filters.arguments);
  if (error != 0 || is_left_out("seccomp names")) return error;
  return load(filters.names);
}

}  // namespace belljar::launcher
