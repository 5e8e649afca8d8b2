#pragma once

#include <functional>
#include <string_view>

#include "mcp/message.h"

namespace belljar::mcp {

// The page of a list that the `cursor` in `params` asks for: {"<name>": [entries], "nextCursor"?},
// or "Invalid cursor". Cursors are only good for the list they came from. A list that shrinks while
// a client walks it may skip entries; one that shrinks below the cursor makes the cursor invalid.
//
// `entry` makes the JSON of the entry at an index below `count`; it is called for this page only.
Reply make_page(std::string_view name, const json::object& params, size_t page_size, size_t count,
                const std::function<json::object(size_t)>& entry);

}  // namespace belljar::mcp
