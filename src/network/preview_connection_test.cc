#include "network/preview_connection.h"

#include <gmock/gmock.h>
#include <sys/socket.h>

#include "base/connect.h"
#include "base/testing.h"
#include "net/connection.h"
#include "net/http_listener.h"

namespace belljar::network {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::pair<Fd, Fd> make_pair_of_sockets() {
  int ends[2];
  sys(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), "make sockets");
  return {Fd{ends[0]}, Fd{ends[1]}};
}

// Reads until the text is there, or the end.
Task<std::string> read_until(net::Stream& stream, std::string wanted) {
  std::string text;
  std::array<char, 4096> buffer;
  while (text.find(wanted) == std::string::npos) {
    const size_t count = co_await stream.read_some(buffer);
    if (count == 0) break;
    text.append(buffer.data(), count);
  }
  co_return text;
}

// A browser and a server in a sandbox, with what carries between them in the middle.
struct Middle {
  using Streams = std::pair<net::Stream*, net::Stream*>;  // the browser's end and the server's

  static Task<> play(Task<> (*scene)(net::Stream& browser, net::Stream& server)) {
    const auto executor = co_await asio::this_coro::executor;
    auto [inside, far] = make_pair_of_sockets();
    Fd* way_in = &inside;
    net::ExchangeHandler handler = [way_in](net::HttpExchange& exchange) {
      auto path = read_preview_path(exchange.request().target);
      return carry_preview(exchange, std::move(*way_in), *path, "http://127.0.0.1:8766");
    };
    net::HttpListener listener{executor, net::listen_on("127.0.0.1", 0), handler};
    TaskGroup tasks{executor};
    tasks.spawn("serve", listener.run());
    {
      asio::ip::tcp::socket socket{executor};
      const asio::ip::tcp::endpoint place{asio::ip::address_v4::loopback(), listener.port()};
      co_await socket.async_connect(place, asio::use_awaitable);
      Fd end{::dup(socket.native_handle())};
      socket.close();
      const auto browser = net::plain_stream(executor, std::move(end));
      const auto server = net::plain_stream(executor, std::move(far));
      co_await scene(*browser, *server);
    }
    co_await tasks.stop();
  }
};

Task<> carries_an_answer(net::Stream& browser, net::Stream& server) {
  co_await browser.write(
      "POST /preview/x/3000/api HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello");
  const std::string request = co_await read_until(server, "hello");
  EXPECT_THAT(request, StartsWith("POST /api HTTP/1.1\r\nHost: localhost:3000\r\n"));
  EXPECT_THAT(request, EndsWith("\r\n\r\nhello"));
  co_await server.write("HTTP/1.1 201 Created\r\nContent-Length: 4\r\nX-Own: 1\r\n\r\ndone");
  const std::string answer = co_await read_until(browser, "0\r\n\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 201 Created\r\n"));
  EXPECT_THAT(answer, HasSubstr("x-own: 1\r\n"));
  EXPECT_THAT(answer, EndsWith("4\r\ndone\r\n0\r\n\r\n"));
}
TEST(PreviewConnection, CarriesAnAnswer) {
  run(Middle::play(carries_an_answer));
}

Task<> passes_events_as_they_come(net::Stream& browser, net::Stream& server) {
  co_await browser.write("GET /preview/x/3000/events HTTP/1.1\r\nHost: h\r\n\r\n");
  co_await read_until(server, "\r\n\r\n");
  co_await server.write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n");
  co_await read_until(browser, "data: 1\n\n");
  co_await server.write("data: 2\n\n");
  const std::string second = co_await read_until(browser, "data: 2\n\n");
  EXPECT_THAT(second, HasSubstr("data: 2"));
}
TEST(PreviewConnection, PassesEventsAsTheyCome) {
  run(Middle::play(passes_events_as_they_come));
}

Task<> becomes_a_websocket(net::Stream& browser, net::Stream& server) {
  co_await browser.write(
      "GET /preview/x/3000/ws HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
      "Sec-WebSocket-Key: k\r\n\r\n");
  co_await read_until(server, "\r\n\r\n");
  co_await server.write(
      "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
      "Sec-WebSocket-Accept: a\r\n\r\nfrom the server");
  const std::string answer = co_await read_until(browser, "from the server");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 101 Switching Protocols\r\n"));
  EXPECT_THAT(answer, HasSubstr("sec-websocket-accept: a\r\n"));
  EXPECT_THAT(answer, HasSubstr("upgrade: websocket\r\n"));
  EXPECT_THAT(answer, Not(HasSubstr("chunked")));
  co_await browser.write("from the browser");
  EXPECT_EQ(co_await read_until(server, "browser"), "from the browser");
  co_await browser.end();
  EXPECT_EQ(co_await read_until(server, "never"), "") << "the end is passed on";
}
TEST(PreviewConnection, BecomesAWebsocket) {
  run(Middle::play(becomes_a_websocket));
}

Task<> ends_when_the_browser_leaves(net::Stream& browser, net::Stream& server) {
  co_await browser.write("GET /preview/x/3000/slow HTTP/1.1\r\nHost: h\r\n\r\n");
  co_await read_until(server, "\r\n\r\n");
  co_await browser.end();
  EXPECT_EQ(co_await read_until(server, "never"), "");
}
TEST(PreviewConnection, EndsWhenTheBrowserLeaves) {
  run(Middle::play(ends_when_the_browser_leaves));
}

Task<> says_that_it_is_no_http(net::Stream& browser, net::Stream& server) {
  co_await browser.write("GET /preview/x/3000/ HTTP/1.1\r\nHost: h\r\n\r\n");
  co_await server.write("SSH-2.0-OpenSSH\r\n");
  const std::string answer = co_await read_until(browser, "}");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 502 "));
}
TEST(PreviewConnection, SaysThatItIsNoHttp) {
  run(Middle::play(says_that_it_is_no_http));
}

}  // namespace
}  // namespace belljar::network
