#pragma once

#include <string>

#include "mcp/active_call.h"
#include "mcp/client_requests.h"
#include "mcp/message.h"
#include "mcp/server.h"

namespace belljar::mcp {

// The answer to a request that may take time, whatever comes with it in its era: questions to the
// client, and calls that go on as tasks. `client` is whom legacy requests ask. Throws nothing but
// the cancellation of the call.
Task<Reply> answer_request(const Server& server, ClientRequests& client, std::string method,
                           json::object params, ActiveCall& call);

}  // namespace belljar::mcp
