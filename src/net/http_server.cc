#include "net/http_server.h"

#include "base/error.h"

namespace belljar::net {
namespace {

Task<> serve_one(const HttpHandler& handler, HttpExchange& exchange) {
  bool has_body = false;
  try {
    co_await exchange.read_body(0);
  } catch (const Error&) {
    has_body = true;
  }
  if (has_body) fail(Code::invalid, "this server takes no request with a body");
  HttpAnswer answer = co_await handler(exchange.request());
  co_await exchange.answer(std::move(answer));
}

}  // namespace

Task<> serve_http(Fd listener, HttpHandler handler, HttpServerLimits limits) {
  ExchangeHandler each = [&handler](HttpExchange& exchange) {
    return serve_one(handler, exchange);
  };
  HttpListenerLimits all;
  all.head = limits.head;
  all.connections = all.connections_per_peer = limits.connections;
  all.head_time = all.idle = all.body_time = all.stall = limits.idle;
  HttpListener server{co_await asio::this_coro::executor, std::move(listener), std::move(each),
                      all};
  co_await server.run();
}

}  // namespace belljar::net
