#include "network/policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace belljar::network {
namespace {

using boost::asio::ip::make_address;
using testing::HasSubstr;
using Kind = Policy::Kind;

std::string refusal(const std::string& text) {
  try {
    Policy::parse(text);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::invalid);
    return e.what();
  }
  return "(accepted)";
}

std::string canonical(const std::string& text) {
  return Policy::parse(text).text();
}

bool is_within(const std::string& policy, const std::string& ceiling) {
  return Policy::parse(policy).is_within(Policy::parse(ceiling));
}

bool allows(const std::string& policy, const std::string& address, uint16_t port,
            const std::vector<std::string>& names = {}) {
  return Policy::parse(policy).allows(make_address(address), port, names);
}

TEST(Policy, ReadsTheFourKinds) {
  EXPECT_EQ(Policy::parse("none").kind(), Kind::none);
  EXPECT_EQ(Policy::parse("internet").kind(), Kind::internet);
  EXPECT_EQ(Policy::parse("host").kind(), Kind::host);
  EXPECT_EQ(Policy::parse("allow:").kind(), Kind::allow);
  EXPECT_EQ(Policy{}, Policy::parse("none"));
}

TEST(Policy, ReadsRules) {
  const auto policy = Policy::parse("allow:*.npmjs.org:443,[2001:db8::1]:53,93.184.216.34");
  const std::vector<Policy::Rule> expected{
      {"2001:db8::1", false, 53}, {"93.184.216.34", false, {}}, {"npmjs.org", true, 443}};
  EXPECT_EQ(policy.rules(), expected);
}

TEST(Policy, HasOneTextForAllThatMeanTheSame) {
  EXPECT_EQ(canonical("none"), "none");
  EXPECT_EQ(canonical("host"), "host");
  EXPECT_EQ(canonical("internet"), "internet");
  EXPECT_EQ(canonical("allow:"), "allow:");
  EXPECT_EQ(canonical("allow: "), "allow:");
  EXPECT_EQ(canonical("allow:B.example, a.Example.,b.example."), "allow:a.example,b.example");
  EXPECT_EQ(canonical("allow:*.X.org:443,x.org:80"), "allow:x.org:80,*.x.org:443");
  EXPECT_EQ(canonical("allow:[2001:DB8:0::1]:53"), "allow:[2001:db8::1]:53");
  EXPECT_EQ(canonical("allow:[::ffff:1.2.3.4]:53"), "allow:1.2.3.4:53");
  EXPECT_EQ(canonical("allow:xn--bcher-kva.example"), "allow:xn--bcher-kva.example");
  EXPECT_EQ(canonical("allow:_http._tcp.deb.debian.org"), "allow:_http._tcp.deb.debian.org");
}

TEST(Policy, ItsTextMeansItself) {
  for (const char* text : {"none", "internet", "host", "allow:", "allow:a", "allow:*.com",
                           "allow:[::1]:1,10.0.0.1,10.0.0.1:65535,*.b.c:25,b.c,[fe80::1]"}) {
    const auto policy = Policy::parse(text);
    EXPECT_EQ(Policy::parse(policy.text()), policy) << text;
  }
}

