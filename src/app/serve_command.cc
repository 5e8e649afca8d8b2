#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>

#include "app/commands.h"
#include "app/offer.h"
#include "app/serve_parts.h"
#include "app/service.h"
#include "app/wiring.h"
#include "base/log.h"
#include "base/task_group.h"
#include "mcp/socket_transport.h"

namespace belljar::app {

namespace {

Task<> wait_for(asio::signal_set& signals) {
  co_await signals.async_wait(asio::use_awaitable);
}

Task<> drain(Service& service, std::chrono::seconds limit) {
  if (!co_await with_timeout(limit, service.drain()))
    log::warning("calls are cancelled, because drain-timeout ({} s) is over", limit.count());
}

// Until the first signal, and then until calls have ended, their time is up, or there is a second
// signal.
Task<> serve_until_told(Service& service, const ServeConfig& config) {
  using namespace asio::experimental::awaitable_operators;
  asio::signal_set signals{co_await asio::this_coro::executor, SIGINT, SIGTERM, SIGHUP};
  service.start();
  co_await wait_for(signals);
  co_await (drain(service, config.drain_timeout) || wait_for(signals));
}

Task<> serve(const Config& config, Foundation foundation, ServeParts parts) {
  const auto executor = co_await asio::this_coro::executor;
  const auto socket = std::move(foundation.socket);
  const mcp::SocketOptions socket_options = local_options(foundation);
  warn_of_settings(config);
  Wiring wiring{executor, config, std::move(foundation)};
  co_await wiring.check_host(config.require);
  Service service{executor, config, wiring, std::move(parts)};
  TaskGroup tasks{executor};
  std::optional<mcp::SocketTransport> local;
  if (socket) {
    local.emplace(executor, service.operator_server(), socket->take(), socket_options);
    tasks.spawn("serve the operator", local->run());
  }
  tasks.spawn("tidy the runtimes", wiring.tidy());
  tasks.spawn("read packages again", wiring.packages().scrub());
  co_await serve_until_told(service, config.serve);
  co_await tasks.stop();
  co_await service.stop();
  co_await wiring.shut_down();
}

std::map<std::string, std::string> files_of_owners(const ServeConfig& config) {
  std::map<std::string, std::string> files;
  for (const TokenSetting& token : config.tokens) {
    if (!token.files_dir.empty()) files[token.name] = token.files_dir;
  }
  return files;
}

}  // namespace

int serve_command(const LoadedConfig& loaded) {
  Config config = loaded.config;
  check_serve_settings(config);
  const bool has_owners = !config.serve.tokens.empty() || !config.serve.oauth_issuer.empty();
  if (has_owners) config.tools.files_dir.clear();
  config.sessions.quota.per_owner =
      std::min(config.sessions.quota.total, config.serve.owner_sandboxes);
  ServeParts parts;
  FoundationWishes wishes;
  wishes.socket = LocalSocket::yes;
  wishes.files_of_owners = files_of_owners(config.serve);
  wishes.with_rights = [&parts, &config] { parts = open_serve_parts(config); };
  auto foundation = lay_foundation(config, wishes);
  asio::io_context context{1};
  check_timers(context);
  std::exception_ptr failure;
  asio::co_spawn(context, serve(config, std::move(foundation), std::move(parts)),
                 [&failure](const std::exception_ptr& error) { failure = error; });
  context.run();
  if (failure) std::rethrow_exception(failure);
  return 0;
}

}  // namespace belljar::app
