#include "tools/script_prompt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/testing.h"

namespace belljar::tools {
namespace {

using testing::HasSubstr;
using testing::Not;

std::vector<std::string> texts_for(std::string_view wish, const Settings& settings = {}) {
  const auto prompt = make_script_prompt(settings);
  FakeCall call;
  json::object arguments;
  arguments["prompt"] = wish;
  const mcp::PromptResult result = run(prompt->get(std::move(arguments), call));
  std::vector<std::string> texts;
  for (const json::value& message : result.messages) {
    EXPECT_EQ(message.at("role").as_string(), "user");
    texts.emplace_back(std::string_view{message.at("content").at("text").as_string()});
  }
  return texts;
}

TEST(ScriptPrompt, HasOneRequiredArgument) {
  const auto prompt = make_script_prompt(Settings{});
  EXPECT_EQ(prompt->info().name, "run-node-js-script");
  ASSERT_EQ(prompt->info().arguments.size(), 1u);
  EXPECT_EQ(prompt->info().arguments[0].name, "prompt");
  EXPECT_TRUE(prompt->info().arguments[0].required);
}

TEST(ScriptPrompt, GivesTheUsersWordsUnchangedAndThenTheGuide) {
  const std::string wish = "Draw a chart {} %s \"of\"\n# Limits\nsales";
  const auto texts = texts_for(wish);
  ASSERT_EQ(texts.size(), 2u);
  EXPECT_EQ(texts[0], wish);
  for (const char* word :
       {"run_js_ephemeral", "sandbox_initialize", "dependencies", "./files",
        "node:", "listenOnPort", "Top-level `await`", "typescript", "network", "console.log"}) {
    EXPECT_THAT(texts[1], HasSubstr(word));
  }
  EXPECT_THAT(texts[1], Not(HasSubstr(wish)));
}

TEST(ScriptPrompt, TellsTheLimitsThatTheOperatorSet) {
  Settings settings;
  settings.run_timeout = milliseconds{12'345};
  settings.default_limits.memory = 96u << 20;
  const auto texts = texts_for("x", settings);
  EXPECT_THAT(texts.at(1), HasSubstr("12345 ms"));
  EXPECT_THAT(texts.at(1), HasSubstr("96 MiB"));
}

TEST(ScriptPrompt, AsksForWordsIfThereAreNone) {
  EXPECT_THAT(error_of([] { texts_for(" \n"); }), HasSubstr("argument \"prompt\" is empty"));
}

}  // namespace
}  // namespace belljar::tools
