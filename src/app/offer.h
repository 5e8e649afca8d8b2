#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "app/config.h"
#include "app/wiring.h"
#include "mcp/call_tasks.h"
#include "mcp/server.h"
#include "mcp/socket_transport.h"
#include "tools/file_watch.h"

namespace belljar::app {

using WrapTool = std::function<std::unique_ptr<mcp::Tool>(std::unique_ptr<mcp::Tool>)>;

// Everything that belljar offers to clients of one owner: tools, prompts, resources.
class Offer {
 public:
  // Each tool goes through `wrap`, if there is one. The wiring and the parts must outlive this.
  Offer(const asio::any_io_executor& executor, Wiring& wiring, tools::Settings settings,
        const OwnerParts& parts, const WrapTool& wrap = nullptr);

  mcp::Server& server() { return server_; }

  // Calls that go on, or whose results are kept, after their requests were answered.
  size_t long_calls() const { return long_calls_.size(); }

  // To be awaited before destruction, after the connections of the server have ended.
  Task<> stop();

 private:
  mcp::Server server_;
  mcp::CallTasks long_calls_;
  std::optional<tools::FileWatch> watch_;
};

// For whoever reaches this server through the socket of the foundation.
mcp::SocketOptions local_options(const Foundation& foundation);

// Tells the operator what about the settings is probably not what was meant.
void warn_of_settings(const Config& config);

}  // namespace belljar::app
