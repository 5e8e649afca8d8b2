#include "drivers/linux/zygote/ghosts.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

namespace belljar::zygote {

namespace {

// Fixed tables and no constructor: threads may be started before this library is initialised, and
// nothing here may allocate.
constexpr size_t kMost = 256;

struct Table {
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_t threads[kMost] = {};  // living ones; in a child its ghosts
  size_t thread_count = 0;
  struct {
    pthread_t thread;
    pthread_cond_t* condition;
  } waiters[kMost] = {};
  size_t waiter_count = 0;
  bool overflowed = false;
};
constinit Table table;
constinit std::atomic<bool> is_child{false};

class Locked {
 public:
  Locked() { ::pthread_mutex_lock(&table.lock); }
  ~Locked() { ::pthread_mutex_unlock(&table.lock); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
};

// The function that this library's one of the same name stands before.
template <class Function>
Function next(const char* name, const char* version = nullptr) {
  void* symbol = version == nullptr ? ::dlsym(RTLD_NEXT, name) : ::dlvsym(RTLD_NEXT, name, version);
  return reinterpret_cast<Function>(symbol);
}

bool forget_thread(pthread_t thread) {
  pthread_t* const end = table.threads + table.thread_count;
  pthread_t* const at = std::find(table.threads, end, thread);
  if (at == end) return false;
  *at = *(end - 1);
  --table.thread_count;
  return true;
}

void remember_thread(pthread_t thread) {
  if (table.thread_count == kMost) {
    table.overflowed = true;
    return;
  }
  table.threads[table.thread_count++] = thread;
}

// While a thread waits for a condition of the zygote's.
class Waiting {
 public:
  explicit Waiting(pthread_cond_t* condition) {
    const Locked locked;
    if (table.waiter_count == kMost) {
      table.overflowed = true;
      return;
    }
    table.waiters[table.waiter_count++] = {::pthread_self(), condition};
  }
  ~Waiting() {
    const Locked locked;
    for (size_t i = 0; i < table.waiter_count; ++i) {
      if (table.waiters[i].thread != ::pthread_self()) continue;
      table.waiters[i] = table.waiters[--table.waiter_count];
      return;
    }
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
};

}  // namespace

bool threads_are_known() {
  const Locked locked;
  return !table.overflowed;
}

void lay_ghosts() {
  is_child.store(true, std::memory_order_relaxed);
  table.lock = PTHREAD_MUTEX_INITIALIZER;
  // Who signals or destroys a condition with ghosts waiting for it would wait for them.
  for (size_t i = 0; i < table.waiter_count; ++i) {
    pthread_cond_t* const condition = table.waiters[i].condition;
    pthread_condattr_t attributes;
    ::pthread_condattr_init(&attributes);
    // It keeps its clock; the C library has no function that tells it.
    constexpr unsigned kMonotonic = 2;
    if ((condition->__data.__wrefs & kMonotonic) != 0)
      ::pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    ::pthread_cond_init(condition, &attributes);
  }
  table.waiter_count = 0;
}

}  // namespace belljar::zygote

using namespace belljar::zygote;

#pragma GCC visibility push(default)
extern "C" {

// V8 asks that its memory be left out of children.
int madvise(void* address, size_t length, int advice) noexcept {
  if (advice == MADV_DONTFORK && !is_child.load(std::memory_order_relaxed)) return 0;
  return static_cast<int>(::syscall(SYS_madvise, address, length, advice));
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*),
                   void* argument) {
  static const auto real =
      next<int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>("pthread_create");
  const int error = real(thread, attributes, body, argument);
  if (error != 0) return error;
  const Locked locked;
  if (is_child.load(std::memory_order_relaxed)) {
    forget_thread(*thread);  // it may have got the place of a ghost
  } else {
    remember_thread(*thread);
  }
  return 0;
}

int pthread_join(pthread_t thread, void** result) {
  static const auto real = next<int (*)(pthread_t, void**)>("pthread_join");
  {
    const Locked locked;
    const bool known = forget_thread(thread);
    if (known && is_child.load(std::memory_order_relaxed)) return 0;
  }
  return real(thread, result);
}

int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  static const auto real =
      next<int (*)(pthread_cond_t*, pthread_mutex_t*)>("pthread_cond_wait", "GLIBC_2.3.2");
  if (is_child.load(std::memory_order_relaxed)) return real(condition, mutex);
  const Waiting waiting{condition};
  return real(condition, mutex);
}

int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                           const timespec* until) {
  static const auto real = next<int (*)(pthread_cond_t*, pthread_mutex_t*, const timespec*)>(
      "pthread_cond_timedwait", "GLIBC_2.3.2");
  if (is_child.load(std::memory_order_relaxed)) return real(condition, mutex, until);
  const Waiting waiting{condition};
  return real(condition, mutex, until);
}
}
#pragma GCC visibility pop