TEST(Policy, SaysWhatIsWrongAndShowsTheForms) {
  struct Case {
    const char* text;
    const char* why;
  };
  for (const auto& [text, why] : {
           Case{"", "\"\" is no network policy"},
           {"all", "\"all\" is no network policy"},
           {"None", "is no network policy"},
           {"none ", "is no network policy"},
           {"allow", "is no network policy"},
           {"allow:,", "nothing before or after a comma"},
           {"allow:a,,b", "nothing before or after a comma"},
           {"allow:a,", "nothing before or after a comma"},
           {"allow:*", "has a * that is not in front of a name"},
           {"allow:*:443", "has a * that is not in front of a name"},
           {"allow:*.*.com", "has a * that is not in front of a name"},
           {"allow:a.*.com", "has a * that is not in front of a name"},
           {"allow:a*.com", "has a * that is not in front of a name"},
           {"allow:*com", "has a * that is not in front of a name"},
           {"allow:*.", "is empty"},
           {"allow:.", "is empty"},
           {"allow::80", "is empty"},
           {"allow:a..b", "has an empty part"},
           {"allow:.a", "has an empty part"},
           {"allow:a.b..", "has an empty part"},
           {"allow:a:0", "has a port that is no number from 1 to 65535"},
           {"allow:a:65536", "has a port that is no number"},
           {"allow:a:", "has a port that is no number"},
           {"allow:a:+80", "has a port that is no number"},
           {"allow:a:80:80", "has a port that is no number"},
           {"allow:https://a.example/", "has a port that is no number"},
           {"allow:a b", "has a character that no host name has"},
           {"allow:a/b", "has a character that no host name has"},
           {"allow:bücher.example", "write the name in its xn-- form"},
           {"allow:127.1", "ends in a number like an address"},
           {"allow:010.0.0.1", "ends in a number like an address"},
           {"allow:2130706433", "ends in a number like an address"},
           {"allow:0x7f000001", "ends in a number like an address"},
           {"allow:1.2.3.4.5", "ends in a number like an address"},
           {"allow:*.1.2.3.4", "ends in a number like an address"},
           {"allow:2001:db8::1", "is an IPv6 address, which needs brackets"},
           {"allow:[2001:db8::1", "has no closing bracket"},
           {"allow:[1.2.3.4]", "has no IPv6 address in its brackets"},
           {"allow:[]", "has no IPv6 address in its brackets"},
           {"allow:[fe80::1%1]", "has no IPv6 address in its brackets"},
           {"allow:[::1]53", "something other than a port"},
           {"allow:[::1]:", "has a port that is no number"},
       }) {
    EXPECT_THAT(refusal(text), HasSubstr(why)) << text;
    EXPECT_THAT(refusal(text), HasSubstr("*.npmjs.org:443")) << text;
  }
}

TEST(Policy, HasLimits) {
  const std::string part(63, 'a');
  const std::string longest = part + "." + part + "." + part + "." + std::string(61, 'a');
  EXPECT_EQ(longest.size(), 253u);
  EXPECT_EQ(canonical("allow:" + longest), "allow:" + longest);
  EXPECT_EQ(canonical("allow:" + longest + "."), "allow:" + longest);
  EXPECT_THAT(refusal("allow:" + longest + "a"), HasSubstr("more than 253 characters"));
  EXPECT_THAT(refusal("allow:" + part + "a.com"), HasSubstr("more than 63 characters"));
  std::string list = "allow:h1";
  for (int i = 2; i <= 64; ++i) list += ",h" + std::to_string(i) + ".example";
  EXPECT_EQ(Policy::parse(list).rules().size(), 64u);
  EXPECT_THAT(refusal(list + ",more.example"), HasSubstr("at most 64 hosts"));
}

TEST(Policy, KeepsErrorsShortAndInUtf8) {
  const std::string message = refusal("allow:" + std::string(5000, 'x'));
  EXPECT_LT(message.size(), 500u);
  EXPECT_THAT(message, HasSubstr("x…\""));
  EXPECT_THAT(refusal("allow:\xff\xfe"), HasSubstr("\"\uFFFD\uFFFD\""));
}

TEST(Policy, IsWithinWhatReachesAsMuch) {
  const std::vector<std::string> kinds{"none", "allow:example.com", "internet", "host"};
  for (size_t i = 0; i < kinds.size(); ++i) {
    for (size_t j = 0; j < kinds.size(); ++j) {
      EXPECT_EQ(is_within(kinds[i], kinds[j]), i <= j) << kinds[i] << " within " << kinds[j];
    }
  }
  EXPECT_TRUE(is_within("allow:", "none")) << "an empty list reaches nothing";
  EXPECT_FALSE(is_within("allow:a", "allow:"));
}

