#pragma once

#include <optional>
#include <string>

#include "mcp/message.h"
#include "mcp/server.h"

// The methods that both eras share: tools/*, prompts/*, resources/{list,templates/list,read} and
// completion/complete. They hold no state of a connection.
namespace belljar::mcp {

// True if this is one of those methods and something is registered for it. What is not offered is
// answered with "Method not found".
bool is_offered(const Server& server, std::string_view method);

// The result of a method that needs no waiting: the lists of what is registered. Nothing for the
// others.
std::optional<Reply> answer_at_once(const Server& server, const std::string& method,
                                    const json::object& params);

// The result of one of the other methods, in the terms of the protocol `version`, without what
// complete_result() adds. Faults become results or errors; throws nothing.
Task<Reply> perform(const Server& server, std::string method, json::object params,
                    std::string version, Call& call);

}  // namespace belljar::mcp
