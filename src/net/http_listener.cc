#include "net/http_listener.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <charconv>

#include "base/error.h"
#include "net/connection.h"
#include "net/http_connection.h"

namespace belljar::net {
namespace {

using boost::system::system_error;

constexpr int kBacklog = 1024;

std::string address_of(const sockaddr_storage& name) {
  char text[INET6_ADDRSTRLEN] = "";
  if (name.ss_family == AF_INET) {
    ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in&>(name).sin_addr, text, sizeof text);
  } else if (name.ss_family == AF_INET6) {
    ::inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6&>(name).sin6_addr, text,
                sizeof text);
  }
  const std::string_view address{text};
  constexpr std::string_view kMapped = "::ffff:";  // one client is not to have two names
  const bool mapped = address.starts_with(kMapped) && address.find('.') != std::string_view::npos;
  return std::string{mapped ? address.substr(kMapped.size()) : address};
}

milliseconds tick_of(const HttpListenerLimits& limits) {
  const milliseconds shortest =
      std::min({limits.head_time, limits.idle, limits.body_time, limits.stall});
  return std::clamp(shortest / 4, milliseconds{1}, milliseconds{1000});
}

}  // namespace

// Counts a client for as long as it is connected.
class HttpListener::Place {
 public:
  Place(HttpListener& listener, const std::string& address)
      : listener_{listener}, at_{listener.peers_.by_address.try_emplace(address, 0).first} {
    ++listener_.peers_.total;
    ++at_->second;
  }
  ~Place() {
    --listener_.peers_.total;
    if (--at_->second == 0) listener_.peers_.by_address.erase(at_);
    listener_.changed_.cancel();
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

 private:
  HttpListener& listener_;
  std::map<std::string, size_t>::iterator at_;
};

HttpListener::HttpListener(asio::any_io_executor executor, Fd listener, ExchangeHandler handler,
                           HttpListenerLimits limits, std::shared_ptr<asio::ssl::context> tls)
    : executor_{std::move(executor)},
      port_{listening_port(listener.get())},
      handler_{std::move(handler)},
      limits_{limits},
      tls_{std::move(tls)},
      listener_{std::move(listener)},
      changed_{executor_, std::chrono::steady_clock::time_point::max()},
      accepting_{executor_},
      clock_{executor_},
      clients_{executor_} {}

HttpListener::~HttpListener() = default;

Task<> HttpListener::run() {
  accepting_id_ = accepting_.spawn("accept HTTP connections", accept_all());
  clock_.spawn("keep the limits of HTTP connections", watch_the_clock());
  std::exception_ptr end;
  try {
    if (draining_) accepting_.cancel(accepting_id_);
    while (!draining_ || peers_.total > 0) {
      boost::system::error_code woken;
      co_await changed_.async_wait(asio::redirect_error(asio::use_awaitable, woken));
    }
  } catch (...) {
    end = std::current_exception();
  }
  // The connections refer to what is here, so not even a second cancellation may end this wait.
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  co_await accepting_.stop();
  co_await clients_.stop();
  co_await clock_.stop();
  if (end) std::rethrow_exception(end);
}

void HttpListener::drain() {
  draining_ = true;
  for (HttpConnection* connection : open_) connection->drain();
  if (accepting_id_ != 0) accepting_.cancel(accepting_id_);
  changed_.cancel();
}

Task<> HttpListener::accept_all() {
  asio::posix::stream_descriptor ready{executor_, listener_.release()};
  ready.non_blocking(true);
  while (true) {
    co_await ready.async_wait(asio::posix::stream_descriptor::wait_read, asio::use_awaitable);
    sockaddr_storage name{};
    socklen_t size = sizeof name;
    Fd fd{::accept4(ready.native_handle(), reinterpret_cast<sockaddr*>(&name), &size,
                    SOCK_CLOEXEC | SOCK_NONBLOCK)};
    if (fd) {
      take(std::move(fd), address_of(name));
    } else if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {
      // Too few descriptors or too little memory: the connection is still there.
      co_await sleep_for(milliseconds{100});
    }
  }
}

void HttpListener::take(Fd socket, std::string peer) {
  const auto same = peers_.by_address.find(peer);
  const bool crowded =
      peers_.total >= limits_.connections ||
      (same != peers_.by_address.end() && same->second >= limits_.connections_per_peer);
  if (crowded) return;
  const int on = 1;
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  clients_.spawn("serve HTTP", serve(std::move(socket), std::move(peer)));
}

Task<> HttpListener::serve(Fd socket, std::string peer) {
  try {
    const Place place{*this, peer};
    co_await serve_client(std::move(socket), std::move(peer));
  } catch (const system_error& fault) {
    // A client that goes away is no fault of anybody.
    if (fault.code() == asio::error::operation_aborted) throw;
  }
}

Task<> HttpListener::serve_client(Fd socket, std::string peer) {
  const int number = socket.get();
  std::unique_ptr<Stream> stream;
  if (tls_) {
    const auto tls = tls_;  // use_tls() may come meanwhile
    auto secured = co_await with_timeout(limits_.head_time, accept_tls(std::move(socket), *tls));
    if (!secured) co_return;
    stream = std::move(*secured);
  } else {
    stream = plain_stream(executor_, std::move(socket));
  }
  HttpConnection connection{executor_,       std::move(stream), number,
                            std::move(peer), handler_,          limits_};
  if (draining_) connection.drain();
  open_.insert(&connection);
  std::exception_ptr end;
  try {
    co_await connection.serve();
  } catch (...) {
    end = std::current_exception();
  }
  open_.erase(&connection);
  if (end) std::rethrow_exception(end);
}

Task<> HttpListener::watch_the_clock() {
  const milliseconds tick = tick_of(limits_);
  asio::steady_timer timer{executor_};
  while (true) {
    timer.expires_after(tick);
    co_await timer.async_wait(asio::use_awaitable);
    const auto now = std::chrono::steady_clock::now();
    for (HttpConnection* connection : open_) connection->check_time(now);
  }
}

namespace {

uint16_t port_in_name(const sockaddr_un& name) {
  const std::string_view path = name.sun_path;
  const std::string_view last = path.substr(path.rfind('/') + 1);
  uint16_t port = 0;
  std::from_chars(last.data(), last.data() + last.size(), port);
  return port;
}

}  // namespace

uint16_t listening_port(int listener) {
  sockaddr_storage name{};
  socklen_t size = sizeof name;
  sys(::getsockname(listener, reinterpret_cast<sockaddr*>(&name), &size),
      "find the port of a socket");
  if (name.ss_family == AF_INET6) return ntohs(reinterpret_cast<sockaddr_in6&>(name).sin6_port);
  if (name.ss_family == AF_UNIX) return port_in_name(reinterpret_cast<sockaddr_un&>(name));
  return ntohs(reinterpret_cast<sockaddr_in&>(name).sin_port);
}

Fd listen_on(const std::string& address, uint16_t port) {
  boost::system::error_code error;
  const auto parsed = asio::ip::make_address(address, error);
  if (error) fail(Code::invalid, "{} is not an IP address to listen at", address);
  const asio::ip::tcp::endpoint endpoint{parsed, port};
  Fd fd{sys(
      ::socket(parsed.is_v6() ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0),
      "make a socket for {}", address)};
  const int on = 1;
  // So that a restart need not wait for the connections of the last run to be forgotten.
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (parsed.is_v6()) ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  sys(::bind(fd.get(), endpoint.data(), static_cast<socklen_t>(endpoint.size())),
      "listen at {} port {}", address, port);
  sys(::listen(fd.get(), kBacklog), "listen at {} port {}", address, port);
  return fd;
}

}  // namespace belljar::net
