#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/server_sockets.h"
#include "base/json.h"
#include "mcp/client.h"

namespace belljar::app {

// A sandbox that lives in a running server.
struct Session {
  std::string id;
  json::object fields;  // as sandbox_list gives them
  pid_t server = 0;
  mcp::Client* client = nullptr;  // to that server
};

// The sandboxes in all running servers of this user, reached as an MCP client reaches them.
class Sessions {
 public:
  // Connects to nothing by itself. Error{unavailable} if there are no servers.
  Sessions(const asio::any_io_executor& executor, std::vector<ServerSockets::Server> servers);

  // All of them. A server that does not answer in time is left out with a line on stderr.
  Task<std::vector<Session>> list();

  // The one whose id begins like this, with or without its "js-sbx-". Error if there is none, or
  // more than one.
  Task<Session> find(std::string beginning);

 private:
  struct Link {
    pid_t pid = 0;
    std::unique_ptr<mcp::Client> client;
  };
  Task<> add_sessions_of(Link& link, std::vector<Session>& sessions);

  std::vector<Link> links_;
};

// Calls a tool about a session, whose id is added to the arguments: the result of tools/call.
Task<json::object> call_tool(Session session, std::string tool, json::object arguments);

// The text of a result; its structured content. The latter is an Error with the text if there is
// none.
std::string text_of(const json::object& result);
json::object structured(json::object result);

}  // namespace belljar::app
