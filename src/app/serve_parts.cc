#include "app/serve_parts.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/ssl/context.hpp>
#include <cstdio>

#include "base/error.h"
#include "base/json.h"
#include "base/log.h"
#include "base/posix.h"
#include "net/http_listener.h"
#include "net/tls.h"
#include "observe/audit_log.h"
#include "serve/issuer.h"

namespace belljar::app {

namespace {

constexpr size_t kMostTokenBytes = 4096;

std::string token_path() {
  const std::string config_home = environment("XDG_CONFIG_HOME");
  if (!config_home.empty()) return config_home + "/belljar/token";
  const std::string home = environment("HOME");
  return home.empty() ? "/etc/belljar/token" : home + "/.config/belljar/token";
}

std::string trimmed(std::string text) {
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  return text;
}

// Nothing if there is no such file.
std::optional<std::string> read_token(const std::string& path) {
  const Fd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)};
  if (!file && errno == ENOENT) return std::nullopt;
  struct stat info {};
  if (!file || ::fstat(file.get(), &info) != 0) fail_errno(errno, "read the token " + path);
  if (!S_ISREG(info.st_mode) || (info.st_mode & 077) != 0 || info.st_uid != ::geteuid()) {
    fail(Code::denied,
         "the token in {} is not yours alone, so others may know it; remove the file, and belljar "
         "makes a new one",
         path);
  }
  std::string token = trimmed(read_to_end(file.get(), path, kMostTokenBytes));
  if (token.size() < 32 || !serve::bearer_of("Bearer " + token))
    fail(Code::invalid, "{} holds no token; remove it, and belljar makes a new one", path);
  return token;
}

std::string origin_of(const ListenAddress& address, bool tls) {
  const bool is_v6 = address.host.find(':') != std::string::npos;
  const bool is_any = address.host == "0.0.0.0" || address.host == "::";
  const std::string host = is_any ? "localhost" : is_v6 ? "[" + address.host + "]" : address.host;
  return fmt::format("{}://{}:{}", tls ? "https" : "http", host, address.port);
}

std::string read_metrics_token(const std::string& path) {
  const std::string token = trimmed(read_file(path, kMostTokenBytes));
  if (token.size() < 24 || !serve::bearer_of("Bearer " + token)) {
    fail(Code::invalid,
         "metrics-token-file: {} must hold one token of at least 24 letters, digits and -._~+/=",
         path);
  }
  return serve::sha256_of(token);
}

std::shared_ptr<boost::asio::ssl::context> open_tls(const ServeConfig& config) {
  if (config.tls_certificate.empty()) return nullptr;
  const net::Credentials credentials{read_file(config.tls_certificate), read_file(config.tls_key)};
  try {
    return net::make_tls_server(credentials);
  } catch (const boost::system::system_error& e) {
    fail(Code::invalid, "tls-cert {} and tls-key {} are no certificate and its key (PEM): {}",
         config.tls_certificate, config.tls_key, e.code().message());
  }
}

// As npm's client, what the environment says of proxies and authorities.
net::HttpSettings http_settings() {
  net::HttpSettings http;
  if (const std::string file = environment("NODE_EXTRA_CA_CERTS"); !file.empty())
    http.tls.ca_files.push_back(file);
  net::read_ca_files(http.tls, environment("SSL_CERT_FILE"));
  for (const char* name : {"HTTPS_PROXY", "https_proxy"}) {
    if (auto proxy = net::parse_url(environment(name))) http.proxy.for_https = std::move(proxy);
  }
  for (const char* name : {"NO_PROXY", "no_proxy"}) {
    if (const std::string text = environment(name); !text.empty())
      http.proxy.direct = net::split_no_proxy(text);
  }
  return http;
}

// What to paste into a client.
std::string client_configuration(const std::string& url, const std::string& token) {
  json::object server{{"type", "http"}, {"url", url}};
  if (!token.empty()) server["headers"] = json::object{{"Authorization", "Bearer " + token}};
  return json::serialize(json::object{{"mcpServers", json::object{{"belljar", server}}}});
}

void add_own_token(ServeParts& parts, const std::string& url) {
  const std::string path = token_path();
  bool made = false;
  const std::string token = own_token(path, made);
  parts.tokens.add(kOnlyOwner, serve::sha256_of(token));
  parts.names.emplace_back(kOnlyOwner);
  if (made) {
    fmt::print(stderr,
               "A token was made and is kept in {}. For your MCP client (shown only this time):\n"
               "  {}\n",
               path, client_configuration(url, token));
  } else {
    fmt::print(stderr,
               "Clients need the header \"Authorization: Bearer TOKEN\"; the token is in {}\n",
               path);
  }
}

