#include "net/url.h"

#include <gtest/gtest.h>

namespace belljar::net {
namespace {

TEST(Url, IsTakenApart) {
  const auto url = parse_url("https://User:p%40ss@Example.COM:8443/a/b%20c?q=1#part");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->scheme, "https");
  EXPECT_EQ(url->user, "User");
  EXPECT_EQ(url->password, "p@ss");
  EXPECT_EQ(url->host, "example.com");
  EXPECT_EQ(url->port, 8443);
  EXPECT_EQ(url->target, "/a/b%20c?q=1");
}

TEST(Url, HasThePortOfItsSchemeAndARootPath) {
  EXPECT_EQ(parse_url("http://a.example")->port, 80);
  EXPECT_EQ(parse_url("https://a.example")->port, 443);
  EXPECT_EQ(parse_url("https://a.example")->target, "/");
}

TEST(Url, NeverShowsUserAndPassword) {
  EXPECT_EQ(to_string(*parse_url("http://me:secret@a.example:81/x")), "http://a.example:81/x");
}

TEST(Url, KnowsIpv6) {
  const auto url = parse_url("http://[::1]:8080/x");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->host, "::1");
  EXPECT_EQ(authority(*url), "[::1]:8080");
}

TEST(Url, RefusesWhatIsNotAnHttpAddress) {
  for (const char* text : {"", "a.example", "ftp://a.example/", "file:///etc/passwd", "http://",
                           "http://a.example:99999/", "http://a.example:0/", "http://a%0d%0ab/",
                           "http://a b/", "https://a.example/\r\nX: y", "javascript:alert(1)",
                           "http://a.example:x/y", "https://u:p%443/x"})
    EXPECT_FALSE(parse_url(text)) << text;
}

TEST(Url, ResolvesWhatALocationHeaderSays) {
  const Url base = *parse_url("https://a.example/x/y?q");
  EXPECT_EQ(to_string(*resolve_url(base, "/z")), "https://a.example/z");
  EXPECT_EQ(to_string(*resolve_url(base, "z")), "https://a.example/x/z");
  EXPECT_EQ(to_string(*resolve_url(base, "//b.example/")), "https://b.example/");
  EXPECT_EQ(to_string(*resolve_url(base, "http://b.example:81/?a")), "http://b.example:81/?a");
  EXPECT_FALSE(resolve_url(base, "file:///etc/passwd"));
}

}  // namespace
}  // namespace belljar::net
