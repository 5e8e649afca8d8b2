#include "network/outside.h"

#include "network/egress.h"

namespace belljar::network {

namespace {

Task<> end(std::unique_ptr<Egress> egress) {
  co_await egress->stop();
}

}  // namespace

Outside::Outside(const asio::any_io_executor& executor, const Clock& clock)
    : executor_{executor}, clock_{clock}, ends_{executor} {}

std::shared_ptr<Connectivity> Outside::connect(Gate gate, Policy policy) {
  auto egress =
      std::make_unique<Egress>(executor_, std::move(gate), std::move(policy), resolver_, clock_);
  return {egress.release(), [this](Egress* last) {
            ends_.spawn("end a way out", end(std::unique_ptr<Egress>{last}));
          }};
}

}  // namespace belljar::network
