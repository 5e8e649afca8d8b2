#pragma once

#include <functional>
#include <string>
#include <vector>

#include "mcp/http_guard.h"
#include "net/http_exchange.h"
#include "observe/metrics.h"
#include "serve/activity.h"
#include "serve/gatekeeper.h"
#include "serve/tenants.h"

namespace belljar::serve {

struct FrontOptions {
  mcp::AllowedHosts hosts;
  std::string path = "/mcp";  // of the endpoint, exactly
  std::string resource;       // the endpoint's address as clients know it
  std::string issuer;         // of access tokens; "": there are none
  std::vector<std::string> scopes;
  std::string metrics_sha256;       // of the token that shows /metrics; "": none does
  bool metrics_for_owners = false;  // whoever may call may also read /metrics
};

// What stands before the endpoint: looks at every request in the order of the protocol (host and
// origin, path, who calls), gives it an id, and leads it to its owner's tenant. Also answers what
// is not MCP: /healthz, /readyz, /metrics, and the metadata of RFC 9728.
class Front {
 public:
  // The references must outlive this. `is_ready` is asked by /readyz.
  Front(FrontOptions options, Gatekeeper& gatekeeper, Tenants& tenants, observe::Metrics& metrics,
        Activity& activity, std::function<bool()> is_ready);

  // Returns when the exchange is over.
  Task<> handle(net::HttpExchange& exchange);

  // From now on /readyz says no, and requests to the endpoint get 503.
  void drain() { draining_ = true; }

 private:
  Task<> route(net::HttpExchange& exchange);
  Task<> route_observed(net::HttpExchange& exchange);
  Task<net::HttpAnswer> answer_other(const net::HttpServerRequest& request, std::string path);
  Task<> serve_endpoint(net::HttpExchange& exchange);
  Task<net::HttpAnswer> show_metrics(const net::HttpServerRequest& request);
  net::HttpAnswer show_resource() const;
  net::HttpAnswer refuse(const Refusal& refusal) const;

  FrontOptions options_;
  Gatekeeper& gatekeeper_;
  Tenants& tenants_;
  observe::Metrics& metrics_;
  Activity& activity_;
  std::function<bool()> is_ready_;
  std::string metadata_path_;
  std::string metadata_url_;
  bool draining_ = false;
};

// The families that a Front feeds.
void describe_requests(observe::Metrics& metrics);

}  // namespace belljar::serve
