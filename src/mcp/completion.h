#pragma once

#include "mcp/message.h"
#include "mcp/server.h"

namespace belljar::mcp {

// The method completion/complete: asks the server's completers. Nobody who knows is no error but an
// empty list; a prompt that does not exist is an error.
Task<Reply> complete(const Server& server, json::object params, Call& call);

}  // namespace belljar::mcp
