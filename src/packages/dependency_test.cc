#include "packages/dependency.h"

#include <gmock/gmock.h>

#include "base/error.h"

namespace belljar::packages {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string error_of(const std::vector<Dependency>& dependencies) {
  try {
    check_dependencies(dependencies);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::invalid);
    return error.what();
  }
  return "";
}

TEST(Dependency, TakesEveryRangeAndDistTag) {
  for (const char* spec :
       {"1.2.3", "v1.2.3", "^1.2.0", "~1", ">=1.0.0 <3.0.0", "1.x || 2.0.0", "1.2 - 2.3", "*",
        "latest", "next", "beta-2", "1.0.0-rc.1+build.5", "canary_x", "lts.old", "7"})
    EXPECT_TRUE(is_package_spec(spec)) << spec;
}

TEST(Dependency, TakesNothingElse) {
  for (const char* spec : {"",
                           "  ",
                           "file:../x",
                           "file:x",
                           "git+https://host/x.git",
                           "git://host/x",
                           "github:a/b",
                           "a/b",
                           "https://host/x.tgz",
                           "http://host",
                           "npm:lodash@1",
                           "link:x",
                           "workspace:*",
                           "./x",
                           "../x",
                           ".",
                           "..",
                           "/etc",
                           "~/x",
                           "-g",
                           "--prefix=/",
                           "-",
                           "x.tgz",
                           "X.TGZ",
                           "1.0.0-x.tgz",
                           "x.tar.gz",
                           "x.tar",
                           "a b",
                           "a;id",
                           "$(id)",
                           "`id`",
                           "a\nb",
                           "a%2fb",
                           "a@1",
                           "a#b",
                           "a?b",
                           "\\\\host\\x",
                           "C:x",
                           "lätest",
                           "1.0.0\t",
                           "@types/x"})
    EXPECT_FALSE(is_package_spec(spec)) << spec;
  EXPECT_FALSE(is_package_spec(std::string(257, 'a')));
  EXPECT_FALSE(is_package_spec(std::string_view{"a\0b", 3}));
}

TEST(Dependency, IsRefusedByTheNameOfTheArgument) {
  EXPECT_EQ(error_of({{"a", "1"}, {"@b/c", "latest"}}), "");
  EXPECT_THAT(
      error_of({{"a", "1"}, {"b", "git+https://host/x"}}),
      StartsWith(R"(argument "dependencies[1].version" is "git+https://host/x"; it must be)"));
  EXPECT_THAT(error_of({{"a b", "1"}}),
              StartsWith(R"(argument "dependencies[0].name" is "a b"; it must be the name of a)"));
  EXPECT_THAT(error_of({{std::string(4000, 'x'), "1"}}), HasSubstr("xxx…\""));
}

TEST(Dependency, HasANameThatIsNeitherOptionNorPath) {
  for (const char* name :
       {"",        "-g",   "--prefix=/", ";id",          "a b",         "../../x", "/x",
        "@",       "@/x",  "@a/",        "@a/b/c",       "x.tgz",       "a@1",     "a%2fb",
        ".hidden", "a\nb", "npm:x",      "node_modules", "favicon.ico", "_x",      "__proto__"})
    EXPECT_THAT(error_of({{name, "1"}}), HasSubstr("dependencies[0].name")) << name;
}

TEST(Dependency, StandsOnceInAListOfAHundred) {
  EXPECT_THAT(
      error_of({{"a", "1"}, {"b", "1"}, {"a", "2"}}),
      HasSubstr(R"("dependencies[2].name" is "a"; it must not repeat dependencies[0].name)"));
  std::vector<Dependency> many;
  for (size_t i = 0; i <= kMaxDependencies; ++i) many.push_back({"a" + std::to_string(i), "1"});
  EXPECT_THAT(error_of(many), HasSubstr("at most 100 items"));
  many.pop_back();
  EXPECT_EQ(error_of(many), "");
}

}  // namespace
}  // namespace belljar::packages
