#include "tools/lint.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/testing.h"

namespace belljar::tools {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string diagnostic(const std::string& message, int line, int column) {
  return fmt::format(
      R"j({{"message":"{}","code":"eslint(no-undef)",
            "labels":[{{"span":{{"line":{},"column":{}}}}}]}})j",
      message, line, column);
}

std::string report(const std::string& diagnostics) {
  return "{ \"diagnostics\": [" + diagnostics + "], \"number_of_files\": 1 }\n  ";
}

TEST(Lint, WritesOneLinePerFindingInTheOrderOfTheProgram) {
  EXPECT_THAT(
      lint_lines(report(diagnostic("'b' is not defined.", 7, 2) + "," +
                        diagnostic("'a' is not defined.", 3, 13))),
      ElementsAre("L3:13: 'a' is not defined (no-undef)", "L7:2: 'b' is not defined (no-undef)"));
}

TEST(Lint, PointsAtTheSecondDeclarationAndNamesSyntaxErrors) {
  EXPECT_THAT(lint_lines(R"({ "diagnostics": [{
        "message": "Identifier `x` has already been declared","severity": "error","causes": [],
        "filename": "index.js","labels": [
          {"label": "`x` has already been declared here",
           "span": {"offset": 6,"length": 1,"line": 1,"column": 7}},
          {"label": "It can not be redeclared here",
           "span": {"offset": 17,"length": 1,"line": 2,"column": 5}}],"related": []}]})"),
              ElementsAre("L2:5: Identifier `x` has already been declared (syntax)"));
}

TEST(Lint, SaysHowManyMoreThereAre) {
  std::string many;
  for (int line = 1; line <= 25; ++line)
    many += (line > 1 ? "," : "") + diagnostic("'a' is not defined.", line, 1);
  const auto lines = lint_lines(report(many));
  ASSERT_EQ(lines.size(), 21u);
  EXPECT_EQ(lines.back(), "… and 5 more");
}

TEST(Lint, SaysTheSameThingOnce) {
  const std::string one = diagnostic("'a' is not defined.", 1, 1);
  EXPECT_EQ(lint_lines(report(one + "," + one)).size(), 1u);
}

TEST(Lint, KeepsHostileMessagesShortAndOnOneLine) {
  const auto lines = lint_lines(report(diagnostic("a\\n\\u001b[2Jb", 1, 1)));
  EXPECT_THAT(lines, ElementsAre("L1:1: a  [2Jb (no-undef)"));
  EXPECT_LT(lint_lines(report(diagnostic(std::string(5000, 'x'), 1, 1)))[0].size(), 300u);
}

TEST(Lint, HasNothingToSayAboutAReportThatMakesNoSense) {
  for (const char* text : {"", "Segmentation fault", "[]", "{}", R"({"diagnostics":{}})",
                           R"({"diagnostics":[1,{},{"message":1},{"message":"m","labels":[]}]})",
                           R"({"diagnostics":[{"message":"m","labels":[{"span":{"line":"1"}}]}]})",
                           R"({"diagnostics":[{"message":"m","labels":[3]}]})"})
    EXPECT_THAT(lint_lines(text), IsEmpty()) << text;
}

Task<> without_linter(World& world) {
  SandboxSpec spec;
  spec.image.prefix = "/nowhere";
  Lease lease = co_await world.sandboxes.create_ephemeral("", std::move(spec));
  Outcome outcome;
  outcome.code = 1;
  const auto lines = co_await lint(lease, outcome, "/workspace/index.js");
  EXPECT_THAT(lines, IsEmpty());
  EXPECT_THAT(world.driver.commands(), IsEmpty());
}
TEST(Lint, StartsNothingForARuntimeWithoutALinter) {
  check(without_linter);
}

}  // namespace
}  // namespace belljar::tools
