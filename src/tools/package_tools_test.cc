#include <gmock/gmock.h>

#include "tools/testing.h"

// What the two tools take. What they find is tested in packages/ and end to end.
namespace belljar::tools {
namespace {

using testing::HasSubstr;

Task<> types_arguments(World& world) {
  const std::pair<const char*, const char*> cases[] = {
      {"{}", R"("dependencies" is missing)"},
      {R"({"dependencies":[]})", "a non-empty array of at most 100"},
      {R"({"dependencies":{"a":"1"}})", R"("dependencies" is an object)"},
      {R"({"dependencies":["a"]})", R"("dependencies[0]" is "a"; it must be an object)"},
      {R"({"dependencies":[{"version":"1"}]})", R"("dependencies[0].name" is missing)"},
      {R"({"dependencies":[{"name":"a"},{"name":"--prefix=/"}]})", "dependencies[1].name"},
      {R"({"dependencies":[{"name":"a","version":"file:/etc"}]})", R"("dependencies[0].version")"},
      {R"({"dependencies":[{"name":"a"},{"name":"a"}]})", "must not repeat dependencies[0].name"},
      {R"({"dependencies":[{"name":"a","versions":"1"}]})", "did you mean"},
  };
  for (const auto& [arguments, expected] : cases) {
    const std::string text = co_await world.refusal("get_dependency_types", arguments);
    EXPECT_THAT(text, HasSubstr(expected)) << arguments;
  }
}
TEST(GetDependencyTypes, RefusesArgumentsByTheirNames) {
  check(types_arguments);
}

Task<> unreachable(World& world) {
  const mcp::ToolResult result = co_await world.call(
      "get_dependency_types", R"({"dependencies":[{"name":"a"},{"name":"b","version":"^1"}]})");
  EXPECT_TRUE(result.is_error);
  const json::array& packages = result.structured.value().at("packages").as_array();
  EXPECT_EQ(packages.size(), 2u);
  EXPECT_EQ(packages.at(1).at("name"), "b");
  EXPECT_EQ(packages.at(1).at("hasTypes"), false);
  EXPECT_THAT(std::string{packages.at(1).at("error").as_string()}, HasSubstr("127.0.0.1"));
  EXPECT_EQ(json::parse(World::text(result, 0)), json::value(packages));
}
TEST(GetDependencyTypes, SaysForEachPackageWhyItCannotBeHad) {
  check(unreachable);
}

Task<> search_arguments(World& world) {
  const std::pair<const char*, const char*> cases[] = {
      {"{}", R"("searchTerm" is missing)"},
      {R"({"searchTerm":""})", R"("searchTerm" is "")"},
      {R"({"searchTerm":"two words"})", R"("searchTerm" is "two words"; it must be one word)"},
      {R"({"searchTerm":"a\tb"})", R"("searchTerm")"},
      {R"({"searchTerm":"a","qualifiers":{"author":"x y"}})", R"("qualifiers.author" is "x y")"},
      {R"({"searchTerm":"a","qualifiers":{"colour":"red"}})", R"("qualifiers.colour" is unknown)"},
      {R"({"searchTerm":"a"})", "127.0.0.1"},
  };
  for (const auto& [arguments, expected] : cases) {
    const std::string text = co_await world.refusal("search_npm_packages", arguments);
    EXPECT_THAT(text, HasSubstr(expected)) << arguments;
  }
}
TEST(SearchNpmPackages, RefusesArgumentsByTheirNames) {
  check(search_arguments);
}

}  // namespace
}  // namespace belljar::tools
