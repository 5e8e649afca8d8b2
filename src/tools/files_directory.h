#pragma once

#include <memory>
#include <string>

#include "base/posix.h"
#include "files/tracked_files.h"
#include "tools/shared_files.h"

namespace belljar::tools {

// The operator's files directory, FILES_DIR, which every sandbox sees as ./files.
struct FilesDirectory {
  // `path` is for people. `view` is the same directory as belljar can read it; it is duplicated.
  FilesDirectory(const std::string& path, Fd directory, int view);

  std::shared_ptr<const Fd> handle;              // for sandboxes
  std::shared_ptr<const SharedFiles> shared;     // for looking at files
  std::shared_ptr<files::TrackedFiles> tracked;  // for reports
};

// Error{invalid} if `path` is not a directory, or none that may be shared.
Fd open_files_directory(const std::string& path);

}  // namespace belljar::tools
