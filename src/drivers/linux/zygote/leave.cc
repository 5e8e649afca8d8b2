#include "drivers/linux/zygote/leave.h"

#include <linux/close_range.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace belljar::zygote {

#if defined(__x86_64__)

namespace {

std::atomic<uint32_t> has_let_go{0};  // 1: the other process holds no descriptor

// The C library's would set errno, which is the same one in both processes.
long raw_call(long number, long a = 0, long b = 0, long c = 0, long d = 0) {
  long result = number;
  register long fourth asm("r10") = d;
  asm volatile("syscall"
               : "+a"(result)
               : "D"(a), "S"(b), "d"(c), "r"(fourth)
               : "rcx", "r11", "memory");
  return result;
}

long address(const void* of) {
  return reinterpret_cast<long>(of);
}

// Holds the memory until the process has ended.
int hold(void* process) {
  raw_call(SYS_close_range, 0, ~0U, CLOSE_RANGE_UNSHARE);
  raw_call(SYS_setpriority, PRIO_PROCESS, 0, 19);  // whoever waits for the end comes first
  has_let_go.store(1, std::memory_order_release);
  raw_call(SYS_futex, address(&has_let_go), FUTEX_WAKE_PRIVATE, 1);
  // Whoever has learned of the end has things to do.
  const timespec moment{0, 5'000'000};
  do raw_call(SYS_nanosleep, address(&moment), 0);
  while (raw_call(SYS_getppid) == address(process));
  raw_call(SYS_exit, 0);
  return 0;
}

// Of two processes that share their memory the last one takes it apart, which lasts longer than
// many programs run. Where there is no room for another process, this one does it.
void leave_memory_behind() {
  alignas(16) static char stack[4096];
  const auto self = reinterpret_cast<void*>(static_cast<long>(::getpid()));
  constexpr int kShared = CLONE_VM | CLONE_FILES | CLONE_FS;
  if (::clone(hold, stack + sizeof stack, kShared, self) < 0) return;
  // Who reads what this process printed waits for the end of it. Not for ever: somebody may have
  // killed the other one.
  const timespec most{0, 100'000'000};
  if (has_let_go.load(std::memory_order_acquire) == 0)
    raw_call(SYS_futex, address(&has_let_go), FUTEX_WAIT_PRIVATE, 0, address(&most));
}

}  // namespace

#else

namespace {

void leave_memory_behind() {}

}  // namespace

#endif

void leave(int code) {
  leave_memory_behind();
  ::_exit(code);
}

}  // namespace belljar::zygote
