#include "packages/beneath.h"

#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace belljar::packages {

int open_beneath(int directory, const char* path, uint64_t flags, uint64_t mode) {
  open_how how{};
  how.flags = flags | O_CLOEXEC | O_NOFOLLOW;
  how.mode = mode;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  return static_cast<int>(::syscall(SYS_openat2, directory, path, &how, sizeof(how)));
}

}  // namespace belljar::packages
