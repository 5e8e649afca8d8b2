#pragma once

#include <memory>
#include <string>

#include "files/directory.h"
#include "sandbox/lease.h"
#include "tools/tools.h"

namespace belljar::tools {

// A path that a client gave, and where to look for it from outside. /workspace/files may be a
// directory of the host, which has a handle of its own.
struct Place {
  std::shared_ptr<files::Directory> directory;
  std::string path;    // beneath it
  std::string prefix;  // what the directory is called from /workspace: "" or "files/"
};

// `path` is relative to /workspace; Error{invalid} for anything else, Error{unavailable} if the
// sandbox was stopped.
Place find_place(const Context& context, const Lease& lease, const std::string& path);

}  // namespace belljar::tools
