#pragma once

#include <set>
#include <string>
#include <variant>

#include "mcp/active_call.h"
#include "mcp/server.h"

namespace belljar::mcp {

// An open subscriptions/listen of a modern client: what it asked to be told and the server can
// tell.
struct Subscription {
  Id id;  // of the request, and of the subscription
  Send send;
  bool tools = false;
  bool prompts = false;
  bool resources = false;
  std::set<std::string, std::less<>> uris;

  bool wants(const Change& change) const;

  // True if nothing of what was asked for can be told.
  bool empty() const { return !tools && !prompts && !resources && uris.empty(); }
};

// Reads the parameters of subscriptions/listen, leaving out what this server does not offer.
std::variant<Subscription, RpcError> read_subscription(const Server& server, Id id,
                                                       const json::object& params, Send send);

// The first message of a subscription: what it covers.
Outgoing make_acknowledgement(const Subscription& subscription);

// The last one, when the server ends it.
Outgoing make_farewell(const Subscription& subscription, const Server& server);

// The notification for a change; a modern client also has to learn by which subscription it gets
// it.
Outgoing make_notice(const Change& change);
Outgoing make_notice(const Change& change, const Subscription& subscription);

}  // namespace belljar::mcp
