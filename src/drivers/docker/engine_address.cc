#include "drivers/docker/engine_address.h"

#include <sys/un.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>

#include "base/error.h"

namespace belljar::docker {
namespace {

constexpr std::string_view kUnix = "unix://";
constexpr std::string_view kTcp = "tcp://";

bool is_this_host(const std::string& host) {
  if (host == "localhost") return true;
  boost::system::error_code error;
  const auto address = boost::asio::ip::make_address(host, error);
  return !error && address.is_loopback();
}

bool is_socket_path(std::string_view path) {
  return path.size() > 1 && path.size() < sizeof(sockaddr_un::sun_path) && path.front() == '/' &&
         std::none_of(path.begin(), path.end(), [](unsigned char c) { return c < 0x20; });
}

[[noreturn]] void refuse(std::string_view text) {
  fail(Code::invalid,
       "'{}' is no address of a container engine: use unix:///path/of/its.sock or "
       "tcp://127.0.0.1:2376",
       text);
}

}  // namespace

EngineAddress parse_engine_address(std::string_view text, std::string cert_path) {
  if (text.empty()) text = kDefaultEngine;
  if (text.substr(0, kUnix.size()) == kUnix) {
    const std::string_view path = text.substr(kUnix.size());
    if (!is_socket_path(path)) refuse(text);
    return {.socket = std::string{path}, .url = {}, .cert_path = ""};
  }
  if (text.substr(0, kTcp.size()) != kTcp) refuse(text);
  const std::string rest{text.substr(kTcp.size())};
  const auto url = net::parse_url((cert_path.empty() ? "http://" : "https://") + rest);
  const bool has_port = rest.find_last_of(':') != std::string::npos && rest.back() != ']';
  if (!url || !url->user.empty() || !url->password.empty() || url->target != "/" || !has_port)
    refuse(text);
  if (!is_this_host(url->host))
    fail(
        Code::invalid,
        "the container engine {} is on another host, but sandboxes share directories with belljar: "
        "run belljar on that host, or use an engine of this one (unix:///path/of/its.sock or "
        "tcp://127.0.0.1:2376)",
        text);
  return {.socket = "", .url = url, .cert_path = std::move(cert_path)};
}

std::string to_string(const EngineAddress& address) {
  return address.url ? fmt::format("tcp://{}:{}", address.url->host, address.url->port)
                     : fmt::format("{}{}", kUnix, address.socket);
}

}  // namespace belljar::docker