TEST(Policy, AListIsWithinAnotherThatCoversEachRule) {
  EXPECT_TRUE(is_within("allow:a.org", "allow:b.org,a.org"));
  EXPECT_TRUE(is_within("allow:x.a.org", "allow:*.a.org"));
  EXPECT_TRUE(is_within("allow:*.a.org", "allow:*.a.org"));
  EXPECT_TRUE(is_within("allow:*.x.a.org", "allow:*.a.org"));
  EXPECT_TRUE(is_within("allow:1.2.3.4", "allow:1.2.3.4"));
  EXPECT_TRUE(is_within("allow:[::1]", "allow:[0::1]"));
  EXPECT_FALSE(is_within("allow:a.org", "allow:*.a.org"));
  EXPECT_FALSE(is_within("allow:*.a.org", "allow:a.org"));
  EXPECT_FALSE(is_within("allow:*.org", "allow:*.a.org"));
  EXPECT_FALSE(is_within("allow:xa.org", "allow:*.a.org"));
  EXPECT_FALSE(is_within("allow:x.xa.org", "allow:*.a.org"));
  EXPECT_FALSE(is_within("allow:a.org,b.org", "allow:a.org"));
  EXPECT_FALSE(is_within("allow:1.2.3.4", "allow:*.org"));
}

TEST(Policy, PortsAreCoveredToo) {
  EXPECT_TRUE(is_within("allow:a:80", "allow:a"));
  EXPECT_TRUE(is_within("allow:a:443", "allow:a"));
  EXPECT_TRUE(is_within("allow:a", "allow:a:80,a:443"));
  EXPECT_TRUE(is_within("allow:a:22", "allow:a:22"));
  EXPECT_FALSE(is_within("allow:a:22", "allow:a"));
  EXPECT_FALSE(is_within("allow:a", "allow:a:443"));
  EXPECT_FALSE(is_within("allow:a:80", "allow:a:443"));
}

TEST(Policy, APrivateAddressIsNotWithinTheInternet) {
  EXPECT_TRUE(is_within("allow:93.184.216.34:22", "internet"));
  EXPECT_FALSE(is_within("allow:93.184.216.34,10.0.0.1", "internet"));
  EXPECT_FALSE(is_within("allow:[::ffff:10.0.0.1]", "internet"));
  EXPECT_FALSE(is_within("allow:[fd00:ec2::254]", "internet"));
  EXPECT_TRUE(is_within("allow:10.0.0.1", "host"));
  EXPECT_TRUE(is_within("allow:10.0.0.1", "allow:10.0.0.1"));
  EXPECT_TRUE(is_within("allow:localhost", "internet")) << "a name leads to public addresses only";
}

TEST(Policy, NamesAreLookedUpIfTheyAreListed) {
  const auto list = Policy::parse("allow:example.com:8080,*.npmjs.org,1.2.3.4");
  for (const char* name : {"example.com", "EXAMPLE.com.", "registry.npmjs.org", "a.b.Npmjs.ORG"})
    EXPECT_TRUE(list.allows_name(name)) << name;
  for (const char* name :
       {"npmjs.org", "www.example.com", "xexample.com", "example.com.evil.tld", "xnpmjs.org",
        ".npmjs.org", "..npmjs.org", "1.2.3.4", "", "a b.npmjs.org", "example.com.."})
    EXPECT_FALSE(list.allows_name(name)) << name;
  EXPECT_FALSE(Policy::parse("none").allows_name("example.com"));
  EXPECT_FALSE(Policy::parse("allow:").allows_name("example.com"));
}

TEST(Policy, EveryHostNameIsLookedUpWithoutAList) {
  for (const char* text : {"internet", "host"}) {
    const auto policy = Policy::parse(text);
    EXPECT_TRUE(policy.allows_name("example.com"));
    EXPECT_TRUE(policy.allows_name("_ldap._tcp.example.com."));
    EXPECT_TRUE(policy.allows_name("4.3.2.1.in-addr.arpa"));
    for (const char* name : {"", ".", "a..b", "a\\.b", "1.2.3.4", "b\xc3\xbc.de"})
      EXPECT_FALSE(policy.allows_name(name)) << name;
  }
}

