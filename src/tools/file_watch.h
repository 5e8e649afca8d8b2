#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/task_group.h"
#include "mcp/server.h"
#include "tools/folder_watch.h"
#include "tools/shared_files.h"

namespace belljar::tools {

struct FileWatchOptions {
  milliseconds pause{200};  // between two looks, but at least
  int rest = 9;             // times as long as a look took: then it uses a tenth of a core
};

// Tells clients what changes in FILES_DIR, while and only while some client wants to know. However
// much programs write there, it looks no more often than five times a second, at no more than a
// fixed number of files, and never uses more than a tenth of a core.
//
//   FileWatch watch{executor, server, files};
//   add_file_resources(server, files, watch);
//   co_await watch.stop();  // must be awaited before the destructor
class FileWatch {
 public:
  // Does nothing until a client is interested. `server` must outlive this.
  FileWatch(const asio::any_io_executor& executor, mcp::Server& server,
            std::shared_ptr<const SharedFiles> files, FileWatchOptions options = {});

  // Begins, adapts or ends the watch according to Server::resource_interest().
  void interest_changed();

  // The list of files as it was found just now. Announces a change if it is not the last one.
  void observe_list(std::vector<std::string> paths);

  Task<> stop();

 private:
  // What a file was like. `unsettled`: it had just been written, and the clock of the file system
  // is coarse, so it may have changed since without looking any different.
  struct Look {
    bool exists = false;
    uint64_t inode = 0;
    uint64_t size = 0;
    int64_t mtime = 0;
    int64_t ctime = 0;
    bool unsettled = false;

    bool operator==(const Look&) const = default;
  };
  struct Watched {
    std::string path;
    Look look;
  };
  using WatchedFiles = std::map<std::string, Watched>;  // by URI, as the client wrote it

  struct Round {
    std::vector<std::string> paths;  // of all files
    WatchedFiles watched;
    bool unsettled = false;
    std::chrono::nanoseconds cost{0};  // of processor time
  };

  static Look look_at(const SharedFiles& files, const std::string& path);
  static Round look_around(FolderWatch& folders, const SharedFiles& files, WatchedFiles watched);
  Task<> watch();
  Task<Round> look(std::shared_ptr<FolderWatch> folders);
  void take_up(const std::set<std::string, std::less<>>& uris);
  void apply(Round round);

  mcp::Server& server_;
  std::shared_ptr<const SharedFiles> files_;
  FileWatchOptions options_;
  WatchedFiles watched_;
  std::optional<std::vector<std::string>> listed_;  // the list that clients know
  bool list_wanted_ = false;
  std::optional<TaskGroup::Id> watching_;
  TaskGroup tasks_;
};

}  // namespace belljar::tools
