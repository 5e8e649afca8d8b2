#include "mcp/stdio_transport.h"

#include <utility>

#include "base/log.h"
#include "mcp/protocol.h"

namespace belljar::mcp {

StdioTransport::StdioTransport(const asio::any_io_executor& executor, Server& server,
                               StdioOptions options)
    : options_{options},
      input_{executor, options.input, StdioStream::Direction::input},
      output_{executor, options.output, StdioStream::Direction::output},
      changed_{executor, std::chrono::steady_clock::time_point::max()},
      over_{executor},
      connection_{executor, server, "", [this](Outgoing outgoing) { send(std::move(outgoing)); }},
      tasks_{executor} {}

Task<> StdioTransport::run() {
  tasks_.spawn("read input", read_lines());
  tasks_.spawn("write output", write_lines());
  try {
    co_await over_.wait();
  } catch (const boost::system::system_error&) {
    polite_ = true;  // cancelled: as if stop() had been called
  }
  // A cancelled task cannot wait for anything, and there are tasks to wait for.
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  if (polite_) connection_.end_subscriptions();
  co_await connection_.stop();
  co_await with_timeout(options_.flush_limit, wait_until_written());
  co_await tasks_.stop();
  co_await asio::this_coro::reset_cancellation_state(asio::enable_terminal_cancellation());
}

void StdioTransport::stop() {
  polite_ = true;
  over_.set();
}

Task<> StdioTransport::read_lines() {
  LineSplitter splitter{options_.max_line};
  try {
    while (true) {
      const std::string_view chunk = co_await input_.read();
      if (chunk.empty()) break;
      splitter.feed(chunk);
      while (const auto line = splitter.next()) {
        take(*line);
        if (is_full()) co_await wait_for_room();
      }
    }
    if (const auto line = splitter.finish()) take(*line);
  } catch (const std::exception& e) {
    if (is_cancellation(std::current_exception())) throw;
    log::debug("input: {}", e.what());  // a peer that vanished is an end like any other
  }
  over_.set();
}

Task<> StdioTransport::write_lines() {
  try {
    while (true) {
      while (queued_.empty()) co_await wait_for_change();
      std::string lines = std::exchange(queued_, {});
      writing_ = lines.size();
      co_await output_.write(std::move(lines));
      writing_ = 0;
      changed_.cancel();
    }
  } catch (const std::exception& e) {
    broken_ = true;
    if (is_cancellation(std::current_exception())) throw;
    log::debug("output: {}", e.what());
  }
  changed_.cancel();
  over_.set();
}

void StdioTransport::take(const LineSplitter::Line& line) {
  if (line.too_long) {
    const RpcError error{kInvalidRequest, "Line too long"};
    send(make_error(std::nullopt, error, Outgoing::Kind::refusal));
  } else if (line.text.find_first_not_of(" \t\r") != std::string_view::npos) {
    connection_.handle(line.text);
  }
}

void StdioTransport::send(Outgoing outgoing) {
  // Nobody waits for a notification: rather lose it than fill the memory for a client that does not
  // read.
  const bool may_drop = outgoing.kind == Outgoing::Kind::notification;
  if (broken_ || outgoing.is_hint() || (may_drop && is_full())) return;
  if (queued_.empty()) {
    queued_ = std::move(outgoing.text);  // it may be megabytes
  } else {
    queued_ += outgoing.text;
  }
  queued_ += '\n';
  changed_.cancel();
}

Task<> StdioTransport::wait_for_room() {
  while (is_full() && !broken_) co_await wait_for_change();
}

Task<> StdioTransport::wait_until_written() {
  while (pending() > 0 && !broken_) co_await wait_for_change();
}

Task<> StdioTransport::wait_for_change() {
  boost::system::error_code woken;
  co_await changed_.async_wait(asio::redirect_error(asio::use_awaitable, woken));
}

}  // namespace belljar::mcp
