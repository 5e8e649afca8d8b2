#include "net/connection.h"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>

#include "base/bytes.h"
#include "base/error.h"
#include "base/posix.h"
#include "net/http_response_parser.h"
#include "net/open_socket.h"
#include "net/resolve.h"
#include "net/tls.h"

namespace belljar::net {
namespace {

using tcp = asio::ip::tcp;
using unix_stream = asio::local::stream_protocol;
using boost::system::error_code;
using boost::system::system_error;

constexpr size_t kAddressesTried = 4;
constexpr auto kLimitPerAddress = std::chrono::seconds{10};

// `Next` is a socket, TLS over a socket, or TLS over TLS over a socket.
template <class Next>
class AsioStream final : public Stream {
 public:
  explicit AsioStream(Next next) : next_{std::move(next)} {}

  Task<size_t> read_some(std::span<char> buffer) override {
    error_code error;
    const size_t count =
        co_await next_.async_read_some(asio::buffer(buffer.data(), buffer.size()),
                                       asio::redirect_error(asio::use_awaitable, error));
    if (error == asio::error::eof) co_return 0;
    if (error) throw system_error{error};
    co_return count;
  }

  Task<> write(std::string_view bytes) override {
    co_await asio::async_write(next_, asio::buffer(bytes.data(), bytes.size()),
                               asio::use_awaitable);
  }

  Task<> end() override {
    error_code ignored;  // a peer that is gone has seen the end
    if constexpr (requires { next_.shutdown(asio::socket_base::shutdown_send, ignored); }) {
      next_.shutdown(asio::socket_base::shutdown_send, ignored);
    } else {
      co_await next_.async_shutdown(asio::redirect_error(asio::use_awaitable, ignored));
      if (ignored == asio::error::operation_aborted) throw system_error{ignored};
    }
    co_return;
  }

  Next take() { return std::move(next_); }

