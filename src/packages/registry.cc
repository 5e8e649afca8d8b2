#include "packages/registry.h"

#include <fcntl.h>
#include <fmt/format.h>

#include "base/error.h"
#include "base/id.h"
#include "net/http_client.h"
#include "packages/npm_config.h"

namespace belljar::packages {
namespace {

constexpr uint64_t kLargestDocument = 64u << 20;
constexpr uint64_t kLargestTarball = 512u << 20;

Fd unnamed_file(const std::string& directory) {
  Fd file{::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)};
  if (file) return file;
  // Not every file system has O_TMPFILE.
  const std::string path = directory + "/.download-" + random_hex(8);
  file.reset(sys(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600),
                 "create {}", path));
  ::unlink(path.c_str());
  return file;
}

void write_all(int fd, std::string_view bytes) {
  while (!bytes.empty())
    bytes.remove_prefix(
        static_cast<size_t>(sys(::write(fd, bytes.data(), bytes.size()), "store the download")));
}

void check_status(int status, const std::string& host, const std::string& what) {
  if (status == 200) return;
  if (status == 404) fail(Code::not_found, "the registry {} does not have {}", host, what);
  if (status == 401 || status == 403)
    fail(Code::denied, "the registry {} refuses {} (status {}): check the credentials in ~/.npmrc",
         host, what, status);
  fail(Code::unavailable, "the registry {} answers {} with status {}", host, what, status);
}

std::string text_of(const net::Url& url) {
  return url.scheme + "://" + net::authority(url) + url.target;
}

}  // namespace

struct Registry::Client {
  explicit Client(NpmConfig read) : config{std::move(read)}, http{config.http} {}

  net::HttpRequest request(const net::Url& url, const net::Url& registry) const {
    net::HttpRequest result;
    result.url = url;
    // A token never goes over an open line, unless the registry itself is reached that way.
    if (url.is_tls() || !registry.is_tls())
      if (std::string value = config.credentials.authorization_for(url); !value.empty())
        result.headers.emplace_back("Authorization", std::move(value));
    return result;
  }

  // See NpmConfig::replaced_host.
  net::Url tarball_url(const PackageVersion& version, const net::Url& registry) const {
    auto url = net::parse_url(version.tarball);
    if (!url) fail(Code::unavailable, "the registry gives no proper address for {}", version.name);
    if (config.replaced_host != "*" && config.replaced_host != url->host) return *url;
    url->scheme = registry.scheme;
    url->host = registry.host;
    url->port = registry.port;
    if (!url->target.starts_with(registry.target))
      url->target = registry.target + url->target.substr(1);
    return *url;
  }

  NpmConfig config;
  net::HttpClient http;
};

Registry::Registry(Surroundings host)
    : host_{std::move(host)}, configuration_{[host = host_] { return read_npm_config(host); }} {}
Registry::~Registry() = default;

void Registry::read_configuration() {
  try {
    NpmConfig config = read_npm_config(host_);
    const std::string* system_file = host_.variable("SSL_CERT_FILE");
    net::read_ca_files(config.http.tls, system_file != nullptr ? *system_file : "");
    configuration_ = [config] { return config; };
  } catch (const Error&) {
    configuration_ = [error = std::current_exception()]() -> NpmConfig {
      std::rethrow_exception(error);
    };
  }
}

Task<Registry::Client*> Registry::client() {
  if (!client_) {
    auto make = [read = configuration_] { return std::make_unique<Client>(read()); };
    std::unique_ptr<Client> made = co_await run_blocking(std::move(make));
    // Another task may have been quicker, and use its client already.
    if (!client_) client_ = std::move(made);
  }
  co_return client_.get();
}

Task<std::string> Registry::fetch_document(std::string package, DocumentDetail detail,
                                           net::ConnectionPool* connections) {
  if (!is_package_name(package)) fail(Code::invalid, "that is not the name of a package");
  std::string accept = "application/json";
  if (detail == DocumentDetail::abbreviated)
    accept = "application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8";
  RegistryAnswer answer =
      co_await ask(package, path_of(package), std::move(accept), kLargestDocument, connections);
  check_status(answer.status, answer.host, "the package " + package);
  co_return std::move(answer.body);
}

Task<std::string> Registry::raw_document(std::string package, DocumentDetail detail,
                                         net::ConnectionPool* connections) {
  try {
    co_return co_await fetch_document(package, detail, connections);
  } catch (const Error& error) {
    if (error.code() != Code::unavailable) throw;
  }
  co_return co_await fetch_document(package, detail, connections);
}

