#include "app/service.h"

#include "app/offer.h"
#include "base/log.h"
#include "mcp/http_endpoint.h"

namespace belljar::app {

namespace {

// How long the last answers may take to reach their clients.
constexpr milliseconds kLastWords{1000};

class OwnTenant final : public serve::Tenant {
 public:
  // `own` is what the parts have for packages, unless they are everybody's.
  OwnTenant(const asio::any_io_executor& executor, Wiring& wiring, const Config& config,
            std::unique_ptr<OwnPackages> own, const OwnerParts& parts,
            const serve::Identity& identity, const serve::Oversight& oversight)
      : owner_{identity.owner},
        sandboxes_{wiring.sandboxes()},
        own_packages_{std::move(own)},
        offer_{executor, wiring, config.tools, parts,
               [&identity, &oversight](std::unique_ptr<mcp::Tool> tool) {
                 return serve::oversee(std::move(tool), identity.name, oversight);
               }},
        endpoint_{executor, offer_.server(), owner_, options_of(config)},
        scrubbing_{executor} {}

  Task<> handle(net::HttpExchange& exchange) override {
    if (own_packages_ && scrubbing_.size() == 0)
      scrubbing_.spawn("read packages again", own_packages_->sets.scrub());
    return endpoint_.handle(exchange);
  }

  bool is_idle() const override {
    return endpoint_.requests() == 0 && endpoint_.sessions() == 0 && offer_.long_calls() == 0 &&
           sandboxes_.list(owner_).empty();
  }

  void drain() override { endpoint_.drain(); }

  Task<> stop() override {
    co_await endpoint_.stop();
    co_await offer_.stop();
    co_await scrubbing_.stop();
    if (own_packages_) co_await own_packages_->sets.stop();
  }

 private:
  static mcp::HttpEndpointOptions options_of(const Config& config) {
    mcp::HttpEndpointOptions options;
    options.max_body = config.serve.max_request;
    return options;
  }

