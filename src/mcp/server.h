#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "mcp/completer.h"
#include "mcp/list_cache.h"
#include "mcp/prompt.h"
#include "mcp/request_state.h"
#include "mcp/resource.h"
#include "mcp/tool.h"

namespace belljar::mcp {

class CallTasks;
class Connection;

struct ServerInfo {
  std::string name;
  std::string version;
  std::string title;         // "" for none
  std::string instructions;  // for the model, on how to use the server; "" for none
};

struct ServerOptions {
  size_t page_size = 100;
  size_t max_in_flight = 1024;      // unanswered requests and open subscriptions per connection
  size_t max_subscriptions = 1024;  // resources that one legacy connection watches
  int64_t list_ttl_ms = 300'000;  // how long a modern client may keep tools, prompts and templates
  milliseconds answer_limit{600'000};  // how long a legacy client that is asked may take to answer
};

// Something clients may have asked to be told of.
struct Change {
  enum class Kind { tools, prompts, resources, resource };
  Kind kind;
  std::string uri = {};  // of the one resource
};

// What the clients, all together, want to be told about resources.
struct ResourceInterest {
  bool list = false;  // somebody asked to be told of changes to the list, or has seen a list
  std::set<std::string, std::less<>> uris;  // somebody watches these; any strings

  bool empty() const { return !list && uris.empty(); }
};

// What is served, whatever the transport: the features, and the connections that are open. Owns the
// features; knows the connections, which must be gone before it is destroyed. Constructing it and
// adding to it does no work.
class Server {
 public:
  explicit Server(ServerInfo info, ServerOptions options = {});
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Lists show features in the order of registration. A second tool or prompt with the same name is
  // refused with an Error. Whoever adds something while clients are connected announces it
  // afterwards.
  void add(std::unique_ptr<Tool> tool);
  void add(std::unique_ptr<Prompt> prompt);
  void add(std::unique_ptr<ResourceSource> source);
  void add(std::unique_ptr<Completer> completer);

  // Lets calls of tools that support it become tasks. `tasks` must outlive the connections, and be
  // stopped before this is destroyed.
  void use(CallTasks& tasks) { tasks_ = &tasks; }

  // Tells every client that wants to know: legacy ones after their handshake, modern ones through
  // their subscriptions.
  void announce_tools_changed();
  void announce_prompts_changed();
  void announce_resources_changed();
  void announce_resource_updated(std::string uri);

  ResourceInterest resource_interest() const;

  const ServerInfo& info() const { return info_; }
  const ServerOptions& options() const { return options_; }
  const std::vector<std::unique_ptr<Tool>>& tools() const { return tools_; }
  const std::vector<std::unique_ptr<Prompt>>& prompts() const { return prompts_; }
  const std::vector<std::unique_ptr<ResourceSource>>& resources() const { return resources_; }
  const std::vector<std::unique_ptr<Completer>>& completers() const { return completers_; }
  Tool* find_tool(std::string_view name) const;      // nullptr: no such tool
  Prompt* find_prompt(std::string_view name) const;  // nullptr: no such prompt

  CallTasks* tasks() const { return tasks_; }  // nullptr: calls never become tasks
  bool offers_tasks() const;                   // to clients of the modern era

  // Signs what modern clients keep for us.
  const RequestStates& request_states() const { return request_states_; }

  // Exactly what is registered, plus logging, which every call has.
  json::object capabilities() const;

  // {"name", "version", "title"?}
  json::object implementation() const;

 private:
  friend class Connection;
  void announce(const Change& change);
  void interest_changed();

  ServerInfo info_;
  ServerOptions options_;
  std::vector<std::unique_ptr<Tool>> tools_;
  std::vector<std::unique_ptr<Prompt>> prompts_;
  std::vector<std::unique_ptr<ResourceSource>> resources_;
  std::vector<std::unique_ptr<Completer>> completers_;
  CallTasks* tasks_ = nullptr;
  RequestStates request_states_;
  ListCache lists_;
  std::set<Connection*> connections_;  // each enters and leaves by itself
};

}  // namespace belljar::mcp
