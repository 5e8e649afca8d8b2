#include "mcp/list_cache.h"

#include <gtest/gtest.h>

#include "mcp/testing.h"

namespace belljar::mcp {
namespace {

size_t tools_in(const json::value& answer) {
  return answer.at("result").at("tools").as_array().size();
}

TEST(ListCache, ForgetsWhenSomethingIsAdded) {
  Server server{demo()};
  add_tool(server, "one", echo);
  const auto add = [](Server& to, Connection&) { add_tool(to, "two", echo); };
  const auto said = talk(server, {modern("1", "tools/list"), request("2", "tools/list"), add,
                                  modern("\"3\"", "tools/list"), request("4", "tools/list")});
  ASSERT_EQ(said.size(), 4u);
  EXPECT_EQ(tools_in(said[0]), 1u);
  EXPECT_EQ(tools_in(said[1]), 1u);
  EXPECT_EQ(tools_in(said[2]), 2u);
  EXPECT_EQ(tools_in(said[3]), 2u);
  EXPECT_EQ(said[2].at("id"), "3");
  EXPECT_TRUE(said[2].at("result").as_object().contains("resultType"));
  EXPECT_FALSE(said[3].at("result").as_object().contains("resultType"));
}

TEST(ListCache, KeepsOnlyFirstPagesOfWhatIsOffered) {
  Server server{demo(), ServerOptions{.page_size = 1}};
  ListCache cache;
  EXPECT_EQ(cache.find(server, "tools/list", {}, ListCache::Era::modern), nullptr);
  add_tool(server, "one", echo);
  add_tool(server, "two", echo);
  const std::string* first = cache.find(server, "tools/list", {}, ListCache::Era::modern);
  ASSERT_NE(first, nullptr);
  const json::value page = json::parse(*first);
  ASSERT_TRUE(page.as_object().contains("nextCursor"));
  const json::object params{{"cursor", page.at("nextCursor")}};
  EXPECT_EQ(cache.find(server, "tools/list", params, ListCache::Era::modern), nullptr);
  EXPECT_EQ(cache.find(server, "tools/call", {}, ListCache::Era::modern), nullptr);
}

}  // namespace
}  // namespace belljar::mcp
