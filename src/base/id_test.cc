#include "base/id.h"

#include <gtest/gtest.h>

#include <regex>
#include <set>

namespace belljar {
namespace {

TEST(Id, UuidHasTheFormOfVersionFour) {
  const std::regex form{"^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$"};
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(std::regex_match(random_uuid(), form));
}

TEST(Id, IdsDoNotRepeat) {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(seen.insert(random_hex(16)).second);
}

}  // namespace
}  // namespace belljar
