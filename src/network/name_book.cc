#include "network/name_book.h"

#include <algorithm>
#include <chrono>

namespace belljar::network {

namespace {

using std::chrono::seconds;

// A program needs a moment from the answer to the connection, also when the answer holds for none.
constexpr seconds kGrace{30};
constexpr seconds kLongest{3600};
constexpr size_t kMaxAddresses = 4096;
constexpr size_t kMaxNames = 16;  // of one address

}  // namespace

void NameBook::remember(const std::string& name, const DnsAnswer& answer, Clock::Time now) {
  for (const auto& [address, ttl] : answer.addresses) {
    if (entries_.size() >= kMaxAddresses && !entries_.contains(address)) {
      std::erase_if(entries_, [now](const auto& entry) {
        return std::all_of(entry.second.begin(), entry.second.end(),
                           [now](const Entry& known) { return known.until < now; });
      });
      if (entries_.size() >= kMaxAddresses) return;
    }
    auto& names = entries_[address];
    std::erase_if(names,
                  [&](const Entry& known) { return known.name == name || known.until < now; });
    names.insert(names.begin(), {name, now + std::min(seconds{ttl}, kLongest) + kGrace});
    if (names.size() > kMaxNames) names.pop_back();
  }
}

std::vector<std::string> NameBook::names_of(const asio::ip::address& address,
                                            Clock::Time now) const {
  std::vector<std::string> names;
  const auto at = entries_.find(address);
  if (at == entries_.end()) return names;
  for (const Entry& known : at->second) {
    if (known.until >= now) names.push_back(known.name);
  }
  return names;
}

}  // namespace belljar::network
