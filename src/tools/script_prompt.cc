#include "tools/script_prompt.h"

#include <utility>

#include "tools/script_guide.h"

namespace belljar::tools {

namespace {

mcp::PromptInfo describe() {
  mcp::PromptInfo info;
  info.name = "run-node-js-script";
  info.title = "Write and run a Node.js script";
  info.description =
      "Has a Node.js script written for what you want and run in a sandbox, with a guide to "
      "writing "
      "good scripts for it.";
  info.arguments = {{.name = "prompt",
                     .title = "What the script is to do",
                     .description = "What you want done, in your own words.",
                     .required = true}};
  return info;
}

class ScriptPrompt final : public mcp::Prompt {
 public:
  explicit ScriptPrompt(const Settings& settings)
      : info_{describe()}, guide_{script_guide(settings)} {}

  const mcp::PromptInfo& info() const override { return info_; }

  Task<mcp::PromptResult> get(json::object arguments, mcp::Call&) override {
    const std::string wish{std::string_view{arguments.at("prompt").as_string()}};
    if (wish.find_first_not_of(" \t\r\n") == std::string::npos) {
      fail(Code::invalid, "argument \"prompt\" is empty; say what the script is to do");
    }
    mcp::PromptResult result;
    result.description = info_.description;
    // The user's words stand alone, so that nothing in them can pass for a part of the guide.
    result.messages.emplace_back(mcp::prompt_message("user", mcp::text_block(wish)));
    result.messages.emplace_back(mcp::prompt_message("user", mcp::text_block(guide_)));
    co_return result;
  }

 private:
  mcp::PromptInfo info_;
  std::string guide_;
};

}  // namespace

std::unique_ptr<mcp::Prompt> make_script_prompt(const Settings& settings) {
  return std::make_unique<ScriptPrompt>(settings);
}

}  // namespace belljar::tools
