#include "app/operator_server.h"

#include <algorithm>

#include "app/version.h"
#include "base/json.h"
#include "serve/gatekeeper.h"
#include "tools/tools.h"

namespace belljar::app {

namespace {

constexpr std::string_view kList = "sandbox_list";
constexpr std::string_view kOffered[] = {kList, "sandbox_exec", "sandbox_logs", "sandbox_stop"};

// A call of somebody, made as another owner.
class CallAs final : public mcp::Call {
 public:
  CallAs(mcp::Call& call, std::string owner) : call_{call}, owner_{std::move(owner)} {}

  const std::string& owner() const override { return owner_; }
  bool wants_progress() const override { return call_.wants_progress(); }
  void progress(std::string_view message, double total) override { call_.progress(message, total); }
  void log(mcp::LogLevel level, std::string_view logger, json::value data) override {
    call_.log(level, logger, std::move(data));
  }
  const json::object& client_capabilities() const override { return call_.client_capabilities(); }
  const json::object& input_responses() const override { return call_.input_responses(); }
  const std::string& request_state() const override { return call_.request_state(); }
  void ask(mcp::InputRequired input) override { call_.ask(std::move(input)); }

 private:
  mcp::Call& call_;
  std::string owner_;
};

class ToolForAll final : public mcp::Tool {
 public:
  ToolForAll(std::unique_ptr<mcp::Tool> tool, const Sandboxes& sandboxes, ListOwners owners)
      : tool_{std::move(tool)}, sandboxes_{sandboxes}, owners_{std::move(owners)} {}

  const mcp::ToolInfo& info() const override { return tool_->info(); }

  Task<mcp::ToolResult> call(json::object arguments, mcp::Call& call) override {
    const json::string* id = find_string(arguments, "container_id");
    // Nobody's is not found, in the tool's own words.
    CallAs as_owner{call, id != nullptr ? owner_of(*id) : ""};
    co_return co_await tool_->call(std::move(arguments), as_owner);
  }

 private:
  std::string owner_of(std::string_view id) const {
    for (const std::string& owner : owners_()) {
      for (const SandboxInfo& info : sandboxes_.list(owner))
        if (info.id == id) return owner;
    }
    return "";
  }

  std::unique_ptr<mcp::Tool> tool_;
  const Sandboxes& sandboxes_;
  ListOwners owners_;
};

class ListForAll final : public mcp::Tool {
 public:
  ListForAll(std::unique_ptr<mcp::Tool> tool, ListOwners owners)
      : tool_{std::move(tool)}, owners_{std::move(owners)}, info_{tool_->info()} {
    info_.output_schema = {};  // entries have an owner, too
  }

  const mcp::ToolInfo& info() const override { return info_; }

  Task<mcp::ToolResult> call(json::object arguments, mcp::Call& call) override {
    json::array all;
    const std::vector<std::string> owners = owners_();
    for (const std::string& owner : owners) {
      CallAs as_owner{call, owner};
      const mcp::ToolResult theirs = co_await tool_->call(arguments, as_owner);
      if (theirs.is_error || !theirs.structured) co_return theirs;
      for (const json::value& entry : theirs.structured->at("sandboxes").as_array()) {
        json::object& added = all.emplace_back(entry).as_object();
        added["owner"] = serve::shown_owner(owner);
      }
    }
    mcp::ToolResult result;
    result.structured = json::object{{"sandboxes", std::move(all)}};
    result.content.emplace_back(mcp::text_block(json::serialize(*result.structured)));
    co_return result;
  }

 private:
  std::unique_ptr<mcp::Tool> tool_;
  ListOwners owners_;
  mcp::ToolInfo info_;
};

}  // namespace

std::unique_ptr<mcp::Tool> for_all_owners(std::unique_ptr<mcp::Tool> tool,
                                          const Sandboxes& sandboxes, ListOwners owners) {
  if (tool->info().name == kList)
    return std::make_unique<ListForAll>(std::move(tool), std::move(owners));
  return std::make_unique<ToolForAll>(std::move(tool), sandboxes, std::move(owners));
}

OperatorServer::OperatorServer(Wiring& wiring, const tools::Settings& settings,
                               const serve::Oversight& oversight, const ListOwners& owners)
    : server_{mcp::ServerInfo{"belljar", kVersion, "belljar for its operator", ""}} {
  const tools::Context context = wiring.context(settings, OwnerParts{nullptr, wiring.packages()});
  for (auto& tool : tools::make_tools(context)) {
    if (std::ranges::find(kOffered, tool->info().name) == std::end(kOffered)) continue;
    auto for_all = for_all_owners(std::move(tool), wiring.sandboxes(), owners);
    server_.add(serve::oversee(std::move(for_all), "operator", oversight));
  }
}

}  // namespace belljar::app
