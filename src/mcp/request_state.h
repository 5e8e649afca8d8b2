#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"

namespace belljar::mcp {

// Keeps what a handler wants to remember between the rounds of a request with the client, which is
// not trusted: signed with a key that only this process has, for this request, for an hour. It is
// neither secret nor good for one use only.
class RequestStates {
 public:
  using Time = std::chrono::steady_clock::time_point;

  RequestStates();

  // `binding` says for which request; see bind_request().
  std::string seal(std::string_view binding, std::string_view state, Time now) const;

  // What was sealed; nothing if it was not sealed by us for this request, or too long ago.
  std::optional<std::string> open(std::string_view binding, std::string_view sealed,
                                  Time now) const;

 private:
  std::string sign(std::string_view binding, std::string_view payload) const;
  std::string key_;
};

// A digest of what makes two requests the same: who asks for what, whatever the order in which
// members are written, and without what differs from round to round.
std::string bind_request(std::string_view owner, std::string_view method,
                         const json::object& params);

}  // namespace belljar::mcp
