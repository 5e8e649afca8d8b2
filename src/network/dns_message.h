#pragma once

#include <boost/asio/ip/address.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// As much of DNS (RFC 1035, 6891) as it takes to let a question through and to know its answer.
// Both come from strangers: what is not clearly a message as it should be is none.
namespace belljar::network {

struct DnsQuery {
  enum Type : uint16_t { a = 1, cname = 5, aaaa = 28, opt = 41, ixfr = 251, axfr = 252 };
  enum Class : uint16_t { internet = 1 };

  uint16_t id = 0;
  std::string name;  // in lower case, without a dot at the end; "" is the root
  uint16_t type = 0;
  uint16_t klass = 0;
  size_t question_end = 0;  // where the question ends in the message; it starts at 12
  bool recursion_desired = false;
  bool checking_disabled = false;  // the client validates by itself
  bool has_edns = false;
  bool dnssec_ok = false;  // wants signatures, too
  size_t udp_limit = 512;  // bytes of an answer by UDP that the client can take
};

struct DnsAnswer {
  // What the name in the question leads to, directly or through aliases, each with the seconds for
  // which that holds: the least of all records on the way.
  std::vector<std::pair<boost::asio::ip::address, uint32_t>> addresses;
  bool truncated = false;
  int code = 0;  // a DnsCode
};

enum DnsCode : int {
  no_error = 0,
  server_failure = 2,
  no_such_name = 3,
  not_implemented = 4,
  refused = 5
};

constexpr size_t kMaxDnsMessage = 65535;

// A standard query with one question and nothing else, except for the options of EDNS. Nothing for
// any other message, and for names with a dot or anything unprintable inside of a label: they read
// like other names.
std::optional<DnsQuery> parse_query(std::string_view message);

// What a server answered to `query`. Nothing if that is no well-formed answer to it.
std::optional<DnsAnswer> parse_answer(std::string_view message, const DnsQuery& query);

// A query of our own, for records of a host name in canonical form.
std::string make_question(std::string_view name, uint16_t type);

// In all that follows `message` is the one that `query` was parsed from.

// The same question for another server: only it and the flags of `query` are taken over, no option
// or other bytes of the client's.
std::string make_query(std::string_view message, const DnsQuery& query, uint16_t id);

// An answer without records.
std::string make_error_answer(std::string_view message, const DnsQuery& query, DnsCode code);

// An answer without records that says: ask by TCP.
std::string make_truncated_answer(std::string_view message, const DnsQuery& query);

// An answer with one address; without any, if the question is for another type of record.
std::string make_address_answer(std::string_view message, const DnsQuery& query,
                                const boost::asio::ip::address& address, uint32_t ttl);

void set_id(std::string& message, uint16_t id);

}  // namespace belljar::network
