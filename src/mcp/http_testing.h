#pragma once

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mcp/fake_exchange.h"
#include "mcp/http_endpoint.h"
#include "mcp/testing.h"

// Helpers for unit tests only: an endpoint, and clients without sockets.
namespace belljar::mcp {

inline const net::HttpHeaders kJson{{"content-type", "application/json"},
                                    {"accept", "application/json, text/event-stream"}};

inline net::HttpHeaders with(net::HttpHeaders headers, std::string name, std::string value) {
  headers.emplace_back(std::move(name), std::move(value));
  return headers;
}

inline net::HttpHeaders modern_headers(std::string method, std::string name = "") {
  auto headers = with(kJson, "mcp-protocol-version", "2026-07-28");
  headers.emplace_back("mcp-method", std::move(method));
  if (!name.empty()) headers.emplace_back("mcp-name", std::move(name));
  return headers;
}

// A server, its endpoint, and the loop they run on, which turns only when the test says so.
class HttpBench {
 public:
  explicit HttpBench(HttpEndpointOptions options = {})
      : server{demo()},
        endpoint{context.get_executor(), server, "", options},
        tasks_{context.get_executor()} {}
  ~HttpBench() {
    asio::co_spawn(context, finish(), [](const std::exception_ptr& error) {
      if (error) std::rethrow_exception(error);
    });
    context.restart();
    context.run();
  }
  HttpBench(const HttpBench&) = delete;
  HttpBench& operator=(const HttpBench&) = delete;

  FakeExchange& send(std::string method, net::HttpHeaders headers, std::string body = "") {
    net::HttpServerRequest request{std::move(method), "/mcp", std::move(headers), "127.0.0.1"};
    exchanges_.push_back(std::make_unique<FakeExchange>(context.get_executor(), std::move(request),
                                                        std::move(body)));
    FakeExchange& exchange = *exchanges_.back();
    tasks_.spawn("handle", handle(exchange));
    poll();
    return exchange;
  }
  FakeExchange& post(net::HttpHeaders headers, std::string body) {
    return send("POST", std::move(headers), std::move(body));
  }

  // Does everything that can be done without waiting for time to pass.
  void poll() {
    context.restart();
    context.poll();
  }

  // Waits for something that needs time.
  template <class Condition>
  bool until(Condition condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{20};
    while (!condition() && std::chrono::steady_clock::now() < end) {
      context.restart();
      context.run_one_for(std::chrono::milliseconds{50});
    }
    return condition();
  }

  // The headers of a client of the legacy era after its handshake.
  net::HttpHeaders handshake(std::string_view version = "2025-11-25") {
    const std::string id = post(kJson, initialize(version)).header("Mcp-Session-Id");
    auto headers = with(kJson, "mcp-session-id", id);
    headers.emplace_back("mcp-protocol-version", std::string{version});
    post(headers, notification("notifications/initialized"));
    return headers;
  }

  asio::io_context context{1};
  Server server;
  HttpEndpoint endpoint;

 private:
  Task<> handle(FakeExchange& exchange) {
    try {
      co_await endpoint.handle(exchange);
    } catch (const boost::system::system_error&) {
      exchange.finished = false;  // as a listener would see it: the connection is broken
    }
    exchange.returned = true;
  }
  Task<> finish() {
    co_await endpoint.stop();
    co_await tasks_.stop();
  }

  std::deque<std::unique_ptr<FakeExchange>> exchanges_;
  TaskGroup tasks_;
};

}  // namespace belljar::mcp
