// A message that a program in a sandbox sends to its name server, and what a name server answers to
// a question for the addresses of example.com.
#include <algorithm>

#include "fuzz.h"
#include "network/dns_message.h"
#include "network/host_name.h"

namespace belljar::network {
namespace {

using fuzz::expect;

constexpr std::string_view kQuestion{
    "\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00"
    "\x07"
    "example\x03"
    "com\x00\x00\x01\x00\x01",
    29};

bool is_same(const DnsQuery& one, const DnsQuery& other) {
  return one.name == other.name && one.type == other.type && one.klass == other.klass &&
         one.question_end == other.question_end && one.has_edns == other.has_edns &&
         one.recursion_desired == other.recursion_desired && one.dnssec_ok == other.dnssec_ok &&
         one.checking_disabled == other.checking_disabled && one.udp_limit == other.udp_limit;
}

void check_query(std::string_view message) {
  const auto query = parse_query(message);
  if (!query) return;
  expect(query->question_end <= message.size(), "the question is in the message");
  expect(query->name.size() <= 253 && query->name == lower_ascii(query->name),
         "a name is short and in lower case");
  expect(std::all_of(query->name.begin(), query->name.end(),
                     [](char c) { return c > ' ' && c <= '~' && c != '\\'; }),
         "a name can be printed");
  const auto asked = parse_query(make_query(message, *query, 7));
  expect(asked && asked->id == 7 && is_same(*asked, *query), "a question is passed on as it is");
  const auto missing = parse_answer(make_error_answer(message, *query, no_such_name), *query);
  expect(missing && missing->code == no_such_name, "every question can be refused");
  const auto address = boost::asio::ip::make_address("10.0.2.2");
  const auto answer = parse_answer(make_address_answer(message, *query, address, 60), *query);
  expect(answer && answer->code == no_error, "every question can be answered");
  expect(answer->addresses.empty() || answer->addresses.front().first == address,
         "with the address that was given");
}

void check_answer(std::string_view message) {
  const auto query = parse_query(kQuestion);
  std::string answer{message};
  if (answer.size() >= 2) set_id(answer, query->id);  // not to be guessed
  const auto parsed = parse_answer(answer, *query);
  if (!parsed) return;
  expect(answer.size() >= kQuestion.size(), "an answer has the question in it");
  expect(parsed->addresses.size() <= answer.size() / 14, "every address was in a record");
  expect(parsed->code >= 0 && parsed->code <= 15, "a code has four bits");
  for (const auto& [address, ttl] : parsed->addresses)
    expect(ttl <= 0x7fffffff, "a time has 31 bits");
}

}  // namespace
}  // namespace belljar::network

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input = belljar::fuzz::text_of(data, size);
  belljar::network::check_query(input);
  belljar::network::check_answer(input);
  return 0;
}
