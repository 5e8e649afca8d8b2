#include "files/watches.h"

#include <fmt/format.h>
#include <sys/inotify.h>

#include <algorithm>
#include <array>
#include <tuple>

namespace belljar::files {

namespace {

constexpr uint32_t kAppeared = IN_CREATE | IN_MOVED_TO;
// IN_CLOSE_WRITE is what remains of a write by mapping. No IN_DONT_FOLLOW: the path is a link of
// ours in /proc.
constexpr uint32_t kMask = kAppeared | IN_DELETE | IN_MOVED_FROM | IN_MODIFY | IN_ATTRIB |
                           IN_CLOSE_WRITE | IN_ONLYDIR | IN_EXCL_UNLINK;
constexpr size_t kMostFolders = 50'000;
// More than a full queue of the kernel (16,384 events by default) of usual names.
constexpr size_t kMostBytes = 4u << 20;

void sort_and_merge(std::vector<Watches::Event>& events) {
  std::sort(events.begin(), events.end(), [](const auto& a, const auto& b) {
    return std::tie(a.watch, a.name) < std::tie(b.watch, b.name);
  });
  size_t kept = 0;
  for (Watches::Event& event : events) {
    Watches::Event* last = kept > 0 ? &events[kept - 1] : nullptr;
    if (last != nullptr && last->watch == event.watch && last->name == event.name) {
      last->appeared |= event.appeared;
    } else if (Watches::Event& place = events[kept++]; &place != &event) {
      place = std::move(event);
    }
  }
  events.resize(kept);
}

}  // namespace

std::unique_ptr<Watches> Watches::make() {
  Fd inotify{::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)};
  if (!inotify) return nullptr;
  return std::unique_ptr<Watches>{new Watches{std::move(inotify)}};
}

void Watches::watch(Folder& folder, int fd) {
  if (failed_) return;
  const std::string path = fmt::format("/proc/self/fd/{}", fd);
  const int watch = by_folder_.size() < kMostFolders
                        ? ::inotify_add_watch(inotify_.get(), path.c_str(), kMask)
                        : -1;
  if (watch < 0) {
    failed_ = true;
    return;
  }
  const auto known = by_folder_.find(&folder);
  if (known != by_folder_.end() && known->second == watch) return;
  forget(folder);  // another directory is at its place
  if (Folder* former = this->folder(watch)) by_folder_.erase(former);  // the directory was moved
  by_watch_[watch] = &folder;
  by_folder_[&folder] = watch;
}

void Watches::forget(Folder& folder) {
  const auto known = by_folder_.find(&folder);
  if (known == by_folder_.end()) return;
  ::inotify_rm_watch(inotify_.get(), known->second);
  by_watch_.erase(known->second);
  by_folder_.erase(known);
}

Folder* Watches::folder(int watch) const {
  const auto found = by_watch_.find(watch);
  return found != by_watch_.end() ? found->second : nullptr;
}

std::optional<std::vector<Watches::Event>> Watches::drain() {
  std::vector<Event> events;
  alignas(inotify_event) std::array<char, 65536> buffer;
  for (size_t total = 0; total < kMostBytes;) {
    const ssize_t filled = ::read(inotify_.get(), buffer.data(), buffer.size());
    if (filled <= 0) {
      sort_and_merge(events);
      return events;
    }
    total += static_cast<size_t>(filled);
    for (ssize_t at = 0; at < filled;) {
      const auto* event = reinterpret_cast<const inotify_event*>(buffer.data() + at);
      at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
      if ((event->mask & IN_Q_OVERFLOW) != 0) return std::nullopt;
      if (event->len == 0) continue;  // about the folder itself; its parent has the event too
      const bool appeared = (event->mask & kAppeared) != 0;
      if (!events.empty() && events.back().watch == event->wd &&
          events.back().name == event->name) {
        events.back().appeared |= appeared;
      } else {
        events.push_back({event->wd, event->name, appeared});
      }
    }
  }
  return std::nullopt;
}

}  // namespace belljar::files
