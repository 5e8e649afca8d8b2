#include "network/dns_message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "network/dns_testing.h"

namespace belljar::network {
namespace {

using boost::asio::ip::make_address;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

constexpr unsigned kAnswer = 0x8180;
const std::string kName = dns::pointer(dns::kQuestion);
const std::string kAddress{"\x5d\xb8\xd8\x22", 4};  // 93.184.216.34
const std::string kCookie{"\x00\x0a\x00\x01x", 5};
const std::string kOptions =
    dns::record(std::string(1, '\0'), DnsQuery::opt, 0x8000, kCookie, 1232);

DnsQuery example(uint16_t type = DnsQuery::a) {
  return *parse_query(dns::query("example.com", type));
}

// An answer to that with these records.
std::string answer_with(const std::vector<std::string>& records, unsigned flags = kAnswer) {
  std::string message = dns::header(0x1234, flags, 1, static_cast<unsigned>(records.size())) +
                        dns::question("example.com");
  for (const std::string& record : records) message += record;
  return message;
}

auto addresses_in(const std::vector<std::string>& records) {
  const auto answer = parse_answer(answer_with(records), example());
  EXPECT_TRUE(answer);
  return answer ? answer->addresses : decltype(answer->addresses){};
}

bool is_refused(const std::vector<std::string>& records) {
  return !parse_answer(answer_with(records), example());
}

TEST(DnsQuery, IsReadFromAMessage) {
  const auto query = parse_query(dns::query("WWW.Example.com", DnsQuery::aaaa, 0xbeef));
  ASSERT_TRUE(query);
  EXPECT_EQ(query->id, 0xbeef);
  EXPECT_EQ(query->name, "www.example.com");
  EXPECT_EQ(query->type, DnsQuery::aaaa);
  EXPECT_EQ(query->klass, DnsQuery::internet);
  EXPECT_EQ(query->question_end, 12u + 17 + 4);
  EXPECT_TRUE(query->recursion_desired);
  EXPECT_FALSE(query->checking_disabled);
  EXPECT_FALSE(query->has_edns);
  EXPECT_EQ(query->udp_limit, 512u);
}

TEST(DnsQuery, MayHaveOptions) {
  const auto query =
      parse_query(dns::header(1, 0x0010, 1, 0, 0, 1) + dns::question("a") + kOptions);
  ASSERT_TRUE(query);
  EXPECT_FALSE(query->recursion_desired);
  EXPECT_TRUE(query->checking_disabled);
  EXPECT_TRUE(query->has_edns);
  EXPECT_TRUE(query->dnssec_ok);
  EXPECT_EQ(query->udp_limit, 1232u);
}

TEST(DnsQuery, SizesOfAnswersHaveBounds) {
  for (const auto& [announced, used] :
       {std::pair{0u, 512u}, {512, 512}, {1400, 1400}, {4096, 4096}, {65535, 4096}}) {
    const auto query =
        parse_query(dns::header(1, 0, 1, 0, 0, 1) + dns::question("a") +
                    dns::record(std::string(1, '\0'), DnsQuery::opt, 0, "", announced));
    ASSERT_TRUE(query) << announced;
    EXPECT_EQ(query->udp_limit, used) << announced;
  }
}

TEST(DnsQuery, MayAskForTheRoot) {
  const auto query = parse_query(dns::query(""));
  ASSERT_TRUE(query);
  EXPECT_EQ(query->name, "");
}

TEST(DnsQuery, IsOneQuestionAndNothingElse) {
  const std::string question = dns::question("example.com");
  const std::string root(1, '\0');
  for (const std::string& message : {
           dns::header(1, 0x8000, 1) + question,        // an answer
           dns::header(1, 0x0800, 1) + question,        // an inverse query
           dns::header(1, 0x2800, 1) + question,        // an update
           dns::header(1, 0x0200, 1) + question,        // truncated
           dns::header(1, 0, 0),                        // no question
           dns::header(1, 0, 2) + question + question,  // two
           dns::header(1, 0, 1) + question + "x",       // something behind it
           dns::header(1, 0, 1, 1) + question + dns::record(kName, 1, 1, kAddress),
           dns::header(1, 0, 1, 0, 1) + question + dns::record(kName, 1, 1, kAddress),
           dns::header(1, 0, 1, 0, 0, 1) + question + dns::record(kName, 1, 1, kAddress),
           dns::header(1, 0, 1, 0, 0, 1) + question + dns::record(root, 250, 1, "signature"),
           dns::header(1, 0, 1, 0, 0, 1) + question + dns::record(kName, 41, 1, ""),
           dns::header(1, 0, 1, 0, 0, 1) + question,  // announced only
           dns::header(1, 0, 1, 0, 0, 2) + question + kOptions + kOptions,
       }) {
    EXPECT_FALSE(parse_query(message)) << testing::PrintToString(message);
  }
}

TEST(DnsQuery, ItsNameIsPlain) {
  const std::string end = std::string(1, '\0') + dns::u16(1) + dns::u16(1);
  for (const std::string& name : {
           std::string{"\3a.b"},
           std::string{"\3a\\b"},
           std::string{"\3a b"},
           std::string{"\2a\0", 3},
           std::string{"\2\xc3\xbc"},
           std::string{"\2a\x7f"},
           std::string{"\x40"} +
               std::string(64, 'a'),  // the next bits of a length mean other things
           std::string{"\x80"} + std::string(128, 'a'),
           dns::pointer(0),
           dns::pointer(12),
           "\1a" + dns::pointer(12),
       }) {
    EXPECT_FALSE(parse_query(dns::header(1, 0, 1) + name + end)) << testing::PrintToString(name);
  }
}

TEST(DnsQuery, ItsNameHasAtMost255Bytes) {
  const std::string part(63, 'a');
  const std::string longest = part + "." + part + "." + part + "." + std::string(61, 'a');
  const auto query = parse_query(dns::query(longest));
  ASSERT_TRUE(query);
  EXPECT_EQ(query->name, longest);
  EXPECT_FALSE(parse_query(dns::query(longest + "a")));
  EXPECT_FALSE(parse_query(dns::query(longest + ".a")));
}

TEST(DnsAnswer, HasTheAddressesOfTheName) {
  EXPECT_THAT(addresses_in({dns::record(kName, DnsQuery::a, 300, kAddress),
                            dns::record(dns::name("EXAMPLE.com"), DnsQuery::a, 20, "\1\2\3\4"),
                            dns::record(kName, DnsQuery::aaaa, 7, std::string(15, '\x20') + '\1')}),
              UnorderedElementsAre(
                  Pair(make_address("93.184.216.34"), 300u), Pair(make_address("1.2.3.4"), 20u),
                  Pair(make_address("2020:2020:2020:2020:2020:2020:2020:2001"), 7u)));
}

TEST(DnsAnswer, FollowsAliasesInAnyOrder) {
  const std::string first = dns::record(kName, DnsQuery::cname, 60, dns::name("cdn.example.net"));
  const std::string second =
      dns::record(dns::name("CDN.example.net"), DnsQuery::cname, 30, dns::name("x.tld"));
  const std::string last = dns::record(dns::name("X.tld"), DnsQuery::a, 90, kAddress);
  const auto expected = ElementsAre(Pair(make_address("93.184.216.34"), 30u));
  EXPECT_THAT(addresses_in({first, second, last}), expected);
  EXPECT_THAT(addresses_in({last, second, first}), expected);
  EXPECT_THAT(addresses_in({first, last}), IsEmpty()) << "nothing leads there";
}

TEST(DnsAnswer, IgnoresWhatBelongsToOtherNames) {
  EXPECT_THAT(addresses_in({dns::record(dns::name("evil.tld"), DnsQuery::a, 1, kAddress)}),
              IsEmpty());
  EXPECT_THAT(addresses_in({dns::record(kName, DnsQuery::a, 1, kAddress, 3)}), IsEmpty())
      << "another class";
  EXPECT_THAT(addresses_in({dns::record(kName, 16, 1, "\4text")}), IsEmpty());
  const std::string dotted = std::string{"\13example.com"} + '\0';
  EXPECT_THAT(addresses_in({dns::record(dotted, DnsQuery::a, 1, kAddress)}), IsEmpty())
      << "one label with a dot in it";
}

TEST(DnsAnswer, FollowsNoRingOfAliases) {
  EXPECT_THAT(addresses_in({dns::record(kName, DnsQuery::cname, 60, kName)}), IsEmpty());
  EXPECT_THAT(addresses_in({dns::record(kName, DnsQuery::cname, 60, dns::name("b")),
                            dns::record(dns::name("b"), DnsQuery::cname, 60, kName)}),
              IsEmpty());
}

TEST(DnsAnswer, AnImpossibleTimeIsNone) {
  EXPECT_THAT(addresses_in({dns::record(kName, DnsQuery::a, 0x80000000, kAddress)}),
              ElementsAre(Pair(testing::_, 0u)));
}

TEST(DnsAnswer, SaysHowItEnded) {
  const auto missing = parse_answer(answer_with({}, 0x8183), example());
  ASSERT_TRUE(missing);
  EXPECT_EQ(missing->code, no_such_name);
  EXPECT_FALSE(missing->truncated);
  const auto truncated = parse_answer(answer_with({}, 0x8380), example());
  ASSERT_TRUE(truncated);
  EXPECT_EQ(truncated->code, no_error);
  EXPECT_TRUE(truncated->truncated);
}

TEST(DnsAnswer, OtherSectionsMayHaveAnything) {
  const std::string message =
      dns::header(0x1234, kAnswer, 1, 1, 1, 2) + dns::question("example.com") +
      dns::record(kName, DnsQuery::a, 1, kAddress) + dns::record(kName, 2, 1, dns::name("ns.tld")) +
      dns::record(kName, DnsQuery::a, 1, "\1\1\1\1") + kOptions;
  const auto answer = parse_answer(message, example());
  ASSERT_TRUE(answer);
  EXPECT_THAT(answer->addresses, ElementsAre(Pair(make_address("93.184.216.34"), 1u)));
}

TEST(DnsAnswer, BelongsToItsQuery) {
  const std::string message = answer_with({dns::record(kName, DnsQuery::a, 1, kAddress)});
  EXPECT_TRUE(parse_answer(message, example()));
  EXPECT_FALSE(parse_answer(message, example(DnsQuery::aaaa)));
  EXPECT_FALSE(parse_answer(message, *parse_query(dns::query("example.com", 1, 0x1235))));
  EXPECT_FALSE(parse_answer(message, *parse_query(dns::query("example.org"))));
  EXPECT_FALSE(parse_answer(dns::query("example.com"), example())) << "a query is no answer";
  EXPECT_FALSE(parse_answer(answer_with({}, 0x8980), example())) << "to another operation";
  EXPECT_FALSE(parse_answer(dns::header(0x1234, kAnswer, 0), example()));
}

TEST(DnsAnswer, WellFormedOrNothing) {
  const std::string good = dns::record(kName, DnsQuery::a, 1, kAddress);
  const auto with_owner = [](const std::string& owner) {
    return dns::record(owner, DnsQuery::a, 1, kAddress);
  };
  EXPECT_FALSE(is_refused({good, with_owner("\3www" + dns::pointer(12))}));
  EXPECT_TRUE(is_refused({with_owner(dns::pointer(29))})) << "a pointer to itself";
  EXPECT_TRUE(is_refused({with_owner("\1a" + dns::pointer(29))})) << "a ring";
  EXPECT_TRUE(is_refused({with_owner(dns::pointer(31))})) << "a pointer forward";
  EXPECT_TRUE(is_refused({with_owner(dns::pointer(0x3fff))})) << "a pointer to nowhere";
  EXPECT_TRUE(is_refused({dns::record(kName, DnsQuery::a, 1, "\1\2\3")}));
  EXPECT_TRUE(is_refused({dns::record(kName, DnsQuery::aaaa, 1, kAddress)}));
  EXPECT_TRUE(is_refused({dns::record(kName, DnsQuery::cname, 1, dns::name("a") + "x")}));
  EXPECT_TRUE(is_refused({dns::record(kName, DnsQuery::cname, 1, "\1a")}));
  EXPECT_FALSE(parse_answer(answer_with({good}) + "x", example())) << "something behind it";
}

TEST(DnsAnswer, JumpsAreBounded) {
  // Each owner is one label more, and a pointer to the one before.
  std::vector<std::string> records;
  unsigned before = dns::kQuestion;
  unsigned at = 12 + 13 + 4;
  for (int i = 0; i < 40; ++i) {
    records.push_back(dns::record("\1a" + dns::pointer(before), 16, 1, ""));
    before = at;
    at += static_cast<unsigned>(records.back().size());
    EXPECT_EQ(is_refused(records), i >= 32) << i;
  }
}

TEST(DnsMessage, NoPartOfAMessageIsOne) {
  const std::string query = dns::header(1, 0, 1, 0, 0, 1) + dns::question("a.example") + kOptions;
  ASSERT_TRUE(parse_query(query));
  for (size_t size = 0; size < query.size(); ++size)
    EXPECT_FALSE(parse_query(std::string_view{query}.substr(0, size))) << size;
  const std::string answer = answer_with({dns::record(kName, DnsQuery::cname, 60, "\3www" + kName),
                                          dns::record("\3www" + kName, DnsQuery::a, 60, kAddress)});
  ASSERT_TRUE(parse_answer(answer, example()));
  for (size_t size = 0; size < answer.size(); ++size)
    EXPECT_FALSE(parse_answer(std::string_view{answer}.substr(0, size), example())) << size;
}

TEST(DnsMessage, TooLongIsNone) {
  std::string answer = answer_with({dns::record(kName, 16, 1, std::string(65492, 'x'))});
  EXPECT_EQ(answer.size(), 65533u);
  EXPECT_TRUE(parse_answer(answer, example()));
  answer = answer_with({dns::record(kName, 16, 1, std::string(65495, 'x'))});
  EXPECT_FALSE(parse_answer(answer, example()));
}

TEST(DnsMessage, RandomBytesDoNoHarm) {
  std::mt19937 random{20261115};
  std::uniform_int_distribution<int> byte{0, 255};
  const std::string good = answer_with({dns::record(kName, DnsQuery::cname, 60, "\3www" + kName),
                                        dns::record("\3www" + kName, DnsQuery::a, 60, kAddress)});
  int accepted = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string noise(random() % 64, '\0');
    for (char& c : noise) c = static_cast<char>(byte(random));
    parse_query(noise);
    parse_answer(noise, example());
    std::string changed = good;
    for (unsigned n = random() % 3; n < 3; ++n)
      changed[random() % changed.size()] = static_cast<char>(byte(random));
    if (parse_answer(changed, example())) ++accepted;
    changed[2] = 1;
    parse_query(changed);
  }
  EXPECT_GT(accepted, 100) << "changes that do not matter are among them";
}

TEST(DnsMessage, MakesAQueryOfTheQuestionOnly) {
  const std::string message =
      dns::header(7, 0x0130, 1, 0, 0, 1) + dns::question("Example.com") + kOptions;
  const auto query = parse_query(message);
  ASSERT_TRUE(query);
  const std::string made = make_query(message, *query, 0xabcd);
  EXPECT_EQ(made, dns::header(0xabcd, 0x0110, 1, 0, 0, 1) + dns::question("Example.com") +
                      dns::record(std::string(1, '\0'), DnsQuery::opt, 0x8000, "", 1232));
  const std::string plain = dns::query("example.com");
  EXPECT_EQ(make_query(plain, *parse_query(plain), 0x1234), plain);
}

TEST(DnsMessage, MakesAnswersWithoutRecords) {
  const std::string message = dns::query("Example.com");
  const DnsQuery query = *parse_query(message);
  for (const DnsCode code : {no_error, server_failure, no_such_name, refused}) {
    const std::string made = make_error_answer(message, query, code);
    EXPECT_EQ(made, dns::header(0x1234, 0x8180u | static_cast<unsigned>(code), 1) +
                        dns::question("Example.com"));
    const auto answer = parse_answer(made, query);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->code, code);
  }
  const auto truncated = parse_answer(make_truncated_answer(message, query), query);
  ASSERT_TRUE(truncated);
  EXPECT_TRUE(truncated->truncated);
}

