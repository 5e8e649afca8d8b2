#pragma once

#include <memory>
#include <string>

#include "base/posix.h"
#include "files/tracked_files.h"

namespace belljar::tools {

// The operator's files directory, which every sandbox sees as ./files.
struct FilesDirectory {
  // Error{invalid} if `path` is not a directory that can be shared.
  explicit FilesDirectory(const std::string& path);

  std::string path;                  // absolute, links resolved
  std::shared_ptr<const Fd> handle;  // for sandboxes
  files::Directory directory;
  std::shared_ptr<files::TrackedFiles> tracked;
};

}  // namespace belljar::tools
