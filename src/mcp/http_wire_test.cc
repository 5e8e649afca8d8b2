// Streamable HTTP as it is on the wire: an endpoint behind a listener, and clients with sockets.
#include <gmock/gmock.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>

#include "mcp/http_endpoint.h"
#include "mcp/testing.h"
#include "net/http_listener.h"

namespace belljar::mcp {
namespace {

using asio::ip::tcp;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

class Wire {
 public:
  explicit Wire(const asio::any_io_executor& executor)
      : server{demo()},
        go{executor},
        endpoint{executor, server, ""},
        listener{executor, net::listen_on("127.0.0.1", 0),
                 [this](net::HttpExchange& exchange) { return endpoint.handle(exchange); }},
        tasks_{executor} {
    add_tool(server, "work", [this](json::object, Call&) { return work(); });
    tasks_.spawn("listener", listener.run());
  }

  Task<ToolResult> work() {
    ++begun;
    try {
      co_await go.wait();
    } catch (...) {
      ++cancelled;
      throw;
    }
    co_return ToolResult{};
  }

  // Ends as a server does: clients are told, then everything is waited for.
  Task<> stop() {
    endpoint.drain();
    listener.drain();
    co_await endpoint.stop();
    co_await tasks_.stop();
  }

  Server server;
  Event go;
  HttpEndpoint endpoint;
  net::HttpListener listener;
  int begun = 0;
  int cancelled = 0;

 private:
  TaskGroup tasks_;
};

class Client {
 public:
  Client(const asio::any_io_executor& executor, Wire& wire) : socket_{executor} {
    socket_.connect(tcp::endpoint{asio::ip::address_v4::loopback(), wire.listener.port()});
  }
  Task<> send(std::string bytes) {
    co_await asio::async_write(socket_, asio::buffer(bytes), asio::use_awaitable);
  }
  // Everything up to this text.
  Task<std::string> receive(std::string text) {
    const size_t size = co_await asio::async_read_until(socket_, asio::dynamic_buffer(received_),
                                                        text, asio::use_awaitable);
    std::string result = received_.substr(0, size);
    received_.erase(0, size);
    co_return result;
  }
  void close() { socket_.close(); }

 private:
  tcp::socket socket_;
  std::string received_;
};

std::string post(std::string_view headers, std::string_view body) {
  return fmt::format(
      "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "Accept: application/json, text/event-stream\r\n{}Content-Length: {}\r\n\r\n{}",
      headers, body.size(), body);
}

std::string modern_call() {
  return post("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: work\r\n",
              modern("7", "tools/call", R"("name":"work")"));
}

// Lets the loop turn until something has happened.
template <class Condition>
Task<> until(Condition condition) {
  const auto executor = co_await asio::this_coro::executor;
  while (!condition()) co_await asio::post(executor, asio::use_awaitable);
}

Task<> close_during_a_call() {
  const auto executor = co_await asio::this_coro::executor;
  Wire wire{executor};
  Client client{executor, wire};
  co_await client.send(modern_call());
  const auto begun = [&wire] { return wire.begun == 1; };
  co_await until(begun);
  client.close();
  const auto cancelled = [&wire] { return wire.cancelled == 1; };
  co_await until(cancelled);
  co_await wire.stop();
}

TEST(HttpWire, ClosingTheConnectionCancelsAModernCall) {
  run(close_during_a_call());
}

Task<> answer_in_order() {
  const auto executor = co_await asio::this_coro::executor;
  Wire wire{executor};
  Client client{executor, wire};
  // What is sent ahead is no reason to think that the client is gone.
  co_await client.send(modern_call() + modern_call());
  const auto begun = [&wire] { return wire.begun == 1; };
  co_await until(begun);
  wire.go.set();
  EXPECT_THAT(co_await client.receive("\"id\":7"), StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(co_await client.receive("\"id\":7"), HasSubstr("HTTP/1.1 200 OK\r\n"));
  EXPECT_EQ(wire.cancelled, 0);
  co_await wire.stop();
}

TEST(HttpWire, CallsSentAheadAreAnsweredOneAfterTheOther) {
  run(answer_in_order());
}

Task<> come_back() {
  const auto executor = co_await asio::this_coro::executor;
  Wire wire{executor};
  Client first{executor, wire};
  co_await first.send(post("", initialize("2025-11-25")));
  co_await first.receive("Mcp-Session-Id: ");
  const std::string session = "Mcp-Session-Id: " + co_await first.receive("\r\n");
  co_await first.receive("{\"jsonrpc\"");
  co_await first.send(post(session, request("2", "tools/call", R"({"name":"work"})")));
  EXPECT_THAT(co_await first.receive("data: \n\n"), EndsWith("id: 2_0\nretry: 500\ndata: \n\n"));
  first.close();
  const auto noticed = [&wire] { return wire.listener.connections() == 0; };
  co_await until(noticed);
  EXPECT_EQ(wire.cancelled, 0);

  Client second{executor, wire};
  co_await second.send("GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n" +
                       session + "Last-Event-ID: 2_0\r\n\r\n");
  EXPECT_THAT(co_await second.receive("\r\n\r\n"), StartsWith("HTTP/1.1 200 OK\r\n"));
  wire.go.set();
  const std::string answer = co_await second.receive("0\r\n\r\n");
  EXPECT_THAT(answer, HasSubstr("event: message\nid: 2_1\ndata: {\"jsonrpc\":\"2.0\",\"id\":2,"));
  co_await wire.stop();
}

TEST(HttpWire, ALegacyClientComesBackForItsAnswer) {
  run(come_back());
}

Task<> shut_down() {
  const auto executor = co_await asio::this_coro::executor;
  Wire wire{executor};
  Client client{executor, wire};
  co_await client.send(
      post("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\n",
           modern("1", "subscriptions/listen", R"("notifications":{"toolsListChanged":true})")));
  co_await client.receive("acknowledged");
  co_await wire.stop();
  EXPECT_THAT(co_await client.receive("0\r\n\r\n"), HasSubstr("\"resultType\":\"complete\""));
}

TEST(HttpWire, AShutdownEndsSubscriptionsWithTheirResult) {
  run(shut_down());
}

}  // namespace
}  // namespace belljar::mcp
