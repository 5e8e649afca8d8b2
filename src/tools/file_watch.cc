#include "tools/file_watch.h"

#include <boost/asio/posix/stream_descriptor.hpp>

namespace belljar::tools {

namespace {

constexpr size_t kMaxWatched = 1024;
constexpr int kMaxPasses = 3;
constexpr milliseconds kClockTick{20};  // the coarsest clock of a kernel is 10 ms

int64_t in_ns(const timespec& time) {
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

// Of this thread.
std::chrono::nanoseconds cpu_time() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::nanoseconds{in_ns(time)};
}

// Where to watch: first where the files are that somebody waits for, then wherever files are.
std::vector<std::string> folders_of_interest(const std::vector<std::string>& watched_paths,
                                             const FileList& list) {
  std::vector<std::string> folders;
  for (const std::string& path : watched_paths) {
    const size_t slash = path.rfind('/');
    if (slash != std::string::npos) folders.push_back(path.substr(0, slash));
  }
  folders.insert(folders.end(), list.folders.begin(), list.folders.end());
  return folders;
}

}  // namespace

FileWatch::FileWatch(const asio::any_io_executor& executor, mcp::Server& server,
                     std::shared_ptr<const SharedFiles> files, FileWatchOptions options)
    : server_{server}, files_{std::move(files)}, options_{options}, tasks_{executor} {}

FileWatch::Look FileWatch::look_at(const SharedFiles& files, const std::string& path) {
  std::optional<files::Info> info;
  try {
    info = files.directory.look(path);
  } catch (const Error&) {
    return Look{};  // what cannot be looked at cannot be read either
  }
  if (!info) return Look{};
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  const int64_t changed = in_ns(info->ctime);
  const bool unsettled = in_ns(now) - changed < std::chrono::nanoseconds{kClockTick}.count();
  return Look{true, info->inode, info->size, in_ns(info->mtime), changed, unsettled};
}

void FileWatch::interest_changed() {
  const mcp::ResourceInterest interest = server_.resource_interest();
  take_up(interest.uris);
  list_wanted_ = interest.list;
  if (!list_wanted_) listed_.reset();
  if (interest.empty() && watching_) {
    tasks_.cancel(*watching_);
    watching_.reset();
  } else if (!interest.empty() && !watching_) {
    watching_ = tasks_.spawn("watch files", watch());
  }
}

// At once, so that whatever happens after the client has its answer is a change.
void FileWatch::take_up(const std::set<std::string, std::less<>>& uris) {
  std::erase_if(watched_, [&uris](const auto& entry) { return !uris.contains(entry.first); });
  for (const std::string& uri : uris) {
    if (watched_.size() >= kMaxWatched) break;
    if (watched_.contains(uri)) continue;
    if (auto path = path_of_uri(*files_, uri)) {
      const Look look = look_at(*files_, *path);
      watched_.emplace(uri, Watched{std::move(*path), look});
    }
  }
}

FileWatch::Round FileWatch::look_around(FolderWatch& folders, const SharedFiles& files,
                                        WatchedFiles watched) {
  folders.drain();  // before looking: what happens from here on wakes us again
  const auto begin = cpu_time();
  std::vector<std::string> waited_for;
  for (const auto& [uri, file] : watched) waited_for.push_back(file.path);
  FileList list = list_files(files);
  for (int i = 0; i < kMaxPasses; ++i) {
    if (!folders.set(files.directory, folders_of_interest(waited_for, list))) break;
    list = list_files(files);
  }
  Round round;
  round.paths = std::move(list.files);
  round.watched = std::move(watched);
  for (auto& [uri, file] : round.watched) {
    file.look = look_at(files, file.path);
    round.unsettled |= file.look.unsettled;
  }
  round.cost = cpu_time() - begin;
  return round;
}

Task<FileWatch::Round> FileWatch::look(std::shared_ptr<FolderWatch> folders) {
  auto work = [folders, files = files_, watched = watched_] {
    return look_around(*folders, *files, watched);
  };
  co_return co_await run_blocking(std::move(work));
}

Task<> FileWatch::watch() {
  const auto folders = std::make_shared<FolderWatch>();
  asio::posix::stream_descriptor events{co_await asio::this_coro::executor,
                                        folders->events().release()};
  while (true) {
    Round round = co_await look(folders);
    const auto rest = options_.rest * round.cost;
    if (round.unsettled) {
      co_await sleep_for(kClockTick);
      round = co_await look(folders);
    }
    apply(std::move(round));
    co_await events.async_wait(asio::posix::stream_descriptor::wait_read, asio::use_awaitable);
    co_await sleep_for(std::max<std::chrono::steady_clock::duration>(options_.pause, rest));
  }
}

void FileWatch::apply(Round round) {
  for (const auto& [uri, file] : round.watched) {
    const auto at = watched_.find(uri);
    if (at == watched_.end()) continue;
    const bool changed = file.look != at->second.look || at->second.look.unsettled;
    at->second.look = file.look;
    if (changed) server_.announce_resource_updated(uri);
  }
  observe_list(std::move(round.paths));
}

void FileWatch::observe_list(std::vector<std::string> paths) {
  if (!list_wanted_) return;
  const bool changed = listed_ && *listed_ != paths;
  listed_ = std::move(paths);
  if (changed) server_.announce_resources_changed();
}

Task<> FileWatch::stop() {
  co_await tasks_.stop();
}

}  // namespace belljar::tools
