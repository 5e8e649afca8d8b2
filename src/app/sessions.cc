#include "app/sessions.h"

#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"

namespace belljar::app {

namespace {

constexpr milliseconds kAnswerLimit{5000};
constexpr std::string_view kIdPrefix = "js-sbx-";

bool begins_with(std::string_view id, std::string_view beginning) {
  if (id.starts_with(beginning)) return true;
  return id.starts_with(kIdPrefix) && id.substr(kIdPrefix.size()).starts_with(beginning);
}

}  // namespace

Sessions::Sessions(const asio::any_io_executor& executor,
                   std::vector<ServerSockets::Server> servers) {
  if (servers.empty()) {
    fail(Code::unavailable,
         "no belljar server of this user is running, and sandboxes live in the server that made "
         "them. An MCP client starts one with `belljar mcp`, an operator with `belljar serve`{}",
         ::geteuid() != 0 ? "; if it does so with sudo, use sudo here, too" : "");
  }
  for (ServerSockets::Server& server : servers) {
    auto client = std::make_unique<mcp::Client>(executor, std::move(server.socket));
    links_.push_back(Link{server.pid, std::move(client)});
  }
}

Task<std::vector<Session>> Sessions::list() {
  std::vector<Session> sessions;
  for (Link& link : links_) {
    std::string problem;
    try {
      const bool answered = co_await with_timeout(kAnswerLimit, add_sessions_of(link, sessions));
      if (!answered) problem = "does not answer";
    } catch (const Error& e) {
      problem = e.what();
    }
    if (!problem.empty()) fmt::print(stderr, "belljar: server {}: {}\n", link.pid, problem);
  }
  co_return sessions;
}

Task<> Sessions::add_sessions_of(Link& link, std::vector<Session>& sessions) {
  json::object none;
  json::object result = co_await link.client->call_tool("sandbox_list", std::move(none));
  json::object content = structured(std::move(result));
  const json::value* list = belljar::find(content, "sandboxes");
  if (list == nullptr || !list->is_array()) fail(Code::unavailable, "it has no list of sandboxes");
  for (const json::value& entry : list->get_array()) {
    const json::object* fields = entry.if_object();
    const json::string* id = fields != nullptr ? find_string(*fields, "container_id") : nullptr;
    if (id == nullptr) continue;
    sessions.push_back(Session{std::string{*id}, *fields, link.pid, link.client.get()});
  }
}

Task<Session> Sessions::find(std::string beginning) {
  const std::vector<Session> all = co_await list();
  const Session* found = nullptr;
  const Session* another = nullptr;
  for (const Session& session : all) {
    if (session.id == beginning) co_return session;
    if (!begins_with(session.id, beginning)) continue;
    if (another == nullptr) another = found;
    found = &session;
  }
  if (another != nullptr) {
    fail(Code::invalid, "more than one sandbox begins with \"{}\": {}, {}; give more of the id",
         beginning, another->id, found->id);
  }
  if (found == nullptr || beginning.empty()) {
    fail(Code::not_found, "no such sandbox: {}; `belljar list` shows those that live", beginning);
  }
  co_return *found;
}

Task<json::object> call_tool(Session session, std::string tool, json::object arguments) {
  arguments["container_id"] = session.id;
  co_return co_await session.client->call_tool(std::move(tool), std::move(arguments));
}

std::string text_of(const json::object& result) {
  const json::value* content = find(result, "content");
  std::string text;
  if (content == nullptr || !content->is_array()) return text;
  for (const json::value& block : content->get_array()) {
    const json::object* object = block.if_object();
    const json::string* part = object != nullptr ? find_string(*object, "text") : nullptr;
    if (part != nullptr) text += *part;
  }
  return text;
}

json::object structured(json::object result) {
  json::value* content = result.if_contains("structuredContent");
  if (content == nullptr || !content->is_object()) fail(Code::unavailable, "{}", text_of(result));
  return std::move(content->as_object());
}

}  // namespace belljar::app
