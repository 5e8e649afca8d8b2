#include "network/outside.h"

#include <sys/resource.h>

#include <algorithm>

namespace belljar::network {

namespace {

// Half of the descriptors there may be, at six for each.
size_t most_connections() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return 64;
  return std::min<size_t>(files.rlim_cur, 1u << 20) / 12;
}

Task<> end(std::unique_ptr<Egress> egress) {
  co_await egress->stop();
}

}  // namespace

Outside::Outside(const asio::any_io_executor& executor, const Clock& clock, const Secrets* secrets)
    : executor_{executor}, clock_{clock}, secrets_{secrets}, ends_{executor} {
  connections_.most = most_connections();
}

std::shared_ptr<Connectivity> Outside::connect(Gate gate, Policy policy) {
  const Egress::Shared shared{resolver_, connections_, clock_, secrets_};
  auto egress = std::make_unique<Egress>(executor_, std::move(gate), std::move(policy), shared);
  return {egress.release(), [this](Egress* last) {
            ends_.spawn("end a way out", end(std::unique_ptr<Egress>{last}));
          }};
}

std::map<std::string, std::string> Outside::variables(const Policy& policy) const {
  return secrets_ != nullptr ? secrets_->variables(policy) : std::map<std::string, std::string>{};
}

}  // namespace belljar::network
