#include "net/resolve.h"

#include <netdb.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <memory>

namespace belljar::net {
namespace {

using Endpoints = std::vector<asio::ip::tcp::endpoint>;

// Shared by the waiting task and the pool's thread: whichever is last lets it go.
struct LookUp {
  explicit LookUp(const asio::any_io_executor& executor)
      : done{executor}, keep_loop_alive{asio::make_work_guard(executor)} {}

  Event done;
  asio::executor_work_guard<asio::any_io_executor> keep_loop_alive;
  Endpoints endpoints;
  int error = 0;
};

void look_up(LookUp& result, const std::string& host, uint16_t port) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  result.error = ::getaddrinfo(host.c_str(), nullptr, &hints, &list);
  if (result.error != 0) return;
  for (const addrinfo* at = list; at != nullptr; at = at->ai_next) {
    asio::ip::tcp::endpoint endpoint;
    if (at->ai_addrlen > endpoint.capacity()) continue;
    std::memcpy(endpoint.data(), at->ai_addr, at->ai_addrlen);
    endpoint.resize(at->ai_addrlen);
    endpoint.port(port);
    result.endpoints.push_back(endpoint);
  }
  ::freeaddrinfo(list);
}

}  // namespace

Task<Endpoints> resolve(std::string host, uint16_t port) {
  boost::system::error_code error;
  const auto address = asio::ip::make_address(host, error);
  if (!error) co_return Endpoints{{address, port}};

  const auto executor = co_await asio::this_coro::executor;
  auto state = std::make_shared<LookUp>(executor);
  asio::post(blocking_pool(), [state, executor, host, port]() mutable {
    look_up(*state, host, port);
    // The loop's side of the state is let go on the loop.
    asio::post(executor, [state = std::move(state)] {
      state->done.set();
      state->keep_loop_alive.reset();
    });
  });
  co_await state->done.wait();
  if (state->error != 0)
    fail(Code::unavailable, "cannot find the address of {}: {}", host,
         ::gai_strerror(state->error));
  co_return std::move(state->endpoints);
}

}  // namespace belljar::net
