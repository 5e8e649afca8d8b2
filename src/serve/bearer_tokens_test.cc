#include "serve/bearer_tokens.h"

#include <gtest/gtest.h>

#include <set>

#include "serve/base64url.h"

namespace belljar::serve {
namespace {

TEST(BearerTokens, FindsTheOwnerOfATokenAndNobodyForAnother) {
  BearerTokens tokens;
  EXPECT_TRUE(tokens.empty());
  EXPECT_FALSE(tokens.owner_of(""));
  tokens.add("alice", sha256_of("token of alice"));
  tokens.add("bob", sha256_of("token of bob"));
  tokens.add("alice", sha256_of("another one"));
  EXPECT_EQ(tokens.owner_of("token of alice"), "alice");
  EXPECT_EQ(tokens.owner_of("another one"), "alice");
  EXPECT_EQ(tokens.owner_of("token of bob"), "bob");
  EXPECT_FALSE(tokens.owner_of("token of Bob"));
  EXPECT_FALSE(tokens.owner_of(""));
  EXPECT_FALSE(tokens.owner_of(sha256_of("token of bob")));
}

TEST(BearerTokens, NewOnesHave256BitsAndDiffer) {
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) {
    const std::string token = random_token();
    EXPECT_EQ(parse_base64url(token)->size(), 32u);
    EXPECT_TRUE(seen.insert(token).second);
  }
}

TEST(BearerTokens, TheHeaderHasOneForm) {
  EXPECT_EQ(bearer_of("Bearer abc.DEF-_~+/="), "abc.DEF-_~+/=");
  EXPECT_EQ(bearer_of("bEARER  abc"), "abc");
  for (const char* bad : {"", "Bearer", "Bearer ", "Basic abc", "Bearer a b", "Bearer a,b",
                          "Bearerabc", "abc", "Bearer \x01", "Bearer a\tb"}) {
    EXPECT_FALSE(bearer_of(bad)) << bad;
  }
  EXPECT_FALSE(bearer_of("Bearer " + std::string(17u << 10, 'a')));
}

TEST(Base64Url, HasOneTextForEveryBytes) {
  for (const std::string& bytes : {std::string{}, std::string{"a"}, std::string{"ab"},
                                   std::string{"abc"}, std::string{"\xff\xfe\xfd\xfc"}}) {
    EXPECT_EQ(parse_base64url(base64url(bytes)), bytes);
  }
  EXPECT_EQ(base64url("\xff\xef"), "_-8");
  for (const char* bad : {"_-9", "_+8", "_-8=", "a", "_- 8", "%"})
    EXPECT_FALSE(parse_base64url(bad)) << bad;
}

}  // namespace
}  // namespace belljar::serve
