#pragma once

#include <memory>
#include <optional>

#include "app/config.h"
#include "app/operator_server.h"
#include "app/serve_parts.h"
#include "app/wiring.h"
#include "base/task_group.h"
#include "mcp/http_guard.h"
#include "net/http_listener.h"
#include "network/previews.h"
#include "observe/audit_log.h"
#include "observe/metrics.h"
#include "serve/activity.h"
#include "serve/front.h"
#include "serve/gatekeeper.h"
#include "serve/issuer.h"
#include "serve/overseen_tool.h"
#include "serve/tenants.h"

namespace belljar::app {

// The objects of `belljar serve` above the wiring, and who knows whom.
class Service {
 public:
  // The configuration and the wiring must outlive this.
  Service(const asio::any_io_executor& executor, const Config& config, Wiring& wiring,
          ServeParts parts);

  // Takes requests from now on.
  void start();

  // Takes no more, and waits until those under way have ended; ends when it is cancelled, too.
  Task<> drain();

  // For `belljar list` and its siblings.
  mcp::Server& operator_server() { return operator_.server(); }

  // Ends what is left. To be awaited before destruction.
  Task<> stop();

 private:
  std::unique_ptr<serve::Tenant> make_tenant(const serve::Identity& identity);
  void forget_packages();
  serve::Gatekeeper make_gatekeeper(serve::BearerTokens tokens);
  serve::FrontOptions front_options(const ServeParts& parts) const;
  void describe_metrics();
  void make_previews(ServeParts& parts);
  Task<> preview(net::HttpExchange& exchange);

  asio::any_io_executor executor_;
  const Config& config_;
  Wiring& wiring_;
  std::string public_url_;
  observe::Metrics metrics_;
  observe::AuditLog audit_;
  serve::RunQueue queue_;
  serve::RunBudget budget_;
  serve::Activity calls_;
  serve::Activity exchanges_;
  serve::Oversight oversight_;
  net::HttpClient client_;
  std::optional<serve::Issuer> issuer_;
  serve::Gatekeeper gatekeeper_;
  TaskGroup forgetting_;
  serve::Tenants tenants_;
  OperatorServer operator_;
  serve::Front front_;
  net::HttpListener listener_;
  std::optional<network::Previews> previews_;
  mcp::AllowedHosts preview_hosts_;
  std::optional<net::HttpListener> preview_listener_;
  TaskGroup listening_;
};

}  // namespace belljar::app
