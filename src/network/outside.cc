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

template <class Way>
Task<> end(std::unique_ptr<Way> way) {
  co_await way->stop();
}

}  // namespace

Outside::Outside(const asio::any_io_executor& executor, const Clock& clock, const Secrets* secrets)
    : executor_{executor},
      clock_{clock},
      secrets_{secrets},
      budget_{most_descriptors()},
      ends_{executor} {}

// `Source` is what programs' wishes come through.
template <class Way, class Source>
std::shared_ptr<Connectivity> Outside::make(Source source, Policy policy) {
  const Passage::Shared shared{resolver_, budget_, clock_, secrets_};
  auto way = std::make_unique<Way>(executor_, std::move(source), std::move(policy), shared);
  return {way.release(),
          [this](Way* last) { ends_.spawn("end a way out", end(std::unique_ptr<Way>{last})); }};
}

std::shared_ptr<Connectivity> Outside::connect(Gate gate, Policy policy) {
  return make<Egress>(std::move(gate), std::move(policy));
}

std::shared_ptr<Connectivity> Outside::serve_proxy(Fd listener, Policy policy) {
  return make<ForwardProxy>(std::move(listener), std::move(policy));
}

std::map<std::string, std::string> Outside::variables(const Policy& policy) const {
  return secrets_ != nullptr ? secrets_->variables(policy) : std::map<std::string, std::string>{};
}

}  // namespace belljar::network
