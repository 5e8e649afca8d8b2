#include "serve/front.h"

#include <openssl/crypto.h>

#include "base/id.h"
#include "base/json.h"
#include "base/log.h"
#include "base/request_context.h"
#include "net/url.h"
#include "serve/observed_exchange.h"

namespace belljar::serve {

namespace {

using net::HttpAnswer;
using net::HttpServerRequest;

constexpr const char* kMetadata = "/.well-known/oauth-protected-resource";

HttpAnswer plain(int status, std::string_view text) {
  HttpAnswer answer;
  answer.status = status;
  answer.type = "text/plain; charset=utf-8";
  answer.body = std::string{text} + "\n";
  return answer;
}

std::vector<std::string> all_of(const HttpServerRequest& request, std::string_view name) {
  std::vector<std::string> values;
  for (const auto& [header, value] : request.headers) {
    if (header == name) values.push_back(value);
  }
  return values;
}

std::shared_ptr<const RequestContext> new_request(const HttpServerRequest& request) {
  const std::string_view trace = request.header("traceparent");
  RequestContext context{random_hex(16), is_traceparent(trace) ? std::string{trace} : ""};
  return std::make_shared<const RequestContext>(std::move(context));
}

// "https://host:1/mcp" → "https://host:1"
std::string origin_of(const std::string& address) {
  auto url = net::parse_url(address);
  if (!url) return "";
  url->target = "";
  std::string origin = net::to_string(*url);
  while (origin.ends_with('/')) origin.pop_back();
  return origin;
}

}  // namespace

Front::Front(FrontOptions options, Gatekeeper& gatekeeper, Tenants& tenants,
             observe::Metrics& metrics, Activity& activity, std::function<bool()> is_ready)
    : options_{std::move(options)},
      gatekeeper_{gatekeeper},
      tenants_{tenants},
      metrics_{metrics},
      activity_{activity},
      is_ready_{std::move(is_ready)} {
  if (options_.issuer.empty()) return;
  // The address that clients know may have another path than the one that a proxy leads here.
  const auto url = net::parse_url(options_.resource);
  metadata_path_ = kMetadata + (url && url->target != "/" ? url->target : "");
  metadata_url_ = origin_of(options_.resource) + metadata_path_;
}

Task<> Front::handle(net::HttpExchange& exchange) {
  co_await in_request(new_request(exchange.request()), route(exchange));
}

Task<> Front::route(net::HttpExchange& exchange) {
  ObservedExchange observed{exchange};
  const auto settled = co_await settle(ended(route_observed(observed)));
  const std::string status = observed.status() == 0 ? "none" : std::to_string(observed.status());
  metrics_.count("belljar_http_requests_total", {{"status", status}});
  metrics_.count("belljar_http_received_bytes_total", {}, observed.received());
  metrics_.count("belljar_http_sent_bytes_total", {}, observed.sent());
  if (settled.error) std::rethrow_exception(settled.error);
}

Task<> Front::route_observed(net::HttpExchange& exchange) {
  const HttpServerRequest& request = exchange.request();
  const std::string path{request.path()};
  log::debug("{} {} from {}", request.method, path, request.peer);
  if (auto refusal = mcp::refuse_foreign(request, options_.hosts)) {
    log::info("refused a request from {} for host \"{}\", origin \"{}\"", request.peer,
              request.header("host"), request.header("origin"));
    co_return co_await exchange.answer(std::move(*refusal));
  }
  if (path == options_.path) co_return co_await serve_endpoint(exchange);
  HttpAnswer answer = co_await answer_other(request, path);
  co_await exchange.answer(std::move(answer));
}

Task<HttpAnswer> Front::answer_other(const HttpServerRequest& request, std::string path) {
  const bool is_metadata =
      !options_.issuer.empty() && (path == metadata_path_ || path == kMetadata);
  if (path != "/healthz" && path != "/readyz" && path != "/metrics" && !is_metadata)
    co_return net::error_answer(404, "there is nothing here; MCP is at " + options_.path);
  if (request.method != "GET" && request.method != "HEAD") {
    HttpAnswer answer = net::error_answer(405, "this can only be read");
    answer.headers.emplace_back("Allow", "GET, HEAD");
    co_return answer;
  }
  if (path == "/healthz") co_return plain(200, "alive");
  if (path == "/readyz") {
    const bool ready = !draining_ && is_ready_();
    co_return plain(ready ? 200 : 503, ready ? "ready" : "not ready");
  }
  if (path == "/metrics") co_return co_await show_metrics(request);
  co_return show_resource();
}

Task<> Front::serve_endpoint(net::HttpExchange& exchange) {
  auto verdict = co_await gatekeeper_.admit(all_of(exchange.request(), "authorization"));
  if (const auto* refusal = std::get_if<Refusal>(&verdict)) {
    log::info("refused a request from {}: {}", exchange.request().peer, refusal->description);
    HttpAnswer answer = refuse(*refusal);
    co_return co_await exchange.answer(std::move(answer));
  }
  if (draining_) {
    HttpAnswer answer =
        net::error_answer(503, "this server is about to end; try again in a moment");
    answer.headers.emplace_back("Retry-After", "5");
    co_return co_await exchange.answer(std::move(answer));
  }
  const Activity::Hold hold{activity_};
  const std::shared_ptr<Tenant> tenant = tenants_.of(std::get<Identity>(verdict));
  co_await tenant->handle(exchange);
}

Task<HttpAnswer> Front::show_metrics(const HttpServerRequest& request) {
  const auto authorization = all_of(request, "authorization");
  bool allowed = false;
  if (!options_.metrics_sha256.empty() && authorization.size() == 1) {
    const auto token = bearer_of(authorization.front());
    const std::string sum = sha256_of(token.value_or(""));
    allowed = token && CRYPTO_memcmp(sum.data(), options_.metrics_sha256.data(), sum.size()) == 0;
  }
  if (!allowed && options_.metrics_for_owners) {
    const auto verdict = co_await gatekeeper_.admit(authorization);
    allowed = std::holds_alternative<Identity>(verdict);
  }
  if (!allowed) co_return refuse(Refusal{401, "", "a bearer token for metrics is needed"});
  HttpAnswer answer = plain(200, "");
  answer.type = "text/plain; version=0.0.4; charset=utf-8";
  answer.body = metrics_.text();
  co_return answer;
}

HttpAnswer Front::show_resource() const {
  json::array scopes;
  for (const std::string& scope : options_.scopes) scopes.emplace_back(scope);
  HttpAnswer answer;
  answer.body =
      json::serialize(json::object{{"resource", options_.resource},
                                   {"authorization_servers", json::array{options_.issuer}},
                                   {"scopes_supported", std::move(scopes)},
                                   {"bearer_methods_supported", json::array{"header"}},
                                   {"resource_name", "belljar"}});
  // Web clients look it up from other origins; it says nothing that is not for everybody.
  answer.headers.emplace_back("Access-Control-Allow-Origin", "*");
  return answer;
}

HttpAnswer Front::refuse(const Refusal& refusal) const {
  HttpAnswer answer;
  answer.status = refusal.status;
  answer.body = json::serialize(body_of(refusal));
  if (refusal.status == 401 || refusal.status == 403) {
    answer.headers.emplace_back("WWW-Authenticate",
                                challenge(refusal, options_.scopes, metadata_url_));
  }
  if (refusal.status == 503) answer.headers.emplace_back("Retry-After", "30");
  return answer;
}

void describe_requests(observe::Metrics& metrics) {
  using Kind = observe::Metrics::Kind;
  metrics.describe("belljar_http_requests_total", Kind::counter,
                   "HTTP requests, by the status of the answer.");
  metrics.describe("belljar_http_received_bytes_total", Kind::counter, "Bytes of request bodies.");
  metrics.describe("belljar_http_sent_bytes_total", Kind::counter, "Bytes of answers' bodies.");
}

}  // namespace belljar::serve
