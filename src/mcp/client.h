#pragma once

#include <string>

#include "base/fd.h"
#include "base/json.h"
#include "mcp/line_splitter.h"
#include "mcp/stdio_stream.h"

namespace belljar::mcp {

// The other side: a client of a server that listens on a UNIX socket. One request at a time, of the
// modern era, which needs no handshake. Whatever the server sends beside the answer is dropped.
class Client {
 public:
  // `socket` is connected.
  Client(const asio::any_io_executor& executor, Fd socket);

  // The result of a method. Error{unavailable} with the server's words if it answers with an error,
  // or if it hangs up or does not speak MCP. After a cancelled request the client
  // is of no more use.
  Task<json::object> request(std::string method, json::object params);

  // The result of tools/call: `content`, `structuredContent`, `isError`.
  Task<json::object> call_tool(std::string name, json::object arguments);

 private:
  Task<json::object> receive(int64_t id);
  Task<std::string> receive_line();

  Fd socket_;
  StdioStream input_;
  StdioStream output_;
  LineSplitter lines_;
  int64_t next_id_ = 1;
};

}  // namespace belljar::mcp
