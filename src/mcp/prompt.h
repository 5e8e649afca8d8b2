#pragma once

#include <string>
#include <vector>

#include "mcp/tool.h"

namespace belljar::mcp {

struct PromptArgument {
  std::string name;
  std::string title;
  std::string description;
  bool required = false;
};

struct PromptInfo {
  std::string name;
  std::string title;
  std::string description;
  std::vector<PromptArgument> arguments;
};

struct PromptResult {
  std::string description;  // "" for none
  json::array messages;     // see prompt_message()
};

// `role` is "user" or "assistant", `block` one content block.
inline json::object prompt_message(std::string_view role, json::object block) {
  return json::object{{"role", role}, {"content", std::move(block)}};
}

// A text that a person may pick from a menu. The engine has checked that all required arguments are
// there and that all given ones are strings. An Error of code invalid or not_found blames the
// client.
class Prompt {
 public:
  virtual ~Prompt() = default;
  virtual const PromptInfo& info() const = 0;
  virtual Task<PromptResult> get(json::object arguments, Call& call) = 0;
};

}  // namespace belljar::mcp
