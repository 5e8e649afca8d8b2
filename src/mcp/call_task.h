#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/clock.h"
#include "mcp/active_call.h"
#include "mcp/input.h"
#include "mcp/message.h"

namespace belljar::mcp {

// One call of a tool that may go on after its request has been answered: what the tasks extension
// calls a task. At first it is attached to the request, which gets its progress and, if the call
// ends soon, its result. When it is detached the client has its id, and asks how it goes.
class CallTask final : public Call {
 public:
  enum class Status { working, input_required, completed, failed, cancelled };

  CallTask(const asio::any_io_executor& executor, Clock& clock, ActiveCall& request);

  const std::string& owner() const override { return owner_; }
  bool wants_progress() const override { return request_ == nullptr || request_->wants_progress(); }
  void progress(std::string_view message, double total) override;
  void log(LogLevel level, std::string_view logger, json::value data) override;
  const json::object& client_capabilities() const override { return capabilities_; }
  const json::object& input_responses() const override { return round_.responses; }
  const std::string& request_state() const override { return round_.state; }
  void ask(InputRequired input) override { round_.question = std::move(input); }

  const std::string& id() const { return id_; }
  InputRound& round() { return round_; }
  bool is_attached() const { return request_ != nullptr; }
  void detach() { request_ = nullptr; }
  bool is_over() const { return status_ > Status::input_required; }

  // The call is over; does nothing if it was before. `kept` is how many bytes the reply takes.
  void finish(Reply reply, size_t kept = 0);
  void cancel(std::string_view why);

  // Returns when the call is over or, while it is attached, has a question; or at that time.
  Task<> wait_until_settled() { return settled_.wait(); }
  Task<> wait_until_settled(Clock::Time until);
  bool is_settled() const { return settled_.is_set(); }
  void settle() { settled_.set(); }
  Reply take_reply() { return std::move(*reply_); }

  // Has the client asked by `tasks/get`, and waits until it has answered everything or `until` has
  // come. False: it has not. The answers are then those of the next round.
  Task<bool> wait_for_answers(InputRequired question, Clock::Time until);

  // Takes answers of the client; what was not asked, or is no object, is ignored.
  void answer(const json::object& responses);

  // The members of a task. It is kept at least for `ttl` after it has last changed, and as long as
  // it works.
  json::object describe(milliseconds ttl, milliseconds poll_interval) const;
  // These, and what belongs to the status: inputRequests, result or error, which then is seen.
  json::object describe_all(milliseconds ttl, milliseconds poll_interval);

  size_t kept_bytes() const { return kept_; }
  bool is_seen() const { return seen_; }
  Clock::Time changed() const { return changed_; }

 private:
  struct Pending {
    std::string name;  // by which the tool knows the request
    InputRequest request;
  };
  std::string fresh_key(const std::string& name);
  void set_status(Status status);

  Clock& clock_;
  ActiveCall* request_;
  std::string id_;
  std::string owner_;
  json::object capabilities_;
  InputRound round_;
  Status status_ = Status::working;
  std::string status_message_;
  Clock::Time created_;
  Clock::WallTime created_wall_;
  Clock::Time changed_;  // when the status changed, or its message
  std::optional<Reply> reply_;
  size_t kept_ = 0;
  bool seen_ = false;
  std::map<std::string, Pending> pending_;  // by the keys that the client sees
  std::set<std::string> used_keys_;         // never used again
  json::object answers_;
  asio::any_io_executor executor_;
  std::optional<Event> answered_;
  Event settled_;
};

}  // namespace belljar::mcp
