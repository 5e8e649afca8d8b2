#include "network/proxy_request.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "net/http_request_parser.h"
#include "net/url.h"
#include "network/host_name.h"

namespace belljar::network {

namespace {

using boost::asio::ip::address;

std::optional<address> read_address(const std::string& text) {
  boost::system::error_code error;
  address read = boost::asio::ip::make_address(text, error);
  if (error) return std::nullopt;
  if (!read.is_v6() || !read.to_v6().is_v4_mapped()) return read;
  return boost::asio::ip::make_address_v4(boost::asio::ip::v4_mapped, read.to_v6());
}

ProxyRequest request_to(const net::Url& url) {
  if (!url.user.empty() || !url.password.empty() || url.host.find('%') != std::string::npos)
    fail(Code::invalid, "a user, a password or a zone is no part of a host");
  ProxyRequest request;
  request.port = url.port;
  request.address = read_address(url.host);
  if (request.address) {
    request.host = request.address->to_string();
    return request;
  }
  const std::string_view odd = why_no_host_name(url.host);
  const auto name = canonical_name(url.host);
  if (!name) fail(Code::invalid, "\"{}\" {}", url.host, odd);
  request.host = *name;
  return request;
}

// "host:port", or "[address]:port".
ProxyRequest read_tunnel(const std::string& target) {
  const auto url = net::parse_url("http://" + target + "/");
  if (!url || url->target != "/" || url->port == 0 ||
      !target.ends_with(":" + std::to_string(url->port)))
    fail(Code::invalid, "CONNECT takes a host and a port, such as example.com:443");
  return request_to(*url);
}

// Headers that are about the connection to the proxy. Upgrade is for the host.
bool is_for_proxy(std::string_view name) {
  constexpr std::array<std::string_view, 5> kNames{"connection", "host", "keep-alive",
                                                   "proxy-authorization", "proxy-connection"};
  return std::find(kNames.begin(), kNames.end(), lower_ascii(name)) != kNames.end();
}

// As the host expects it, which is to end the connection after its answer: the program's next
// request may be for another host.
std::string head_for_host(const net::RequestHead& head, const net::Url& url) {
  std::string text =
      fmt::format("{} {} HTTP/1.1\r\nHost: {}\r\n", head.method, url.target, net::authority(url));
  for (const auto& [name, value] : head.headers) {
    if (!is_for_proxy(name)) text += fmt::format("{}: {}\r\n", name, value);
  }
  const bool upgrades = !head.all("upgrade").empty();
  return text + (upgrades ? "Connection: Upgrade\r\n\r\n" : "Connection: close\r\n\r\n");
}

}  // namespace

ProxyRequest read_proxy_request(std::string_view bytes) {
  net::HttpRequestParser parser;
  parser.feed(bytes);
  if (!parser.has_head() || !parser.take_rest().empty())
    fail(Code::invalid, "this is not the head of a request");
  const net::RequestHead head = parser.take_head();
  if (head.method == "CONNECT") return read_tunnel(head.target);
  const auto url = net::parse_url(head.target);
  if (!url)
    fail(Code::invalid, "a proxy takes whole addresses, such as http://example.com/, or CONNECT");
  if (url->is_tls()) fail(Code::invalid, "https takes CONNECT: TLS is between you and the host");
  ProxyRequest request = request_to(*url);
  request.head = head_for_host(head, *url);
  return request;
}

}  // namespace belljar::network
