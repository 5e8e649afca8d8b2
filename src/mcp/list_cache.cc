#include "mcp/list_cache.h"

#include "base/utf8.h"
#include "mcp/methods.h"
#include "mcp/modern.h"

namespace belljar::mcp {

const std::string* ListCache::find(const Server& server, const std::string& method,
                                   const json::object& params, Era era) {
  const bool is_kept = method == "tools/list" || method == "prompts/list";
  if (!is_kept || params.contains("cursor") || !is_offered(server, method)) return nullptr;
  const auto [at, is_new] = texts_.try_emplace({method, era});
  if (!is_new) return &at->second;
  auto reply = answer_at_once(server, method, {});
  auto& result = std::get<json::object>(*reply);
  if (era == Era::modern) complete_result(result, method, server);
  at->second = to_utf8(json::serialize(result));
  return &at->second;
}

}  // namespace belljar::mcp
