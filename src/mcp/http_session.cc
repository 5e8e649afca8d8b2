#include "mcp/http_session.h"

#include "base/id.h"
#include "mcp/protocol.h"

namespace belljar::mcp {

namespace {

constexpr size_t kIdBytes = 16;

Send sender_to(HttpSession::Stream stream) {
  return [stream = std::move(stream)](Outgoing outgoing) { stream->add(std::move(outgoing)); };
}

// The same for clients that could not come back to a stream that is paused.
Send steady_sender_to(HttpSession::Stream stream) {
  return [stream = std::move(stream)](Outgoing outgoing) {
    if (outgoing.kind != Outgoing::Kind::pause) stream->add(std::move(outgoing));
  };
}

}  // namespace

HttpSession::HttpSession(const asio::any_io_executor& executor, Server& server, std::string owner,
                         EventBudget& budget, HttpStreamOptions options)
    : executor_{executor},
      budget_{budget},
      options_{options},
      id_{random_hex(kIdBytes)},
      announcements_{
          std::make_shared<EventStream>(executor, budget, options.max_queued, uint64_t{0}, 0)},
      connection_{executor, server, std::move(owner), steady_sender_to(announcements_)} {}

bool HttpSession::takes(const Message& message) const {
  const size_t size = message.batch.size();
  return message.kind != Message::Kind::batch ||
         (version() == kBatchVersion && size > 0 && size <= kMaxBatch);
}

size_t HttpSession::expected_answers(const Message& message) {
  if (message.kind != Message::Kind::batch) return message.kind == Message::Kind::request ? 1 : 0;
  size_t answers = 0;
  for (const json::value& element : message.batch) {
    const Message::Kind kind = classify(element).kind;
    if (kind == Message::Kind::request || kind == Message::Kind::invalid) ++answers;
  }
  return answers;
}

HttpSession::Stream HttpSession::handle(Message message) {
  const size_t answers = expected_answers(message);
  if (answers == 0) {
    connection_.handle(std::move(message), steady_sender_to(announcements_));
    return nullptr;
  }
  prune();
  const uint64_t number = next_++;
  auto stream =
      std::make_shared<EventStream>(executor_, budget_, options_.max_queued, number, answers);
  streams_.emplace(number, stream);
  connection_.handle(std::move(message),
                     can_resume_early() ? sender_to(stream) : steady_sender_to(stream));
  return stream;
}

HttpSession::Stream HttpSession::find_stream(uint64_t id) const {
  if (id == announcements_->id()) return announcements_;
  const auto at = streams_.find(id);
  return at != streams_.end() ? at->second : nullptr;
}

bool HttpSession::is_idle() const {
  if (connection_.in_flight() > 0 || announcements_->is_attached()) return false;
  for (const auto& [id, stream] : streams_)
    if (stream->is_attached()) return false;
  return true;
}

// Keeps what a client may still come back for, as long as there is room for it.
void HttpSession::prune() {
  size_t complete = 0;
  for (const auto& [id, stream] : streams_) complete += stream->is_complete() ? 1 : 0;
  for (auto at = streams_.begin(); at != streams_.end();) {
    const bool droppable = at->second->is_complete() && !at->second->is_attached();
    if (!droppable || (complete < options_.kept && !budget_.is_spent())) {
      ++at;
      continue;
    }
    at = streams_.erase(at);
    --complete;
  }
}

Task<> HttpSession::stop() {
  announcements_->close();
  for (const auto& [id, stream] : streams_) stream->close();
  co_await connection_.stop();
}

}  // namespace belljar::mcp
