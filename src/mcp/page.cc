#include "mcp/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "mcp/protocol.h"

namespace belljar::mcp {

namespace {

// Cursors look like "tools:100". Nothing if it is not one of ours for this list.
std::optional<size_t> read_cursor(std::string_view cursor, std::string_view name, size_t count) {
  if (!cursor.starts_with(name)) return std::nullopt;
  cursor.remove_prefix(name.size());
  if (!cursor.starts_with(':')) return std::nullopt;
  cursor.remove_prefix(1);
  size_t offset = 0;
  const auto [end, error] = std::from_chars(cursor.begin(), cursor.end(), offset);
  if (error != std::errc{} || end != cursor.end() || offset >= count) return std::nullopt;
  return offset;
}

}  // namespace

Reply make_page(std::string_view name, const json::object& params, size_t page_size, size_t count,
                const std::function<json::object(size_t)>& entry) {
  size_t first = 0;
  if (const json::value* cursor = find(params, "cursor")) {
    const auto offset =
        cursor->is_string() ? read_cursor(cursor->get_string(), name, count) : std::nullopt;
    if (!offset) return RpcError{kInvalidParams, "Invalid cursor"};
    first = *offset;
  }
  const size_t last = std::min(count, first + page_size);
  json::array entries;
  entries.reserve(last - first);
  for (size_t i = first; i < last; ++i) entries.emplace_back(entry(i));
  json::object result;
  result.emplace(name, std::move(entries));
  if (last < count) result.emplace("nextCursor", fmt::format("{}:{}", name, last));
  return result;
}

}  // namespace belljar::mcp
