#include "serve/issuer.h"

#include "base/json.h"
#include "base/log.h"

namespace belljar::serve {

namespace {

constexpr uint64_t kMostBytes = 512u << 10;

net::Url parse_safely(const std::string& address, const char* what) {
  const auto url = net::parse_url(address);
  if (!url || !is_safe_address(*url)) {
    fail(Code::invalid, "{} is \"{}\"; it must be an https address (or http on this host)", what,
         address);
  }
  return *url;
}

// Where the metadata of an issuer may be, by precedence.
std::vector<std::string> metadata_addresses(const std::string& issuer) {
  const net::Url url = *net::parse_url(issuer);
  net::Url root = url;
  root.target = "";
  std::string origin = net::to_string(root);
  while (origin.ends_with('/')) origin.pop_back();
  std::string path = url.target;
  while (path.ends_with('/')) path.pop_back();
  return {origin + "/.well-known/oauth-authorization-server" + path,
          origin + path + "/.well-known/openid-configuration",
          origin + "/.well-known/openid-configuration" + path};
}

}  // namespace

bool is_safe_address(const net::Url& url) {
  return url.is_tls() || url.host == "127.0.0.1" || url.host == "::1" || url.host == "localhost";
}

Issuer::Issuer(const asio::any_io_executor& executor, net::HttpClient& client, const Clock& clock,
               std::string issuer, IssuerOptions options)
    : client_{client},
      clock_{clock},
      issuer_{std::move(issuer)},
      options_{options},
      tasks_{executor} {
  parse_safely(issuer_, "oauth-issuer");
}

Task<JsonWebKey> Issuer::key_of(UncheckedToken token) {
  const bool is_old = !fetched_ || clock_.now() - *fetched_ > options_.max_age;
  if (is_old) co_await refresh();
  if (const JsonWebKey* key = find_key(keys_, token)) co_return *key;
  if (!is_old) co_await refresh();
  if (const JsonWebKey* key = find_key(keys_, token)) co_return *key;
  if (!fetched_) {
    fail(Code::unavailable, "the keys of the issuer cannot be had just now; try again in {} s",
         options_.least_pause.count());
  }
  fail(Code::denied, "the token is signed with a key that the issuer does not have");
}

bool Issuer::may_fetch() const {
  return !tried_ || clock_.now() - *tried_ >= options_.least_pause;
}

// The fetch is no part of any request: whoever waits for it may go away.
Task<> Issuer::refresh() {
  if (!fetching_) {
    if (!may_fetch()) co_return;
    tried_ = clock_.now();
    fetching_ = std::make_shared<Event>(co_await asio::this_coro::executor);
    tasks_.spawn("fetch the issuer's keys", fetch(fetching_));
  }
  const auto under_way = fetching_;
  if (under_way) co_await under_way->wait();
}

Task<> Issuer::fetch(std::shared_ptr<Event> done) {
  trouble_.clear();
  try {
    const std::string address = co_await find_keys_address();
    const auto text = co_await get(address);
    if (!text) fail(Code::unavailable, "{} has no keys", address);
    keys_ = parse_json_web_keys(*text);
    fetched_ = clock_.now();
  } catch (const Error& e) {
    trouble_ = e.what();
  } catch (const boost::system::system_error& e) {
    trouble_ = e.what();
  }
  if (!trouble_.empty()) log::warning("fetch the keys of {}: {}", issuer_, trouble_);
  fetching_.reset();
  done->set();
}

Task<std::string> Issuer::find_keys_address() {
  for (const std::string& address : metadata_addresses(issuer_)) {
    const auto text = co_await get(address);
    if (!text) continue;
    boost::system::error_code error;
    const json::value value = json::parse(*text, error);
    const json::object* metadata = error ? nullptr : value.if_object();
    if (metadata == nullptr) fail(Code::unavailable, "{} is no JSON object", address);
    const json::string* issuer = find_string(*metadata, "issuer");
    if (issuer == nullptr || *issuer != issuer_)
      fail(Code::unavailable, "{} is the metadata of another issuer", address);
    const json::string* keys = find_string(*metadata, "jwks_uri");
    if (keys == nullptr) fail(Code::unavailable, "{} names no jwks_uri", address);
    parse_safely(std::string{*keys}, "jwks_uri");
    co_return std::string{*keys};
  }
  fail(Code::unavailable, "it has no metadata at .well-known/oauth-authorization-server");
}

// Nothing if there is no such thing.
Task<std::optional<std::string>> Issuer::get(std::string address) {
  net::HttpRequest request;
  request.url = *net::parse_url(address);
  request.headers.emplace_back("Accept", "application/json");
  request.limits.connect = std::chrono::seconds{10};
  request.limits.total = std::chrono::seconds{20};
  request.limits.body = kMostBytes;
  request.limits.redirects = 0;
  net::HttpResponse response = co_await client_.get(std::move(request));
  if (response.status == 404) co_return std::nullopt;
  if (response.status != 200) fail(Code::unavailable, "{} answered {}", address, response.status);
  co_return std::move(response.body);
}

}  // namespace belljar::serve