TEST(Policy, InternetIsEveryPublicAddressAndPort) {
  EXPECT_TRUE(allows("internet", "8.8.8.8", 53));
  EXPECT_TRUE(allows("internet", "2606:4700::1111", 1));
  EXPECT_FALSE(allows("internet", "127.0.0.1", 80, {"example.com"}));
  EXPECT_FALSE(allows("internet", "::ffff:10.0.0.1", 80));
  EXPECT_FALSE(allows("internet", "169.254.169.254", 80));
}

TEST(Policy, HostIsEverythingAndNoneIsNothing) {
  for (const char* address : {"8.8.8.8", "127.0.0.1", "169.254.169.254", "::1"}) {
    EXPECT_TRUE(allows("host", address, 80)) << address;
    EXPECT_FALSE(allows("none", address, 80, {"example.com"})) << address;
    EXPECT_FALSE(allows("allow:", address, 80, {"example.com"})) << address;
  }
}

TEST(Policy, AListAllowsWhatItsNamesLeadTo) {
  const std::string list = "allow:example.com,*.npmjs.org:8443";
  EXPECT_TRUE(allows(list, "93.184.216.34", 443, {"Example.com."}));
  EXPECT_TRUE(allows(list, "93.184.216.34", 80, {"other.tld", "example.com"}));
  EXPECT_TRUE(allows(list, "::ffff:93.184.216.34", 80, {"example.com"}));
  EXPECT_TRUE(allows(list, "2606:4700::1111", 8443, {"registry.npmjs.org"}));
  EXPECT_FALSE(allows(list, "93.184.216.34", 443)) << "nobody asked for its name";
  EXPECT_FALSE(allows(list, "93.184.216.34", 443, {"other.tld"}));
  EXPECT_FALSE(allows(list, "93.184.216.34", 22, {"example.com"}));
  EXPECT_FALSE(allows(list, "93.184.216.34", 443, {"registry.npmjs.org"})) << "8443 only";
  EXPECT_FALSE(allows(list, "93.184.216.34", 8443, {"npmjs.org"}));
}

TEST(Policy, ANameNeverLeadsToAPrivateAddress) {
  const std::string list = "allow:example.com,10.0.0.1:5432";
  for (const char* address : {"10.0.0.2", "127.0.0.1", "169.254.169.254", "168.63.129.16", "::1",
                              "::ffff:10.0.0.2", "64:ff9b::8.8.8.8"})
    EXPECT_FALSE(allows(list, address, 443, {"example.com"})) << address;
  EXPECT_FALSE(allows(list, "10.0.0.1", 443, {"example.com"})) << "each rule has its own ports";
}

TEST(Policy, AnAddressOnTheListMayBePrivate) {
  EXPECT_TRUE(allows("allow:10.0.0.1:5432", "10.0.0.1", 5432));
  EXPECT_TRUE(allows("allow:10.0.0.1:5432", "::ffff:10.0.0.1", 5432));
  EXPECT_TRUE(allows("allow:[::ffff:10.0.0.1]", "10.0.0.1", 443));
  EXPECT_TRUE(allows("allow:[fd00::1]", "fd00::1", 80));
  EXPECT_FALSE(allows("allow:10.0.0.1:5432", "10.0.0.1", 80));
  EXPECT_FALSE(allows("allow:10.0.0.1", "10.0.0.1", 5432));
  EXPECT_FALSE(allows("allow:10.0.0.1", "10.0.0.2", 80));
}

TEST(Policy, AnAddressGivenAsANameIsNoName) {
  EXPECT_FALSE(allows("allow:1.2.3.4", "8.8.8.8", 80, {"1.2.3.4"}));
}

}  // namespace
}  // namespace belljar::network
