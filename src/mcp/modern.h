#pragma once

#include <optional>
#include <string_view>

#include "mcp/message.h"
#include "mcp/server.h"

// What only the revision 2026-07-28 has: the envelope of requests, and the extra members of
// results.
namespace belljar::mcp {

// True if the request says that it is of the modern era (its `_meta` names a protocol version),
// rightly or not. Eras are told apart by this, message by message.
bool claims_modern(const json::object& params);

// The two checks of a request that claims it, in the order in which they have to be made (HTTP
// checks its headers in between). The error, or nothing.
std::optional<RpcError> check_envelope(const json::object& params);
std::optional<RpcError> check_version(const json::object& params);

// The level the request asks logs at; nothing: it wants none. The envelope has been checked.
std::optional<LogLevel> requested_log_level(const json::object& params);

// The result of server/discover, still to be completed.
json::object discover(const Server& server);

// The client's capabilities. The envelope has been checked.
const json::object& declared_capabilities(const json::object& params);

// Adds resultType (unless it is there: then the result is no final one), the server's identity and,
// for methods whose results may be cached, the hints.
void complete_result(json::object& result, std::string_view method, const Server& server);

}  // namespace belljar::mcp
