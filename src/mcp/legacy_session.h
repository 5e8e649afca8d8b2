#pragma once

#include <optional>
#include <set>
#include <string>

#include "mcp/message.h"
#include "mcp/server.h"

namespace belljar::mcp {

// What a connection remembers for a client of the legacy era, and the methods that only read or
// change that: initialize, ping, logging/setLevel, resources/subscribe and resources/unsubscribe. A
// client that skips the handshake is served as one of the newest legacy version.
class LegacySession {
 public:
  explicit LegacySession(const Server& server) : server_{server} {}

  // Nothing if it is not one of these methods, or not offered by this server.
  std::optional<Reply> answer(const std::string& method, const json::object& params);

  // The client has asked for the list of resources, so it is interested in changes to it.
  void set_listed() { listed_ = true; }
  void add_interest(ResourceInterest& interest) const;

  void set_initialized() { initialized_ = !negotiated_.empty(); }

  // The version the handshake agreed on; "" before it.
  const std::string& negotiated() const { return negotiated_; }
  std::string version() const;

  // The lowest level of log messages to send; warning until the client chooses.
  const LogLevel& log_level() const { return log_level_; }

  // What the client said it can be asked.
  const json::object& client_capabilities() const { return capabilities_; }

  // True if the handshake is complete and the client is to be told of this.
  bool wants(const Change& change) const;

 private:
  Reply initialize(const json::object& params);
  Reply set_level(const json::object& params);
  Reply subscribe(const json::object& params);
  Reply unsubscribe(const json::object& params);

  const Server& server_;
  std::string negotiated_;
  json::object capabilities_;
  bool initialized_ = false;
  bool listed_ = false;
  LogLevel log_level_ = LogLevel::warning;
  std::set<std::string, std::less<>> watched_;  // URIs
};

}  // namespace belljar::mcp
