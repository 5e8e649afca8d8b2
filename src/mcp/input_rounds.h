#pragma once

#include <string>

#include "mcp/active_call.h"
#include "mcp/client_requests.h"
#include "mcp/message.h"
#include "mcp/server.h"

// Handlers that ask the client before they answer: in the modern era the question is the result of
// the request, and the client makes another one with the answers; in the legacy era we ask, on the
// stream of the request, and call the handler again. Handlers see no difference.
namespace belljar::mcp {

// True if whoever serves this request may ask.
bool may_ask(const Server& server, std::string_view method, const json::object& params);

// The error of a client that cannot be asked what it should be.
RpcError missing_capability(json::object required);

// Modern: reads what the request brings of an earlier round; the error if that is not what we gave
// the client. `binding` is that of the request.
std::optional<RpcError> take_round(const Server& server, const std::string& binding,
                                   const json::object& params, InputRound& round);

// Modern: the result that asks, for the same request.
Reply ask_by_result(const Server& server, const std::string& binding, const InputRequired& question,
                    const json::object& capabilities);

// Legacy: perform(), with as many rounds as the handler needs (ten at most).
Task<Reply> perform_rounds(const Server& server, ClientRequests& client, std::string method,
                           json::object params, ActiveCall& call);

}  // namespace belljar::mcp
