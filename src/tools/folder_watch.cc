#include "tools/folder_watch.h"

#include <fcntl.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>

#include "base/error.h"

namespace belljar::tools {

namespace {

constexpr size_t kMaxFolders = 512;
constexpr int kMaxReads = 64;

constexpr uint32_t kEvents = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_MODIFY |
                             IN_ATTRIB | IN_CLOSE_WRITE | IN_DELETE_SELF | IN_MOVE_SELF;

}  // namespace

FolderWatch::FolderWatch()
    : queue_{sys(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK), "make an inotify instance")} {}

Fd FolderWatch::events() const {
  return Fd{sys(::fcntl(queue_.get(), F_DUPFD_CLOEXEC, 3), "duplicate an inotify instance")};
}

void FolderWatch::add(const files::Directory& folder, std::set<int>& watches) {
  const std::string path = fmt::format("/proc/self/fd/{}", folder.handle());
  const int watch =
      ::inotify_add_watch(queue_.get(), path.c_str(), kEvents | IN_ONLYDIR | IN_EXCL_UNLINK);
  if (watch >= 0) watches.insert(watch);
}

bool FolderWatch::set(const files::Directory& directory, const std::vector<std::string>& folders) {
  std::set<int> watches;
  add(directory, watches);
  for (const std::string& folder : folders) {
    if (watches.size() >= kMaxFolders) break;
    try {
      add(directory.open_directory(folder), watches);
    } catch (const Error&) {
      continue;  // it has gone; the watch on its parent has seen that
    }
  }
  for (const int watch : watches_) {
    if (!watches.contains(watch)) ::inotify_rm_watch(queue_.get(), watch);
  }
  const bool more = !std::ranges::includes(watches_, watches);
  watches_ = std::move(watches);
  return more;
}

void FolderWatch::drain() {
  alignas(inotify_event) char events[16384];
  for (int i = 0; i < kMaxReads; ++i) {
    if (::read(queue_.get(), events, sizeof events) <= 0) return;
  }
}

}  // namespace belljar::tools