Task<std::string> Registry::address_of(std::string package) {
  const Client& client = *co_await this->client();
  co_return text_of(client.config.registry_for(package));
}

const std::string& Registry::fingerprint() {
  if (!fingerprint_.empty()) return fingerprint_;
  const NpmConfig config = configuration_();
  fingerprint_ = "registry " + (config.registry ? text_of(*config.registry) : "");
  for (const auto& [scope, url] : config.registry_of_scope)
    fingerprint_ += "\n" + scope + " " + text_of(url);
  return fingerprint_;
}

Task<PackageDocument> Registry::document(std::string package) {
  std::string body = co_await fetch_document(package, DocumentDetail::abbreviated, nullptr);
  auto parse = [package, body = std::move(body)] { return parse_document(package, body); };
  co_return co_await run_blocking(std::move(parse));
}

Task<RegistryAnswer> Registry::ask(std::string package, std::string path, std::string accept,
                                   uint64_t limit, net::ConnectionPool* connections) {
  Client& client = *co_await this->client();
  const net::Url& registry = client.config.registry_for(package);
  net::Url url = registry;
  url.target += path;
  net::HttpRequest request = client.request(url, registry);
  request.headers.emplace_back("Accept", std::move(accept));
  request.limits.body = limit;
  request.limits.total = std::chrono::seconds{120};
  request.connections = connections;
  net::HttpResponse response = co_await client.http.get(std::move(request));
  RegistryAnswer answer;
  answer.status = response.status;
  answer.host = net::authority(response.url);
  answer.body = std::move(response.body);
  co_return answer;
}

Task<bool> Registry::same_registry(std::string package, std::string other) {
  const Client& client = *co_await this->client();
  const net::Url& one = client.config.registry_for(package);
  const net::Url& two = client.config.registry_for(other);
  co_return one.same_origin(two) && one.target == two.target;
}

std::string Registry::path_of(const std::string& package) {
  const size_t slash = package.find('/');
  return slash == std::string::npos ? package
                                    : package.substr(0, slash) + "%2f" + package.substr(slash + 1);
}

Task<Fd> Registry::download(PackageVersion version, std::string directory,
                            DownloadProgress progress, net::ConnectionPool* connections) {
  if (!version.integrity)
    fail(Code::denied, "{} {} has no integrity in the registry, so it cannot be checked",
         version.name, to_string(version.version));
  try {
    co_return co_await download_once(version, directory, progress, connections);
  } catch (const Error& error) {
    if (error.code() != Code::unavailable) throw;
  }
  co_return co_await download_once(version, directory, progress, connections);
}

Task<Fd> Registry::download_once(const PackageVersion& version, std::string directory,
                                 const DownloadProgress& progress,
                                 net::ConnectionPool* connections) {
  Client& client = *co_await this->client();
  const net::Url& registry = client.config.registry_for(version.name);
  net::HttpRequest request = client.request(client.tarball_url(version, registry), registry);
  request.limits.body = kLargestTarball;
  request.limits.total = std::chrono::minutes{30};  // 60 MB over a slow line
  request.connections = connections;
  Fd file = unnamed_file(directory);
  uint64_t received = 0;
  net::BodySink sink = [&file, &received, &progress](std::string_view piece, uint64_t total) {
    write_all(file.get(), piece);
    received += piece.size();
    if (progress) progress(received, total);
  };
  const net::HttpResponse response = co_await client.http.get(std::move(request), std::move(sink));
  const std::string what = version.name + " " + to_string(version.version);
  check_status(response.status, response.url.host, what);
  auto check = [fd = file.get(), integrity = *version.integrity] { return matches(fd, integrity); };
  if (!co_await run_blocking(std::move(check)))
    fail(Code::denied,
         "{} from {} does not have the {} that the registry announced: it was damaged or exchanged",
         what, response.url.host, version.integrity->algorithm);
  co_return file;
}

Task<std::string> Registry::usual_tarball(std::string package, std::string version) {
  Client& client = *co_await this->client();
  net::Url url = client.config.registry_for(package);
  url.target +=
      fmt::format("{}/-/{}-{}.tgz", package, package.substr(package.find('/') + 1), version);
  co_return net::to_string(url);
}

}  // namespace belljar::packages