void add_named_tokens(ServeParts& parts, const ServeConfig& config) {
  std::vector<TokenSetting> tokens = config.tokens;
  open_tokens(tokens);
  for (const TokenSetting& token : tokens) {
    parts.tokens.add(token.name, token.sha256);
    parts.names.push_back(token.name);
  }
}

}  // namespace

std::string ServeParts::public_url() const {
  return origin_of(address, tls != nullptr) + "/mcp";
}

std::string ServeParts::preview_url() const {
  return origin_of(*preview_address, tls != nullptr);
}

std::string own_token(const std::string& path, bool& made) {
  if (auto token = read_token(path)) return *token;
  make_directories(path.substr(0, path.rfind('/')), 0700);
  const Fd file{::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600)};
  if (!file && errno == EEXIST) {  // another belljar was faster
    if (auto token = read_token(path)) return *token;
  }
  if (!file) fail_errno(errno, "make the token " + path);
  std::string token = serve::random_token();
  const std::string line = token + "\n";
  if (::write(file.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size()) ||
      ::fsync(file.get()) != 0) {
    const int error = errno;
    ::unlink(path.c_str());
    fail_errno(error, "write the token " + path);
  }
  made = true;
  return token;
}

void check_serve_settings(const Config& config) {
  const ServeConfig& serve = config.serve;
  const bool is_loopback = parse_listen(serve.listen).is_loopback;
  const bool has_owners = !serve.tokens.empty() || !serve.oauth_issuer.empty();
  if (serve.no_auth && !is_loopback) {
    fail(Code::invalid,
         "listen is {}, which others can reach, and no-auth lets everybody run programs here; use "
         "a loopback address, or tokens",
         serve.listen);
  }
  if (serve.no_auth && has_owners)
    fail(Code::invalid, "no-auth contradicts tokens and oauth-issuer; leave one of them out");
  if (serve.tls_certificate.empty() != serve.tls_key.empty())
    fail(Code::invalid, "tls-cert and tls-key go together; one of them is missing");
  if (!serve.oauth_issuer.empty() && !serve::is_safe_address(*net::parse_url(serve.oauth_issuer)))
    fail(Code::invalid, "oauth-issuer is {}; it must be an https address", serve.oauth_issuer);
  if (has_owners && !config.tools.files_dir.empty())
    log::warning("files-dir is not used: give owners directories of their own in [tokens.NAME]");
  if (!is_loopback && serve.tls_certificate.empty())
    log::warning(
        "listen is {} without TLS: tokens and programs can be read on the way; use "
        "tls-cert and tls-key, or a proxy with TLS",
        serve.listen);
}

ServeParts open_serve_parts(const Config& config) {
  const ServeConfig& serve = config.serve;
  ServeParts parts;
  parts.address = parse_listen(serve.listen);
  parts.listener = net::listen_on(parts.address.host, parts.address.port);
  parts.address.port = net::listening_port(parts.listener.get());
  parts.preview_address = preview_address(serve);
  if (parts.preview_address) {
    ListenAddress& place = *parts.preview_address;
    parts.preview_listener = net::listen_on(place.host, place.port);
    place.port = net::listening_port(parts.preview_listener.get());
  }
  parts.tls = open_tls(serve);
  if (!serve.audit_log.empty()) parts.audit = observe::open_audit_log(serve.audit_log);
  if (!serve.metrics_token_file.empty())
    parts.metrics_sha256 = read_metrics_token(serve.metrics_token_file);
  if (!serve.oauth_issuer.empty()) parts.http = http_settings();
  const std::string url = serve.public_url.empty() ? parts.public_url() : serve.public_url;
  fmt::print(stderr, "belljar serves MCP at {}\n", url);
  add_named_tokens(parts, serve);
  if (serve.no_auth) {
    fmt::print(stderr,
               "Everybody on this machine may call it (no-auth). For your MCP client:\n  {}\n",
               client_configuration(url, ""));
  } else if (parts.tokens.empty() && serve.oauth_issuer.empty()) {
    add_own_token(parts, url);
  }
  return parts;
}

}  // namespace belljar::app
