#pragma once

#include <optional>
#include <string>

#include "base/json.h"
#include "files/tracked_files.h"
#include "tools/tools.h"

namespace belljar::tools {

// What a run changed in ./files, for the client.
struct FileReport {
  json::array blocks;  // the list as text, then images and resources; nothing if nothing changed
  json::array fields;  // {path, change, size, mimeType, uri}
};

// How much of it is returned.
struct FileLimits {
  size_t listed = 500;          // lines of the list and entries of `fields`
  size_t returned = 100;        // files with blocks of their own
  uint64_t image = 8u << 20;    // bytes of one image that is shown
  uint64_t content = 1u << 20;  // bytes of another file
  uint64_t total = 24u << 20;   // bytes of all of them
};

// Reads what changed. `host_path` is where the directory is on the host; if it is nowhere ("") the
// content of files is returned, because there is no other way to get it. Blocks.
FileReport describe_changes(const files::Directory& directory, const files::Changes& changes,
                            const std::string& host_path, const FileLimits& limits);

// Follows ./files of a sandbox from the beginning of a run to its end.
class FilesOfRun {
 public:
  static Task<FilesOfRun> begin(const Context& context, Lease& lease);
  Task<FileReport> finish();

 private:
  std::shared_ptr<files::TrackedFiles> tracked_;  // null: there is nothing to follow
  std::optional<files::ChangeTracker::Mark> mark_;
  std::shared_ptr<files::Directory> parent_;  // in which `name_` is the files directory
  std::string name_;
  std::string host_path_;
};

}  // namespace belljar::tools