  std::string owner_;
  Sandboxes& sandboxes_;
  std::unique_ptr<OwnPackages> own_packages_;  // null: everybody's are used
  Offer offer_;
  mcp::HttpEndpoint endpoint_;
  TaskGroup scrubbing_;
};

std::string host_of(const std::string& url) {
  return net::authority(*net::parse_url(url));
}

std::string origin_of(const std::string& url) {
  const auto parsed = net::parse_url(url);
  return parsed->scheme + "://" + net::authority(*parsed);
}

serve::RunQueueLimits queue_limits(const ServeConfig& config) {
  return {config.max_runs, config.owner_runs, config.owner_waiting};
}

}  // namespace

Service::Service(const asio::any_io_executor& executor, const Config& config, Wiring& wiring,
                 ServeParts parts)
    : executor_{executor},
      config_{config},
      wiring_{wiring},
      public_url_{config.serve.public_url.empty() ? parts.public_url() : config.serve.public_url},
      audit_{std::move(parts.audit)},
      queue_{executor, queue_limits(config.serve)},
      budget_{wiring.clock(), config.serve.owner_run_seconds},
      calls_{executor},
      exchanges_{executor},
      oversight_{
          queue_, budget_, metrics_, audit_, calls_, wiring.clock(), config.tools.network.text()},
      client_{parts.http},
      gatekeeper_{make_gatekeeper(std::move(parts.tokens))},
      forgetting_{executor},
      tenants_{executor, wiring.clock(),
               [this](const serve::Identity& identity) { return make_tenant(identity); },
               config.serve.max_owners},
      operator_{wiring, config.tools, oversight_, [this] { return tenants_.owners(); }},
      front_{front_options(parts),
             gatekeeper_,
             tenants_,
             metrics_,
             exchanges_,
             [this] { return wiring_.is_alive(); }},
      listener_{executor, std::move(parts.listener),
                [this](net::HttpExchange& exchange) { return front_.handle(exchange); },
                net::HttpListenerLimits{}, parts.tls},
      listening_{executor} {
  describe_metrics();
  if (parts.preview_address) make_previews(parts);
  for (const std::string& name : parts.names) tenants_.of(serve::named_owner(name));
}

void Service::make_previews(ServeParts& parts) {
  const std::string& configured = config_.serve.preview_url;
  const std::string url = origin_of(configured.empty() ? parts.preview_url() : configured);
  if (url == origin_of(public_url_)) {
    fail(Code::invalid,
         "previews would have the origin of the endpoint, {}, and pages from sandboxes its rights; "
         "preview-url must name another host or port",
         url);
  }
  previews_.emplace(wiring_.sandboxes(), url);
  preview_hosts_.hosts = {host_of(url)};
  preview_hosts_.origins.push_back(url);
  preview_hosts_.loopback = false;
  preview_listener_.emplace(
      executor_, std::move(parts.preview_listener),
      [this](net::HttpExchange& exchange) { return preview(exchange); }, net::HttpListenerLimits{},
      parts.tls);
}

Task<> Service::preview(net::HttpExchange& exchange) {
  auto refusal = mcp::refuse_foreign(exchange.request(), preview_hosts_);
  if (refusal) co_return co_await exchange.answer(std::move(*refusal));
  co_await previews_->handle(exchange);
}

serve::Gatekeeper Service::make_gatekeeper(serve::BearerTokens tokens) {
  const ServeConfig& config = config_.serve;
  if (config.no_auth) return serve::Gatekeeper::open_to_all(wiring_.clock());
  serve::OAuthRules rules;
  if (!config.oauth_issuer.empty()) {
    issuer_.emplace(executor_, client_, wiring_.clock(), config.oauth_issuer);
    rules.token.issuer = config.oauth_issuer;
    rules.token.audience = config.oauth_audience.empty() ? public_url_ : config.oauth_audience;
    rules.scopes = config.oauth_scopes;
  }
  return {std::move(tokens), std::move(rules), issuer_ ? &*issuer_ : nullptr, wiring_.clock()};
}

serve::FrontOptions Service::front_options(const ServeParts& parts) const {
  const ServeConfig& config = config_.serve;
  serve::FrontOptions options;
  options.hosts.hosts.push_back(host_of(parts.public_url()));
  // Not those of this machine either: ports that sandboxes publish are such origins.
  options.hosts.loopback = false;
  if (!config.public_url.empty()) {
    options.hosts.hosts.push_back(host_of(config.public_url));
    options.hosts.origins.push_back(origin_of(config.public_url));
  }
  for (const std::string& host : config.allowed_hosts) options.hosts.hosts.push_back(host);
  for (const std::string& origin : config.allowed_origins) options.hosts.origins.push_back(origin);
  options.resource = public_url_;
  options.metrics_sha256 = parts.metrics_sha256;
  options.metrics_for_owners = parts.address.is_loopback && parts.metrics_sha256.empty();
  if (config.oauth_issuer.empty()) return options;
  options.issuer = config.oauth_issuer;
  options.scopes = config.oauth_scopes;
  return options;
}

std::unique_ptr<serve::Tenant> Service::make_tenant(const serve::Identity& identity) {
  tools::FilesDirectory* files = nullptr;
  if (identity.is_named) files = wiring_.files_of_owner(identity.name);
  const bool is_only_owner = config_.serve.tokens.empty() && config_.serve.oauth_issuer.empty();
  if (is_only_owner) files = wiring_.files();
  std::unique_ptr<OwnPackages> own;
  if (config_.serve.packages_per_owner) own = wiring_.packages_of_owner(identity.owner);
  if (own && !identity.is_named) forget_packages();
  const OwnerParts parts{files, own ? own->sets : wiring_.packages(),
                         previews_ ? &*previews_ : nullptr};
  return std::make_unique<OwnTenant>(executor_, wiring_, config_, std::move(own), parts, identity,
                                     oversight_);
}

// As many stay as can be in use at one time.
void Service::forget_packages() {
  const size_t named = std::max<size_t>(config_.serve.tokens.size(), 1);
  forgetting_.spawn("remove packages of owners who came longest ago",
                    wiring_.forget_packages_of_owners(named + config_.serve.max_owners));
}

void Service::describe_metrics() {
  serve::describe_calls(metrics_);
  serve::describe_requests(metrics_);
  const auto number = [](size_t value) { return static_cast<double>(value); };
  metrics_.watch("belljar_live_sandboxes", "Sandboxes of all owners.",
                 [this, number] { return number(wiring_.sandboxes().live()); });
  metrics_.watch("belljar_runs", "Programs that run now.",
                 [this, number] { return number(queue_.running()); });
  metrics_.watch("belljar_waiting_runs", "Runs that wait for their turn.",
                 [this, number] { return number(queue_.waiting()); });
  metrics_.watch("belljar_calls", "Calls under way.",
                 [this, number] { return number(calls_.count()); });
  metrics_.watch("belljar_connections", "Open HTTP connections.",
                 [this, number] { return number(listener_.connections()); });
  metrics_.watch("belljar_owners", "Owners that are served.",
                 [this, number] { return number(tenants_.size()); });
}

void Service::start() {
  if (preview_listener_) listening_.spawn("serve previews", preview_listener_->run());
  listening_.spawn("serve HTTP", listener_.run());
  if (config_.serve.packages_per_owner) forget_packages();
  audit_.add(json::object{{"event", "start"}});
}

Task<> Service::drain() {
  log::info("no new requests are taken; {} calls are under way", calls_.count());
  front_.drain();
  tenants_.drain();
  co_await exchanges_.until_idle();
  co_await calls_.until_idle();
}

Task<> Service::stop() {
  listener_.drain();
  if (preview_listener_) preview_listener_->drain();
  if (calls_.count() == 0) co_await with_timeout(kLastWords, listening_.finish());
  co_await listening_.stop();
  co_await tenants_.stop();
  co_await forgetting_.stop();
  if (issuer_) co_await issuer_->stop();
  audit_.add(json::object{{"event", "stop"}});
}

}  // namespace belljar::app
