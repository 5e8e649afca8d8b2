#include "mcp/active_call.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "mcp/protocol.h"

namespace belljar::mcp {

namespace {

// 3 rather than 3E0: some clients want an integer wherever the value is one.
json::value number(double value) {
  if (std::trunc(value) == value && std::abs(value) < 1e15) return static_cast<int64_t>(value);
  return value;
}

}  // namespace

bool RateLimit::take(Time now) {
  if (last_) {
    const std::chrono::duration<double> passed = now - *last_;
    tokens_ = std::min(kBurst, tokens_ + passed.count() * kPerSecond);
  }
  last_ = now;
  if (tokens_ < 1) return false;
  tokens_ -= 1;
  return true;
}

void ActiveCall::progress(std::string_view message, double total) {
  if (muted_ || !wants_progress()) return;
  ++step_;
  json::object params{{"progressToken", *setup_.progress_token}, {"progress", step_}};
  if (total > 0 && std::isfinite(total)) params.emplace("total", number(total));
  if (!message.empty()) params.emplace("message", message);
  if (!limit_.take(std::chrono::steady_clock::now())) {
    held_back_ = std::move(params);
    return;
  }
  held_back_.reset();
  setup_.send(make_notification("notifications/progress", std::move(params)));
}

void ActiveCall::log(LogLevel level, std::string_view logger, json::value data) {
  if (muted_) return;
  const LogLevel* threshold = setup_.own_level ? &*setup_.own_level : setup_.connection_level;
  if (threshold == nullptr || level < *threshold) return;
  json::object params{{"level", name_of(level)}};
  if (!logger.empty()) params.emplace("logger", logger);
  params.emplace("data", std::move(data));
  setup_.send(make_notification("notifications/message", std::move(params)));
}

void ActiveCall::let_client_go() {
  if (!muted_) setup_.send(Outgoing{.kind = Outgoing::Kind::pause});
}

void ActiveCall::mute() {
  muted_ = true;
}

void ActiveCall::withdraw() {
  if (!std::exchange(muted_, true)) setup_.send(Outgoing{.kind = Outgoing::Kind::no_answer});
}

void ActiveCall::answer(Outgoing outgoing) {
  if (muted_) return;
  if (held_back_) {
    setup_.send(make_notification("notifications/progress", std::move(*held_back_)));
    held_back_.reset();
  }
  muted_ = true;
  setup_.send(std::move(outgoing));
}

}  // namespace belljar::mcp
