#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/json.h"

namespace belljar::mcp {

// One thing that only the client knows.
struct InputRequest {
  std::string method;        // elicitation/create, sampling/createMessage or roots/list
  json::object params = {};  // as for the request of that name
};

// What a tool, prompt or resource has to know before it can answer. See Call::ask().
struct InputRequired {
  std::map<std::string, InputRequest> requests;  // by names of the handler's choice

  // What the handler wants to remember until the answers are there. The engine sees to it that the
  // client gives back what it was given, but the client can read it.
  std::string state = {};
};

// Where a call stands that may ask the client.
struct InputRound {
  json::object responses = {};  // by the names of the requests
  std::string state = {};
  std::optional<InputRequired> question = {};  // set by Call::ask()
};

// The client's capabilities that the requests need and `declared` does not have, in the same form;
// empty if there are none. A bare `elicitation` is for forms, not for URLs.
json::object missing_capabilities(const InputRequired& input, const json::object& declared);

// The requests as members of a result: {"<name>": {"method", "params"}, …}.
json::object as_json(const InputRequest& request);
json::object as_json(const InputRequired& input);

}  // namespace belljar::mcp
