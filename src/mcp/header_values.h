#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "mcp/message.h"

// Values of a request that modern HTTP clients repeat in headers, for proxies that do not read
// bodies: Mcp-Name, and Mcp-Param-… for arguments whose schema says so. The body counts; a header
// that says something else is an error, because a proxy may have decided by it.
namespace belljar::mcp {

// What a header means: its text without the white space around it, or what `=?base64?…?=` encodes.
// Nothing if it is not well-formed: other characters than printable ASCII, base64 that is not in
// canonical form, or an encoded text that is not UTF-8.
std::optional<std::string> decode_header_value(std::string_view raw);

// The value of a header by its name, whatever the case of letters; nothing if it was not sent.
using HeaderLookup = std::function<std::optional<std::string_view>(std::string_view name)>;

// The text that Mcp-Name has to repeat: the name of a tool or prompt, the URI of a resource, the id
// of a task. Nothing if the method or these parameters have none.
std::optional<std::string_view> name_to_repeat(std::string_view method, const json::object& params);

// The error -32020 if Mcp-Name is not what the request is about.
std::optional<RpcError> check_name_header(std::string_view method, const json::object& params,
                                          const HeaderLookup& header);

// The error -32020 if an argument whose schema has "x-mcp-header": "<Name>" is not repeated in
// Mcp-Param-<Name>. Arguments that are absent or null need no header, and one that is sent for them
// is ignored.
std::optional<RpcError> check_param_headers(const json::object& input_schema,
                                            const json::object& arguments,
                                            const HeaderLookup& header);

}  // namespace belljar::mcp
