#pragma once

#include <memory>
#include <string>

#include "base/posix.h"
#include "files/tracked_files.h"
#include "tools/shared_files.h"

namespace belljar::tools {

// The operator's files directory, FILES_DIR, which every sandbox sees as ./files.
struct FilesDirectory {
  // Error{invalid} if `path` is not a directory, or none that may be shared.
  explicit FilesDirectory(const std::string& path);

  std::shared_ptr<const Fd> handle;              // for sandboxes
  std::shared_ptr<const SharedFiles> shared;     // for looking at files
  std::shared_ptr<files::TrackedFiles> tracked;  // for reports
};

}  // namespace belljar::tools
