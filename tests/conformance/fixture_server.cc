// The server that the official conformance suite is run against.
//
//   fixture_server [--port N]
//
// Listens on 127.0.0.1, at any free port without N, prints its URL and serves until SIGTERM.
#include <boost/asio/signal_set.hpp>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "base/clock.h"
#include "base/task_group.h"
#include "fixtures.h"
#include "mcp/call_tasks.h"
#include "mcp/http_endpoint.h"
#include "mcp/http_guard.h"
#include "net/http_listener.h"

namespace belljar::mcp {

namespace {

Task<> answer(HttpEndpoint& endpoint, net::HttpExchange& exchange) {
  const net::HttpServerRequest& request = exchange.request();
  if (auto refusal = refuse_foreign(request, AllowedHosts{})) {
    co_return co_await exchange.answer(std::move(*refusal));
  }
  if (request.path() != "/mcp") {
    net::HttpAnswer not_found = net::error_answer(404, "the endpoint is /mcp");
    co_return co_await exchange.answer(std::move(not_found));
  }
  co_await endpoint.handle(exchange);
}

Task<> serve(uint16_t port) {
  const auto executor = co_await asio::this_coro::executor;
  SystemClock clock;
  TaskOptions options;
  options.answer_within = milliseconds{0};  // the suite wants to see tasks
  options.poll_interval = milliseconds{200};
  CallTasks tasks{executor, clock, options};
  Server server{ServerInfo{"conformance-fixtures", "1.0.0", "", ""}};
  server.use(tasks);
  add_tools(server);
  add_input_tools(server);
  add_task_tools(server);
  add_prompts_and_resources(server);
  HttpEndpoint endpoint{executor, server, "somebody"};
  const auto handler = [&endpoint](net::HttpExchange& exchange) {
    return answer(endpoint, exchange);
  };
  net::HttpListener listener{executor, net::listen_on("127.0.0.1", port), handler};
  fmt::print("http://127.0.0.1:{}/mcp\n", listener.port());
  std::fflush(stdout);
  TaskGroup group{executor};
  group.spawn("serve HTTP", listener.run());
  asio::signal_set signals{executor, SIGINT, SIGTERM};
  co_await signals.async_wait(asio::use_awaitable);
  co_await endpoint.stop();
  co_await group.stop();
  co_await tasks.stop();
}

}  // namespace

}  // namespace belljar::mcp

int main(int argc, char** argv) {
  uint16_t port = 0;
  if (argc == 3 && std::strcmp(argv[1], "--port") == 0) {
    std::from_chars(argv[2], argv[2] + std::strlen(argv[2]), port);
  } else if (argc != 1) {
    fmt::print(stderr, "usage: fixture_server [--port N]\n");
    return 2;
  }
  std::signal(SIGPIPE, SIG_IGN);
  belljar::run(belljar::mcp::serve(port));
  return 0;
}
