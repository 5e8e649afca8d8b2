#include "drivers/linux/zygote/worker_tasks.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace belljar::zygote {

namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kThreads = 4;        // as Node.js has
constexpr uint8_t kUserBlocking = 2;  // v8::TaskPriority: somebody waits for it
constexpr size_t kMostTableEntries = 64;

class WorkerThreads {
 public:
  void post(std::unique_ptr<Task> task, bool is_awaited) {
    const std::lock_guard lock{mutex_};
    awaited_ += is_awaited ? 1 : 0;
    ready_.push_back({std::move(task), is_awaited});
    wake();
  }

  void post_delayed(std::unique_ptr<Task> task, double seconds) {
    const std::lock_guard lock{mutex_};
    const auto delay =
        std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    delayed_.emplace(Clock::now() + delay, std::move(task));
    wake();
  }

  // Until nobody waits for a task any more.
  void drain() {
    std::unique_lock lock{mutex_};
    while (threads_.empty() && !ready_.empty()) run_first(lock);
    nothing_awaited_.wait(lock, [this] { return awaited_ == 0; });
  }

  void rest() {
    std::vector<pthread_t> threads;
    {
      const std::lock_guard lock{mutex_};
      resting_ = true;
      changed_.notify_all();
      threads.swap(threads_);
    }
    for (const pthread_t thread : threads) ::pthread_join(thread, nullptr);
    resting_ = false;
  }

  // One is enough for most programs; each more costs time when the process ends.
  void keep_one() {
    rest();
    const std::lock_guard lock{mutex_};
    start();
  }

 private:
  struct Item {
    std::unique_ptr<Task> task;
    bool is_awaited = false;
  };

  // Threads that wait may have been given work already.
  void wake() {
    const bool are_too_few = threads_.empty() || ready_.size() > idle_;
    if (are_too_few && threads_.size() < kThreads) start();
    changed_.notify_one();
  }

  // A program may have used up all the threads it may have. Then those that are there do the work,
  // or whoever waits for it, or the next ones.
  void start() {
    pthread_t thread{};
    const auto body = [](void* self) -> void* {
      static_cast<WorkerThreads*>(self)->run();
      return nullptr;
    };
    if (::pthread_create(&thread, nullptr, body, this) == 0) threads_.push_back(thread);
  }

  void run() {
    std::unique_lock lock{mutex_};
    for (;;) {
      while (!delayed_.empty() && delayed_.begin()->first <= Clock::now()) {
        ready_.push_back({std::move(delayed_.begin()->second), false});
        delayed_.erase(delayed_.begin());
      }
      if (ready_.empty()) {
        if (resting_) return;
        ++idle_;
        if (delayed_.empty()) {
          changed_.wait(lock);
        } else {
          changed_.wait_until(lock, delayed_.begin()->first);
        }
        --idle_;
        continue;
      }
      run_first(lock);
    }
  }

  void run_first(std::unique_lock<std::mutex>& lock) {
    Item item = std::move(ready_.front());
    ready_.pop_front();
    lock.unlock();
    item.task->Run();
    item.task.reset();
    lock.lock();
    if (item.is_awaited && --awaited_ == 0) nothing_awaited_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::condition_variable nothing_awaited_;
  std::deque<Item> ready_;
  std::multimap<Clock::time_point, std::unique_ptr<Task>> delayed_;
  std::vector<pthread_t> threads_;
  size_t awaited_ = 0;
  size_t idle_ = 0;
  bool resting_ = false;
};

// Never destroyed: V8 posts tasks until the process ends.
WorkerThreads& workers() {
  static auto* const threads = new WorkerThreads;
  return *threads;
}

bool (*flush_foreground_tasks)(void*, void*) = nullptr;

// What stands in the table: member functions of the platform, as the ABI passes their arguments.

void post_task(void*, uint8_t priority, std::unique_ptr<Task> task, const void*) {
  workers().post(std::move(task), priority == kUserBlocking);
}

void post_delayed_task(void*, uint8_t, std::unique_ptr<Task> task, double seconds, const void*) {
  workers().post_delayed(std::move(task), seconds);
}

// Tasks of the foreground may post new ones for workers.
void drain_tasks(void* platform, void* isolate) {
  do {
    workers().drain();
  } while (flush_foreground_tasks(platform, isolate));
}

bool replace(void** table, void* from, void* to) {
  bool replaced = false;
  for (size_t i = 0; i < kMostTableEntries; ++i) {
    if (table[i] != from) continue;
    const auto page_size = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
    const uintptr_t address = reinterpret_cast<uintptr_t>(&table[i]);
    void* const page = reinterpret_cast<void*>(address & ~(page_size - 1));
    if (::mprotect(page, page_size, PROT_READ | PROT_WRITE) != 0) return false;
    table[i] = to;
    if (::mprotect(page, page_size, PROT_READ) != 0) return false;
    replaced = true;
  }
  return replaced;
}

}  // namespace

bool take_over_worker_tasks(const NodeSymbols& symbols) {
  flush_foreground_tasks = symbols.flush_foreground_tasks;
  auto** const table = static_cast<void**>(symbols.platform_table);
  return replace(table, symbols.post_task, reinterpret_cast<void*>(post_task)) &&
         replace(table, symbols.post_delayed_task, reinterpret_cast<void*>(post_delayed_task)) &&
         replace(table, symbols.drain_tasks, reinterpret_cast<void*>(drain_tasks));
}

void rest_worker_threads() {
  workers().rest();
}

void keep_one_worker_thread() {
  workers().keep_one();
}

}  // namespace belljar::zygote
