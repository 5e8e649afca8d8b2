#include "drivers/linux/zygote/thread_id.h"

#include <pthread.h>
#include <unistd.h>

#include <cstdint>

namespace belljar::zygote {

namespace {

// The thread-local variables of a program lie directly below what pthread_self() points to.
constexpr uintptr_t kSearched = 1024;
constexpr pid_t kUnmistakable = 10000;

int* first_variable() {
  return reinterpret_cast<int*>(static_cast<uintptr_t>(::pthread_self()) - kSearched);
}

int count_of(pid_t id) {
  int count = 0;
  for (size_t i = 0; i < kSearched / sizeof(int); ++i) count += first_variable()[i] == id ? 1 : 0;
  return count;
}

}  // namespace

bool thread_id_is_known() {
  return ::gettid() >= kUnmistakable && count_of(::gettid()) <= 1;
}

void renew_thread_id(pid_t old) {
  int* const variables = first_variable();
  for (size_t i = 0; i < kSearched / sizeof(int); ++i) {
    if (variables[i] == old) variables[i] = ::gettid();
  }
}

}  // namespace belljar::zygote
