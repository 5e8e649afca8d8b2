#include "network/outside.h"

#include <sys/resource.h>

#include <algorithm>

namespace belljar::network {

namespace {

// Half of the descriptors there may be.
size_t most_descriptors() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return 512;
  return std::min<size_t>(files.rlim_cur, 1u << 20) / 2;
}

Task<> end(std::unique_ptr<Egress> egress) {
  co_await egress->stop();
}

}  // namespace

Outside::Outside(const asio::any_io_executor& executor, const Clock& clock, const Secrets* secrets)
    : executor_{executor},
      clock_{clock},
      secrets_{secrets},
      budget_{most_descriptors()},
      ends_{executor} {}

std::shared_ptr<Connectivity> Outside::connect(Gate gate, Policy policy) {
  const Passage::Shared shared{resolver_, budget_, clock_, secrets_};
  auto egress = std::make_unique<Egress>(executor_, std::move(gate), std::move(policy), shared);
  return {egress.release(), [this](Egress* last) {
            ends_.spawn("end a way out", end(std::unique_ptr<Egress>{last}));
          }};
}

std::map<std::string, std::string> Outside::variables(const Policy& policy) const {
  return secrets_ != nullptr ? secrets_->variables(policy) : std::map<std::string, std::string>{};
}

}  // namespace belljar::network
