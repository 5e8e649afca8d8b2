#pragma once

#include <optional>
#include <string_view>

#include "mcp/message.h"
#include "mcp/server.h"
#include "net/http_exchange.h"

// What the headers of Streamable HTTP say, and answers that consist of an error.
namespace belljar::mcp {

// A header that was sent, once; nothing if it was not. One that was sent twice counts as "": no
// value that anything is equal to.
std::optional<std::string_view> find_header(const net::HttpServerRequest& request,
                                            std::string_view name);

// True if the Content-Type is application/json, whatever its parameters.
bool is_json(const net::HttpServerRequest& request);

// True if the client takes this type; without an Accept header it takes everything.
bool accepts(const net::HttpServerRequest& request, std::string_view type);

// True if the Accept header names the type itself.
bool names_type(const net::HttpServerRequest& request, std::string_view type);

// True if MCP-Protocol-Version says that this is no message of the legacy era.
bool has_modern_header(const net::HttpServerRequest& request);

// The checks of a request that claims to be modern, in the order in which they have to be made, up
// to those that need to know the method.
std::optional<RpcError> check_modern(const net::HttpServerRequest& request, const Message& message,
                                     const Server& server);

// The answer to a request that is refused before any method runs.
net::HttpAnswer refusal(int status, const std::optional<Id>& id, const RpcError& error);

}  // namespace belljar::mcp
