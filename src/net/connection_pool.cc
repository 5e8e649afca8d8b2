#include "net/connection_pool.h"

namespace belljar::net {
namespace {

constexpr size_t kIdlePerOrigin = 16;  // npm asks for 15 things at once
constexpr auto kLongestIdle = std::chrono::seconds{15};

std::string origin(const Url& url) {
  return url.scheme + "://" + authority(url);
}

}  // namespace

std::unique_ptr<Stream> ConnectionPool::take(const Url& url) {
  std::vector<Idle>& idle = by_origin_[origin(url)];
  const Time oldest = std::chrono::steady_clock::now() - kLongestIdle;
  std::erase_if(idle, [oldest](const Idle& one) { return one.since < oldest; });
  if (idle.empty()) return nullptr;
  auto stream = std::move(idle.back().stream);
  idle.pop_back();
  return stream;
}

void ConnectionPool::put(const Url& url, std::unique_ptr<Stream> stream) {
  std::vector<Idle>& idle = by_origin_[origin(url)];
  if (idle.size() < kIdlePerOrigin)
    idle.push_back({std::move(stream), std::chrono::steady_clock::now()});
}

}  // namespace belljar::net
