#pragma once

#include <string_view>

#include "base/json.h"

namespace belljar::mcp {

// Turns the blocks that a client of this protocol version does not know, and would reject the whole
// result for, into text: `audio` below 2025-03-26, `resource_link` below 2025-06-18.
void adapt_block(json::value& block, std::string_view version);
void adapt_blocks(json::array& blocks, std::string_view version);

}  // namespace belljar::mcp
