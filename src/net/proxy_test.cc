#include "net/proxy.h"

#include <gmock/gmock.h>

namespace belljar::net {
namespace {

ProxySettings both(std::vector<std::string> direct) {
  const auto proxy = parse_url("http://proxy.example:3128");
  return {.for_http = proxy, .for_https = proxy, .direct = std::move(direct)};
}

bool is_direct(const ProxySettings& settings, const char* url) {
  return !proxy_for(settings, *parse_url(url));
}

TEST(Proxy, IsChosenByScheme) {
  ProxySettings settings;
  settings.for_https = parse_url("http://proxy.example:3128");
  EXPECT_TRUE(is_direct(settings, "http://a.example"));
  EXPECT_EQ(proxy_for(settings, *parse_url("https://a.example"))->host, "proxy.example");
}

TEST(Proxy, IsNotUsedForADomainInNoProxyAndAllBelowIt) {
  for (const char* entry : {"corp.example", ".corp.example", "*.corp.example"}) {
    EXPECT_TRUE(is_direct(both({entry}), "https://corp.example")) << entry;
    EXPECT_TRUE(is_direct(both({entry}), "https://npm.corp.example/x")) << entry;
    EXPECT_FALSE(is_direct(both({entry}), "https://evilcorp.example")) << entry;
  }
}

TEST(Proxy, HeedsAPortInNoProxy) {
  EXPECT_TRUE(is_direct(both({"a.example:8080"}), "http://a.example:8080"));
  EXPECT_FALSE(is_direct(both({"a.example:8080"}), "http://a.example"));
  EXPECT_TRUE(is_direct(both({"::1"}), "http://[::1]:8080"));
}

TEST(Proxy, IsNeverUsedWithAStar) {
  EXPECT_TRUE(is_direct(both({"*"}), "https://a.example"));
}

TEST(Proxy, SplitsNoProxyAtCommasAndSpaces) {
  EXPECT_THAT(split_no_proxy(" a.example,,B.example c:80,"),
              testing::ElementsAre("a.example", "b.example", "c:80"));
}

}  // namespace
}  // namespace belljar::net
