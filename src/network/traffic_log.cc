#include "network/traffic_log.h"

#include <algorithm>

namespace belljar::network {

namespace {

constexpr size_t kMaxEntries = 256;
constexpr const char* kOthers = "*";

}  // namespace

std::shared_ptr<Traffic> TrafficLog::attempt(const std::string& host, uint16_t port,
                                             Traffic::Verdict verdict) {
  const auto find = [&](const std::string& name, uint16_t number) {
    return std::find_if(entries_.begin(), entries_.end(), [&](const auto& entry) {
      return entry->port == number && entry->verdict == verdict && entry->host == name;
    });
  };
  const bool is_full = entries_.size() >= kMaxEntries;
  auto at = find(host, port);
  if (at == entries_.end() && is_full) at = find(kOthers, 0);
  if (at == entries_.end()) {
    auto entry = std::make_shared<Traffic>();
    entry->host = is_full ? kOthers : host;
    entry->port = is_full ? uint16_t{0} : port;
    entry->verdict = verdict;
    at = entries_.insert(entries_.end(), std::move(entry));
  }
  ++(*at)->attempts;
  return *at;
}

std::vector<Traffic> TrafficLog::all() const {
  std::vector<Traffic> all;
  all.reserve(entries_.size());
  for (const auto& entry : entries_) all.push_back(*entry);
  return all;
}

}  // namespace belljar::network
