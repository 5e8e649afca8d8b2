#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mcp/tool.h"

namespace belljar::mcp {

// What a person has typed so far into an argument of a prompt or a variable of a resource template.
struct CompletionRequest {
  enum class Kind { prompt, resource };
  Kind kind = Kind::prompt;
  std::string name;       // of the prompt, or the URI (template) of the resource
  std::string argument;   // which argument
  std::string value;      // what is typed
  json::object resolved;  // the values of other arguments, by name
};

struct Completion {
  std::vector<std::string> values;  // best first; the engine sends the first 100
  size_t total = 0;                 // how many there are; 0: as many as `values` has
};

// Proposes values. Asked in the order of registration; the first that answers is taken.
class Completer {
 public:
  virtual ~Completer() = default;
  virtual Task<std::optional<Completion>> complete(CompletionRequest request, Call& call) = 0;
};

}  // namespace belljar::mcp
