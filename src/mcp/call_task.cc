#include "mcp/call_task.h"

#include <fmt/chrono.h>

#include "base/id.h"
#include "base/utf8.h"

namespace belljar::mcp {

namespace {

constexpr size_t kMaxStatusMessage = 500;  // bytes; it is sent with every poll

std::string iso(Clock::WallTime time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  const auto rest = std::chrono::duration_cast<milliseconds>(time - seconds);
  const std::time_t whole = std::chrono::system_clock::to_time_t(seconds);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(whole), rest.count());
}

std::string_view name_of(CallTask::Status status) {
  switch (status) {
    case CallTask::Status::working: return "working";
    case CallTask::Status::input_required: return "input_required";
    case CallTask::Status::completed: return "completed";
    case CallTask::Status::failed: return "failed";
    case CallTask::Status::cancelled: break;
  }
  return "cancelled";
}

json::object as_json(const RpcError& error) {
  json::object result{{"code", error.code}, {"message", error.message}};
  if (error.data) result.emplace("data", *error.data);
  return result;
}

// Returns when the event is set or the time has come.
Task<> wait_until(Event& event, Clock& clock, Clock::Time time) {
  using namespace asio::experimental::awaitable_operators;
  // Settled, because `||` makes one exception of two, which nobody takes for a cancellation.
  co_await (settle(ended(event.wait())) || settle(ended(clock.sleep_until(time))));
  const asio::cancellation_state state = co_await asio::this_coro::cancellation_state;
  if (state.cancelled() == asio::cancellation_type::none) co_return;
  throw boost::system::system_error{asio::error::operation_aborted};
}

}  // namespace

CallTask::CallTask(const asio::any_io_executor& executor, Clock& clock, ActiveCall& request)
    : clock_{clock},
      request_{&request},
      id_{random_uuid()},
      owner_{request.owner()},
      capabilities_{request.client_capabilities()},
      round_{request.round()},
      created_{clock.now()},
      created_wall_{clock.wall()},
      changed_{created_},
      executor_{executor},
      settled_{executor} {}

void CallTask::progress(std::string_view message, double total) {
  if (request_ != nullptr) return request_->progress(message, total);
  if (is_over() || message.empty()) return;
  status_message_ = message.substr(0, utf8_prefix(message, kMaxStatusMessage));
  changed_ = clock_.now();
}

// Only requests have a stream for log messages.
void CallTask::log(LogLevel level, std::string_view logger, json::value data) {
  if (request_ != nullptr) request_->log(level, logger, std::move(data));
}

void CallTask::set_status(Status status) {
  status_ = status;
  changed_ = clock_.now();
}

void CallTask::finish(Reply reply, size_t kept) {
  if (is_over()) return;
  kept_ = kept;
  status_message_.clear();
  set_status(std::holds_alternative<RpcError>(reply) ? Status::failed : Status::completed);
  reply_ = std::move(reply);
  settled_.set();
}

void CallTask::cancel(std::string_view why) {
  if (is_over()) return;
  status_message_ = why;
  set_status(Status::cancelled);
  pending_.clear();
  settled_.set();
}

Task<> CallTask::wait_until_settled(Clock::Time until) {
  return wait_until(settled_, clock_, until);
}

// The protocol wants keys that are never used twice; tools may use the same name in every round.
std::string CallTask::fresh_key(const std::string& name) {
  std::string key = name;
  for (int i = 2; !used_keys_.insert(key).second; ++i) key = fmt::format("{}-{}", name, i);
  return key;
}

Task<bool> CallTask::wait_for_answers(InputRequired question, Clock::Time until) {
  answers_.clear();
  for (auto& [name, request] : question.requests) {
    pending_.emplace(fresh_key(name), Pending{name, std::move(request)});
  }
  round_.state = std::move(question.state);
  answered_.emplace(executor_);
  if (pending_.empty()) {
    answered_->set();
  } else {
    set_status(Status::input_required);
  }
  co_await wait_until(*answered_, clock_, until);
  if (!answered_->is_set()) co_return false;
  round_.responses = std::move(answers_);
  co_return true;
}

void CallTask::answer(const json::object& responses) {
  if (pending_.empty()) return;
  for (auto at = pending_.begin(); at != pending_.end();) {
    const json::object* response = find_object(responses, at->first);
    if (response == nullptr) {
      ++at;
      continue;
    }
    answers_[at->second.name] = *response;
    at = pending_.erase(at);
  }
  if (!pending_.empty()) return;
  set_status(Status::working);
  answered_->set();
}

json::object CallTask::describe(milliseconds ttl, milliseconds poll_interval) const {
  const Clock::Time alive = status_ == Status::working ? clock_.now() : changed_;
  const auto kept = std::chrono::duration_cast<milliseconds>(alive - created_) + ttl;
  const auto changed =
      std::chrono::duration_cast<std::chrono::system_clock::duration>(changed_ - created_);
  json::object result{{"taskId", id_}, {"status", name_of(status_)}};
  if (!status_message_.empty()) result.emplace("statusMessage", status_message_);
  result.emplace("createdAt", iso(created_wall_));
  result.emplace("lastUpdatedAt", iso(created_wall_ + changed));
  result.emplace("ttlMs", kept.count());
  result.emplace("pollIntervalMs", poll_interval.count());
  return result;
}

json::object CallTask::describe_all(milliseconds ttl, milliseconds poll_interval) {
  json::object result = describe(ttl, poll_interval);
  seen_ = is_over();
  if (status_ == Status::input_required) {
    json::object requests;
    for (const auto& [key, pending] : pending_) {
      requests.emplace(key, mcp::as_json(pending.request));
    }
    result.emplace("inputRequests", std::move(requests));
  }
  if (status_ == Status::completed) result.emplace("result", std::get<json::object>(*reply_));
  if (status_ == Status::failed) result.emplace("error", as_json(std::get<RpcError>(*reply_)));
  return result;
}

}  // namespace belljar::mcp
