#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "mcp/message.h"
#include "mcp/tool.h"

namespace belljar::mcp {

// Takes a message for the client. Must neither block nor throw, nor destroy the connection it is
// from.
using Send = std::function<void(Outgoing)>;

// Lets ten events through at once and ten per second after that: never more than twenty in any
// second, and what happens rarely is never held back.
class RateLimit {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // True if the event may happen now. `now` must not go back.
  bool take(Time now);

 private:
  static constexpr double kBurst = 10;
  static constexpr double kPerSecond = 10;
  double tokens_ = kBurst;
  std::optional<Time> last_;
};

// One request while it is served, as the connection sees it.
class ActiveCall final : public Call {
 public:
  struct Setup {
    Id id;
    std::string version;  // of the protocol this request is served by
    std::string owner;
    std::optional<json::value> progress_token;
    // The lowest level that is sent. Points to the connection's when that may change meanwhile;
    // with neither, nothing is sent.
    std::optional<LogLevel> own_level;
    const LogLevel* connection_level = nullptr;
    json::object capabilities;  // of the client
    Send send;
  };

  explicit ActiveCall(Setup setup) : setup_{std::move(setup)} {}

  const std::string& owner() const override { return setup_.owner; }
  bool wants_progress() const override { return setup_.progress_token.has_value(); }
  void progress(std::string_view message, double total) override;
  void log(LogLevel level, std::string_view logger, json::value data) override;
  const json::object& client_capabilities() const override { return setup_.capabilities; }
  const json::object& input_responses() const override { return round_.responses; }
  const std::string& request_state() const override { return round_.state; }
  void ask(InputRequired input) override { round_.question = std::move(input); }
  void let_client_go() override;

  InputRound& round() { return round_; }
  const Send& send() const { return setup_.send; }
  const Id& id() const { return setup_.id; }
  const std::string& version() const { return setup_.version; }
  bool is_muted() const { return muted_; }

  // From now on nothing is sent for this request.
  void mute();

  // The same, and says that no answer will come.
  void withdraw();

  // Sends the progress that the rate limit held back, then the answer, and mutes.
  void answer(Outgoing outgoing);

 private:
  Setup setup_;
  InputRound round_;
  bool muted_ = false;
  int64_t step_ = 0;
  RateLimit limit_;
  std::optional<json::object> held_back_;  // the newest progress not sent
};

}  // namespace belljar::mcp