 private:
  Next next_;
};

[[noreturn]] void rethrow(const system_error& fault, const std::string& what, const char* advice) {
  if (fault.code() == asio::error::operation_aborted) throw fault;
  fail(Code::unavailable, "{}: {}{}", what, fault.code().message(), advice);
}

Task<> connect_to(tcp::socket& socket, tcp::endpoint endpoint) {
  open_socket(socket, endpoint.protocol());
  co_await socket.async_connect(endpoint, asio::use_awaitable);
  socket.set_option(tcp::no_delay{true});
}

Task<tcp::socket> connect_any(std::string host, uint16_t port) {
  auto endpoints = co_await resolve(host, port);
  if (endpoints.size() > kAddressesTried) endpoints.resize(kAddressesTried);
  const auto executor = co_await asio::this_coro::executor;
  std::string reason = "it has no address";
  for (const tcp::endpoint& endpoint : endpoints) {
    tcp::socket socket{executor};
    try {
      if (co_await with_timeout(kLimitPerAddress, connect_to(socket, endpoint)))
        co_return std::move(socket);
      reason = "no answer";
    } catch (const system_error& fault) {
      if (fault.code() == asio::error::operation_aborted) throw;
      reason = fault.code().message();
    }
  }
  fail(Code::unavailable,
       "cannot connect to {} port {}: {} (is there a network? behind a proxy, set `https-proxy` in "
       "~/.npmrc or HTTPS_PROXY)",
       host, port, reason);
}

template <class Next>
Task<AsioStream<asio::ssl::stream<Next>>> start_tls(Next next, const std::string& host,
                                                    asio::ssl::context& context) {
  asio::ssl::stream<Next> stream{std::move(next), context};
  expect_host(stream.native_handle(), host);
  error_code error;
  co_await stream.async_handshake(asio::ssl::stream_base::client,
                                  asio::redirect_error(asio::use_awaitable, error));
  if (error == asio::error::operation_aborted) throw system_error{error};
  if (error)
    fail(Code::unavailable, "TLS with {} failed: {}", host,
         why_handshake_failed(stream.native_handle(), error.message()));
  co_return AsioStream<asio::ssl::stream<Next>>{std::move(stream)};
}

// Asks the proxy for a tunnel to the host of `url`.
Task<> tunnel(Stream& stream, const Url& url, const Url& proxy) {
  const bool ipv6 = url.host.find(':') != std::string::npos;
  const std::string where =
      ipv6 ? fmt::format("[{}]:{}", url.host, url.port) : fmt::format("{}:{}", url.host, url.port);
  std::string request = fmt::format("CONNECT {0} HTTP/1.1\r\nHost: {0}\r\n", where);
  if (const std::string value = basic_authorization(proxy); !value.empty())
    request += "Proxy-Authorization: " + value + "\r\n";
  request += "\r\n";
  HttpResponseParser answer{HttpResponseParser::Body::none, 0};
  try {
    co_await stream.write(request);
    // Byte by byte: what follows the head already belongs to the tunnel.
    char byte = 0;
    const std::span<char> buffer{&byte, 1};
    while (!answer.is_done()) {
      if (co_await stream.read_some(buffer) == 0)
        fail(Code::unavailable, "the proxy {} closed the connection", proxy.host);
      answer.feed({&byte, 1});
    }
  } catch (const system_error& fault) {
    rethrow(fault, "the proxy " + proxy.host, "");
  }
  if (answer.head().status / 100 == 2) co_return;
  fail(Code::unavailable, "the proxy {} refused to connect to {}: status {}{}", proxy.host, where,
       answer.head().status,
       answer.head().status == 407 ? " (put user and password into the proxy's URL)" : "");
}

}  // namespace

std::string basic_authorization(const Url& url) {
  if (url.user.empty() && url.password.empty()) return "";
  return "Basic " + base64(url.user + ":" + url.password);
}

Task<std::unique_ptr<Stream>> open_connection(Url url, std::optional<Url> proxy,
                                              asio::ssl::context* tls) {
  using Plain = AsioStream<tcp::socket>;
  using Tls = AsioStream<asio::ssl::stream<tcp::socket>>;
  using TlsInTls = AsioStream<asio::ssl::stream<asio::ssl::stream<tcp::socket>>>;
  const Url& first = proxy ? *proxy : url;
  Plain plain{co_await connect_any(first.host, first.port)};
  if (!first.is_tls()) {
    if (!url.is_tls()) co_return std::make_unique<Plain>(std::move(plain));
    if (proxy) co_await tunnel(plain, url, *proxy);
    Tls secure = co_await start_tls(plain.take(), url.host, *tls);
    co_return std::make_unique<Tls>(std::move(secure));
  }
  Tls secure = co_await start_tls(plain.take(), first.host, *tls);
  if (!proxy || !url.is_tls()) co_return std::make_unique<Tls>(std::move(secure));
  co_await tunnel(secure, url, *proxy);
  TlsInTls inner = co_await start_tls(secure.take(), url.host, *tls);
  co_return std::make_unique<TlsInTls>(std::move(inner));
}

namespace {

tcp::socket adopt(const asio::any_io_executor& executor, Fd fd) {
  sockaddr_storage name{};
  socklen_t size = sizeof name;
  sys(::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&name), &size), "look at a socket");
  tcp::socket socket{executor};
  socket.assign(name.ss_family == AF_INET6 ? tcp::v6() : tcp::v4(), fd.release());
  return socket;
}

}  // namespace

Task<std::unique_ptr<Stream>> open_unix_connection(std::string path) {
  unix_stream::socket socket{co_await asio::this_coro::executor};
  open_socket(socket, unix_stream{});
  const unix_stream::endpoint endpoint{path};
  co_await socket.async_connect(endpoint, asio::use_awaitable);
  co_return std::make_unique<AsioStream<unix_stream::socket>>(std::move(socket));
}

std::unique_ptr<Stream> plain_stream(const asio::any_io_executor& executor, Fd socket) {
  return std::make_unique<AsioStream<tcp::socket>>(adopt(executor, std::move(socket)));
}

Task<std::unique_ptr<Stream>> start_tls(Fd socket, std::string host, asio::ssl::context& tls) {
  tcp::socket plain = adopt(co_await asio::this_coro::executor, std::move(socket));
  auto secure = co_await start_tls(std::move(plain), host, tls);
  co_return std::make_unique<decltype(secure)>(std::move(secure));
}

Task<std::unique_ptr<Stream>> accept_tls(Fd socket, asio::ssl::context& tls) {
  using Tls = asio::ssl::stream<tcp::socket>;
  Tls stream{adopt(co_await asio::this_coro::executor, std::move(socket)), tls};
  co_await stream.async_handshake(asio::ssl::stream_base::server, asio::use_awaitable);
  co_return std::make_unique<AsioStream<Tls>>(std::move(stream));
}

}  // namespace belljar::net
