// The part of HttpEndpoint that ends sessions, and the endpoint itself.
#include "mcp/http_endpoint.h"

namespace belljar::mcp {

bool HttpEndpoint::make_room() {
  if (sessions_.size() < options_.max_sessions) return true;
  Session oldest;
  for (const auto& [id, session] : sessions_) {
    if (session->is_idle() && (oldest == nullptr || session->last_use < oldest->last_use))
      oldest = session;
  }
  if (oldest == nullptr) return false;
  end_session(oldest);
  return true;
}

void HttpEndpoint::end_session(Session session) {
  sessions_.erase(session->id());
  retiring_.spawn("end a session", retire(std::move(session)));
}

Task<> HttpEndpoint::retire(Session session) {
  co_await session->stop();
}

Task<> HttpEndpoint::expire_sessions() {
  while (!sessions_.empty()) {
    Clock::Time next = Clock::Time::max();
    const Clock::Time now = clock_.now();
    std::vector<Session> ended;
    for (const auto& [id, session] : sessions_) {
      if (!session->is_idle()) session->last_use = now;
      const Clock::Time end = session->last_use + options_.session_idle;
      if (end <= now) ended.push_back(session);
      if (end > now) next = std::min(next, end);
    }
    for (Session& session : ended) end_session(std::move(session));
    if (!sessions_.empty()) co_await clock_.sleep_until(next);
  }
}

void HttpEndpoint::drain() {
  draining_ = true;
  for (const auto& [connection, stream] : modern_) connection->end_subscriptions();
  for (const auto& [id, session] : sessions_) session->announcements()->close();
}

Task<> HttpEndpoint::stop() {
  drain();
  stopped_ = true;
  co_await expiry_.stop();
  while (!sessions_.empty()) end_session(sessions_.begin()->second);
  for (const auto& [connection, stream] : modern_) stream->close();
  co_await retiring_.finish();
  while (active_ > 0) {
    boost::system::error_code woken;
    co_await idle_.async_wait(asio::redirect_error(asio::use_awaitable, woken));
  }
}

}  // namespace belljar::mcp
