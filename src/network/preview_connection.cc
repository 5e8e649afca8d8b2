#include "network/preview_connection.h"

#include <array>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <limits>

#include "net/connection.h"

namespace belljar::network {

namespace {

using namespace asio::experimental::awaitable_operators;

constexpr size_t kMaxBody = 32u << 20;
constexpr int kSwitchingProtocols = 101;

net::HttpResponseParser::Body expected_body(const net::HttpServerRequest& request) {
  using Body = net::HttpResponseParser::Body;
  if (request.method == "HEAD") return Body::none;
  return asks_for_websocket(request) ? Body::or_other_protocol : Body::expected;
}

// Both, until one of them ends, whichever way. (`||` would wait for the first success.)
Task<> until(Task<> end, Task<> work) {
  auto first = co_await (settle(ended(std::move(work))) || settle(ended(std::move(end))));
  const auto error = first.index() == 0 ? std::get<0>(first).error : std::get<1>(first).error;
  if (error) std::rethrow_exception(error);
}

// One request and its answer.
class Carrier {
 public:
  Carrier(net::HttpExchange& exchange, std::unique_ptr<net::Stream> inside, PreviewPath path)
      : exchange_{exchange},
        inside_{std::move(inside)},
        path_{std::move(path)},
        answer_{expected_body(exchange.request()), std::numeric_limits<uint64_t>::max()} {}

  Task<> carry(std::string_view origin) {
    const auto& request = exchange_.request();
    std::string body;
    if (!asks_for_websocket(request)) body = co_await exchange_.read_body(kMaxBody);
    co_await inside_->write(inner_head(request, path_, origin, body.size()) + body);
    // A browser that leaves is not to keep the server, or the sandbox, busy.
    co_await until(exchange_.until_gone(), receive_head());
    if (!answer_.has_head()) co_return;
    if (answer_.head().status == kSwitchingProtocols) {
      co_await switch_protocols();
    } else {
      co_await until(exchange_.until_gone(), pass_answer());
    }
  }

 private:
  Task<> receive_head() {
    while (!answer_.has_head()) co_await receive();
  }

  Task<> receive() {
    const size_t count = co_await inside_->read_some(buffer_);
    if (count == 0) {
      answer_.feed_end();
    } else {
      answer_.feed(std::string_view{buffer_.data(), count});
    }
  }

  Task<> pass_answer() {
    const net::ResponseHead& head = answer_.head();
    const bool has_body = !answer_.is_done() || answer_.length() > 0;
    if (!has_body) {
      net::HttpAnswer whole{.status = head.status, .type = ""};
      whole.headers = outer_headers(head, path_);
      co_return co_await exchange_.answer(std::move(whole));
    }
    co_await exchange_.begin(head.status, outer_headers(head, path_));
    for (;;) {
      const std::string piece = answer_.take_body();
      if (!piece.empty()) co_await exchange_.write(piece);
      if (answer_.is_done()) break;
      co_await receive();
    }
    co_await exchange_.finish();
  }

  Task<> switch_protocols() {
    net::HttpHeaders headers = outer_headers(answer_.head(), path_);
    headers.emplace_back("connection", "Upgrade");
    headers.emplace_back("upgrade", "websocket");
    co_await exchange_.begin(kSwitchingProtocols, std::move(headers));
    co_await until(pass_in(), pass_out());
  }

  Task<> pass_out() {
    const std::string early = answer_.take_rest();
    if (!early.empty()) co_await exchange_.write(early);
    for (;;) {
      const size_t count = co_await inside_->read_some(buffer_);
      if (count == 0) co_return;
      co_await exchange_.write(std::string_view{buffer_.data(), count});
    }
  }

  Task<> pass_in() {
    std::array<char, 4096> buffer;
    for (;;) {
      const size_t count = co_await exchange_.read_raw(buffer);
      if (count == 0) co_return;
      co_await inside_->write(std::string_view{buffer.data(), count});
    }
  }

  net::HttpExchange& exchange_;
  std::unique_ptr<net::Stream> inside_;
  PreviewPath path_;
  net::HttpResponseParser answer_;
  std::array<char, 16384> buffer_;
};

}  // namespace

Task<> carry_preview(net::HttpExchange& exchange, Fd inside, PreviewPath path, std::string origin) {
  const auto executor = co_await asio::this_coro::executor;
  Carrier carrier{exchange, net::plain_stream(executor, std::move(inside)), std::move(path)};
  try {
    co_await carrier.carry(origin);
  } catch (const boost::system::system_error& e) {
    if (e.code() == asio::error::operation_aborted) throw;
    fail(Code::unavailable, "the server in the sandbox, or the client, has hung up");
  }
}

}  // namespace belljar::network
