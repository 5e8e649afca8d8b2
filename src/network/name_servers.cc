#include "network/name_servers.h"

#include "base/error.h"
#include "base/log.h"
#include "base/posix.h"

namespace belljar::network {

namespace {

constexpr size_t kMostServers = 3;
constexpr uint16_t kPort = 53;
constexpr size_t kLargestFile = 64u << 10;
constexpr std::chrono::seconds kInterval{1};

std::string_view next_word(std::string_view& line) {
  constexpr std::string_view kBlank = " \t\r";
  line.remove_prefix(std::min(line.find_first_not_of(kBlank), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(kBlank));
  line.remove_prefix(word.size());
  return word;
}

bool is_same_file(const struct ::stat& one, const struct ::stat& other) {
  return one.st_dev == other.st_dev && one.st_ino == other.st_ino && one.st_size == other.st_size &&
         one.st_mtim.tv_sec == other.st_mtim.tv_sec && one.st_mtim.tv_nsec == other.st_mtim.tv_nsec;
}

}  // namespace

NameServerList parse_name_servers(std::string_view text) {
  NameServerList servers;
  while (!text.empty() && servers.size() < kMostServers) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (next_word(line) != "nameserver") continue;
    boost::system::error_code error;
    const auto address = boost::asio::ip::make_address(std::string{next_word(line)}, error);
    if (!error) servers.emplace_back(address, kPort);
  }
  if (servers.empty()) servers.emplace_back(boost::asio::ip::address_v4::loopback(), kPort);
  return servers;
}

const NameServerList& NameServers::at(Time now) {
  if (!path_.empty() && (!looked_ || now - *looked_ >= kInterval)) {
    looked_ = now;
    read_if_changed();
  }
  return servers_;
}

void NameServers::read_if_changed() {
  struct ::stat found = {};
  // Without a file it stays all zero, and so is like one that has been seen empty.
  const bool exists = ::stat(path_.c_str(), &found) == 0;
  if (!servers_.empty() && is_same_file(found, seen_)) return;
  seen_ = found;
  std::string text;
  try {
    if (exists) text = read_file(path_, kLargestFile);
  } catch (const Error& e) {
    log::warning("the host's name servers are unknown: {}", e.what());
  }
  servers_ = parse_name_servers(text);
}

}  // namespace belljar::network
