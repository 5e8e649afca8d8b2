#include "drivers/linux/zygote/fork_beside.h"

#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace belljar::zygote {

#ifdef __x86_64__

// System calls made from here are never caught: those of the handler itself, and its end.
asm(R"(
  .pushsection .text
  .type belljar_uncaught, @function
belljar_uncaught:
  mov %rdi, %rax
  mov %rsi, %rdi
  mov %rdx, %rsi
  mov %rcx, %rdx
  mov %r8, %r10
  mov %r9, %r8
  mov 8(%rsp), %r9
  syscall
  ret
  .size belljar_uncaught, . - belljar_uncaught
  .type belljar_end_handler, @function
belljar_end_handler:
  mov $15, %eax
  syscall
  ud2
  .size belljar_end_handler, . - belljar_end_handler
belljar_uncaught_end:
  .popsection
)");
extern "C" {
long belljar_uncaught(long number, ...);
void belljar_end_handler();
extern const char belljar_uncaught_end[];
}

namespace {

// Names that glibc 2.36 does not have yet.
constexpr int kSetUserDispatch = 59;
constexpr unsigned long kDispatchOff = 0;
constexpr unsigned long kDispatchOn = 1;

// What the kernel's sigaction looks like; the C library would put its own way back into it.
struct KernelAction {
  void (*handler)(int, siginfo_t*, void*);
  unsigned long flags;
  void (*restorer)();
  unsigned long mask;
};
constexpr unsigned long kRestorer = 0x04000000;

volatile char caught = 0;  // the kernel reads it: 1 while system calls are to be caught
int born_in = -1;

long clone_beside(int* child_tid) {
  clone_args arguments{};
  arguments.flags = CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | CLONE_PARENT;
  arguments.child_tid = reinterpret_cast<uint64_t>(child_tid);
  if (born_in >= 0) {
    arguments.flags |= CLONE_INTO_CGROUP;
    arguments.cgroup = static_cast<uint64_t>(born_in);
  }
  return belljar_uncaught(SYS_clone3, &arguments, sizeof arguments, 0L, 0L, 0L, 0L);
}

// Newer C libraries block all signals before the call that matters; then it could not be caught.
long block_others(long how, const void* set, void* old, size_t size) {
  uint64_t mask = set == nullptr ? 0 : *static_cast<const uint64_t*>(set);
  mask &= ~(1ull << (SIGSYS - 1));
  return belljar_uncaught(SYS_rt_sigprocmask, how, set == nullptr ? nullptr : &mask, old, size, 0L,
                          0L);
}

void on_call(int, siginfo_t*, void* raw) {
  auto* const context = static_cast<ucontext_t*>(raw);
  greg_t* const registers = context->uc_mcontext.gregs;
  const long number = registers[REG_RAX];
  const long a = registers[REG_RDI];
  const long b = registers[REG_RSI];
  const long c = registers[REG_RDX];
  const long d = registers[REG_R10];
  long result = 0;
  if (number == SYS_clone) {
    result = clone_beside(reinterpret_cast<int*>(d));
    // The child goes on from here in a copy of this stack; nothing is caught in it any more.
  } else if (number == SYS_rt_sigprocmask) {
    result = block_others(a, reinterpret_cast<const void*>(b), reinterpret_cast<void*>(c),
                          static_cast<size_t>(d));
  } else {
    result = belljar_uncaught(number, a, b, c, d, registers[REG_R8], registers[REG_R9]);
  }
  registers[REG_RAX] = result;
}

long set_handler(const KernelAction& action, KernelAction* old) {
  return ::syscall(SYS_rt_sigaction, SIGSYS, &action, old, sizeof action.mask);
}

}  // namespace

pid_t fork_beside(int cgroup) {
  const auto first = reinterpret_cast<unsigned long>(&belljar_uncaught);
  const auto end = reinterpret_cast<unsigned long>(belljar_uncaught_end);
  const KernelAction action{on_call, SA_SIGINFO | kRestorer, belljar_end_handler, 0};
  KernelAction before{};
  if (set_handler(action, &before) != 0) return -1;
  if (::prctl(kSetUserDispatch, kDispatchOn, first, end - first, &caught) != 0) return -1;
  born_in = cgroup;
  caught = 1;
  const pid_t child = ::fork();
  caught = 0;
  const int error = errno;
  ::prctl(kSetUserDispatch, kDispatchOff, 0, 0, 0);
  set_handler(before, nullptr);
  errno = error;
  return child;
}

#else

pid_t fork_beside(int) {
  errno = ENOSYS;  // the kernel has it on x86-64 only
  return -1;
}

#endif

}  // namespace belljar::zygote
