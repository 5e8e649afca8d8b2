#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/wiring.h"
#include "mcp/server.h"
#include "serve/overseen_tool.h"

namespace belljar::app {

using ListOwners = std::function<std::vector<std::string>()>;  // their keys

// What `belljar list` and its siblings use of a server with several owners: the tools that list,
// use and stop sandboxes, for the sandboxes of all of them. Only whoever runs the server may be let
// near it.
class OperatorServer {
 public:
  // The wiring and the oversight must outlive this. Calls are overseen like those of an owner,
  // "operator".
  OperatorServer(Wiring& wiring, const tools::Settings& settings, const serve::Oversight& oversight,
                 const ListOwners& owners);

  mcp::Server& server() { return server_; }

 private:
  mcp::Server server_;
};

// The same tool, as if the owner of the sandbox that the arguments name had called it; and for
// sandbox_list, as if each owner had, with the names of the owners.
std::unique_ptr<mcp::Tool> for_all_owners(std::unique_ptr<mcp::Tool> tool,
                                          const Sandboxes& sandboxes, ListOwners owners);

}  // namespace belljar::app
