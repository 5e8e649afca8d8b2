#pragma once

#include <memory>

#include "mcp/server.h"
#include "tools/file_watch.h"
#include "tools/shared_files.h"

namespace belljar::tools {

// Makes the files beneath FILES_DIR readable as resources `file://{+filepath}`, lists them,
// proposes their names, and has `watch` announce changes. A URI of anything else, whether it exists
// or not, is "not found". `watch` must outlive the connections of the server.
void add_file_resources(mcp::Server& server, std::shared_ptr<const SharedFiles> files,
                        FileWatch& watch);

}  // namespace belljar::tools
