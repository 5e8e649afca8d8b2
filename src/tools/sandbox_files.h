#pragma once

#include <memory>
#include <string>

#include "files/directory.h"
#include "sandbox/lease.h"
#include "tools/tools.h"

namespace belljar::tools {

// A path that a client gave, and where to look for it from outside. /workspace/files may be a
// directory of the host, and packages are mounted at /workspace/node_modules: these have handles of
// their own.
struct Place {
  std::shared_ptr<files::Directory> directory;
  std::string path;    // beneath it
  std::string prefix;  // what the directory is called from /workspace: "", "files/", …
};

// `path` is relative to /workspace; Error{invalid} for anything else, Error{unavailable} if the
// sandbox was stopped.
Place find_place(const Context& context, const Lease& lease, const std::string& path);

// node_modules of a sandbox as its programs see it, packages that are mounted there included; no
// handle if there is none.
Fd open_node_modules(const Lease& lease);

}  // namespace belljar::tools
