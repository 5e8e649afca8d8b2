#include "packages/registry_proxy.h"

#include <sys/stat.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/error.h"
#include "packages/served_document.h"

namespace belljar::packages {
namespace {

constexpr std::string_view kTarballs = "/-/tarball/";

// "@scope%2fname" → "@scope/name". What else is encoded stays so, and is then no package's name.
std::string decode(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const bool slash = text.starts_with("%2f") || text.starts_with("%2F");
    const bool at = text.starts_with("%40");
    result += slash ? '/' : at ? '@' : text.front();
    text.remove_prefix(slash || at ? 3 : 1);
  }
  return result;
}

}  // namespace

RegistryProxy::RegistryProxy(Registry& registry, Fd listener, std::string directory,
                             ProxyLimits limits, Progress on_progress)
    : registry_{registry},
      listener_{std::move(listener)},
      url_{fmt::format("http://127.0.0.1:{}/", net::listening_port(listener_.get()))},
      directory_{std::move(directory)},
      limits_{limits},
      on_progress_{std::move(on_progress)} {}

Task<> RegistryProxy::serve(std::vector<std::string> expected) {
  using namespace asio::experimental::awaitable_operators;
  net::HttpHandler handler = [this](net::HttpServerRequest request) {
    return answer(std::move(request));
  };
  const net::HttpServerLimits limits;
  co_await (net::serve_http(std::move(listener_), std::move(handler), limits) &&
            fetch_ahead(std::move(expected)));
}

Task<> RegistryProxy::fetch_ahead(std::vector<std::string> packages) {
  try {
    for (const std::string& package : packages) {
      std::string body = co_await fetch_document(package);
      ahead_[package] = std::move(body);
    }
  } catch (const Error&) {
    co_return;  // npm will ask for it and be told
  }
}

const PackageDocument* RegistryProxy::document(std::string_view package) const {
  const auto at = documents_.find(package);
  return at == documents_.end() ? nullptr : &at->second;
}

std::string RegistryProxy::waiting_for() const {
  return waiting_.empty() ? "" : *waiting_.begin();
}

std::optional<RegistryProxy::Asked> RegistryProxy::parse_target(std::string_view target) {
  const std::string path = decode(target);
  if (!path.starts_with('/')) return std::nullopt;
  Asked asked;
  if (path.starts_with(kTarballs)) {
    const size_t slash = path.rfind('/');
    if (slash < kTarballs.size() || !path.ends_with(kTarballSuffix)) return std::nullopt;
    asked.package = path.substr(kTarballs.size(), slash - kTarballs.size());
    asked.version = path.substr(slash + 1, path.size() - slash - 1 - kTarballSuffix.size());
    if (asked.version.empty()) return std::nullopt;
  } else {
    asked.package = path.substr(1);
  }
  if (!is_package_name(asked.package)) return std::nullopt;
  return asked;
}

Task<net::HttpAnswer> RegistryProxy::answer(net::HttpServerRequest request) {
  const auto asked = parse_target(request.target);
  if (!asked || request.method != "GET") fail(Code::not_found, "there are only packages here");
  const auto waiting = waiting_.insert(asked->package);
  try {
    if (++requests_ > limits_.requests)
      fail(Code::exhausted, "more than {} requests in one install", limits_.requests);
    net::HttpAnswer answer;
    if (asked->version.empty()) {
      answer = co_await give_document(asked->package);
    } else {
      answer = co_await give_tarball(asked->package, asked->version);
    }
    waiting_.erase(waiting);
    co_return answer;
  } catch (const Error& error) {
    waiting_.erase(waiting);
    trouble_ = Trouble{error.code(), asked->package, error.what()};
    // The reason names hosts, which are no business of the sandbox.
    fail(error.code(), "{} cannot be had", asked->package);
  }
}

void RegistryProxy::count(uint64_t bytes) {
  bytes_ += bytes;
  if (bytes_ > limits_.total)
    fail(Code::exhausted, "the packages of one install have more than {} together",
         format_bytes(limits_.total));
}

Task<std::string> RegistryProxy::fetch_document(std::string package) {
  std::string body =
      co_await registry_.raw_document(package, DocumentDetail::abbreviated, &connections_);
  count(body.size());
  const std::string base = url_.substr(0, url_.size() - 1) + std::string{kTarballs};
  auto work = [package, base, body = std::move(body)] {
    return serve_document(package, body, base);
  };
  ServedDocument served = co_await run_blocking(std::move(work));
  documents_[package] = std::move(served.document);
  co_return std::move(served.body);
}

Task<net::HttpAnswer> RegistryProxy::give_document(std::string package) {
  net::HttpAnswer answer;
  if (auto ahead = ahead_.extract(package)) {
    answer.body = std::move(ahead.mapped());
  } else {
    answer.body = co_await fetch_document(std::move(package));
  }
  co_return answer;
}

Task<net::HttpAnswer> RegistryProxy::give_tarball(std::string package, std::string version) {
  const PackageDocument* document = this->document(package);
  const PackageVersion* found = document != nullptr ? document->find(version) : nullptr;
  if (found == nullptr) fail(Code::not_found, "{} {} was not offered here", package, version);
  uint64_t received = 0;
  DownloadProgress progress = [&](uint64_t bytes, uint64_t total) {
    if (std::max(bytes, total) > limits_.tarball)
      fail(Code::exhausted, "{} {} has more than {}", package, version,
           format_bytes(limits_.tarball));
    // A second attempt starts from zero.
    count(bytes > received ? bytes - received : bytes);
    received = bytes;
  };
  net::HttpAnswer answer;
  answer.file = co_await registry_.download(*found, directory_, std::move(progress), &connections_);
  answer.type = "application/octet-stream";
  answer.size = received;
  ++packages_;
  if (on_progress_) on_progress_(*this);
  co_return answer;
}

}  // namespace belljar::packages