TEST(DnsMessage, MakesAnswersWithAnAddress) {
  for (const char* text : {"10.0.2.2", "fd00::2"}) {
    const auto address = make_address(text);
    for (const uint16_t type : {DnsQuery::a, DnsQuery::aaaa}) {
      const std::string message = dns::query("host.belljar", type);
      const DnsQuery query = *parse_query(message);
      const auto answer = parse_answer(make_address_answer(message, query, address, 60), query);
      ASSERT_TRUE(answer);
      if (address.is_v4() == (type == DnsQuery::a)) {
        EXPECT_THAT(answer->addresses, ElementsAre(Pair(address, 60u)));
      } else {
        EXPECT_THAT(answer->addresses, IsEmpty());
      }
      EXPECT_EQ(answer->code, no_error);
    }
  }
}

TEST(DnsMessage, SetsTheId) {
  std::string message = dns::query("example.com");
  set_id(message, 0xfffe);
  EXPECT_EQ(message, dns::query("example.com", 1, 0xfffe));
}

TEST(DnsMessage, MakesAQuestionThatIsReadAsOne) {
  for (const char* name : {"example.com", "a.b", "single"}) {
    const auto query = parse_query(make_question(name, DnsQuery::aaaa));
    ASSERT_TRUE(query) << name;
    EXPECT_EQ(query->name, name);
    EXPECT_EQ(query->type, DnsQuery::aaaa);
    EXPECT_EQ(query->klass, DnsQuery::internet);
    EXPECT_TRUE(query->recursion_desired);
  }
}

}  // namespace
}  // namespace belljar::network
