#include <unistd.h>

#include <boost/asio/signal_set.hpp>
#include <csignal>

#include "app/commands.h"
#include "app/offer.h"
#include "app/server_sockets.h"
#include "app/wiring.h"
#include "base/task_group.h"
#include "mcp/socket_transport.h"
#include "mcp/stdio_transport.h"

namespace belljar::app {

namespace {

Task<> stop_on_signal(mcp::StdioTransport& transport) {
  asio::signal_set signals{co_await asio::this_coro::executor, SIGINT, SIGTERM, SIGHUP};
  co_await signals.async_wait(asio::use_awaitable);
  transport.stop();
}

Task<> serve(const Config& config, Foundation foundation) {
  const auto executor = co_await asio::this_coro::executor;
  const auto socket = std::move(foundation.socket);
  const mcp::SocketOptions socket_options = local_options(foundation);
  warn_of_settings(config);
  Wiring wiring{executor, config, std::move(foundation)};
  co_await wiring.check_host(config.require);
  const OwnerParts parts{wiring.files(), wiring.packages()};
  Offer offer{executor, wiring, config.tools, parts};
  mcp::StdioTransport transport{executor, offer.server()};
  TaskGroup tasks{executor};
  std::optional<mcp::SocketTransport> local;
  if (socket) {
    local.emplace(executor, offer.server(), socket->take(), socket_options);
    tasks.spawn("serve local clients", local->run());
  }
  tasks.spawn("tidy the runtimes", wiring.tidy());
  tasks.spawn("read packages again", wiring.packages().scrub());
  tasks.spawn("wait for a signal", stop_on_signal(transport));
  co_await transport.run();
  co_await tasks.stop();
  co_await offer.stop();
  co_await wiring.shut_down();
}

}  // namespace

int mcp_command(const LoadedConfig& loaded) {
  if (::isatty(STDIN_FILENO) != 0) {
    fmt::print(stderr,
               "belljar mcp speaks MCP on stdin and stdout: it is started by an MCP client.\n"
               "`belljar --help` shows how to add it to one. Ctrl-D ends it.\n");
  }
  auto foundation = lay_foundation(loaded.config, LocalSocket::yes);
  asio::io_context context{1};
  check_timers(context);
  std::exception_ptr failure;
  asio::co_spawn(context, serve(loaded.config, std::move(foundation)),
                 [&failure](const std::exception_ptr& error) { failure = error; });
  context.run();
  if (failure) std::rethrow_exception(failure);
  return 0;
}

}  // namespace belljar::app
