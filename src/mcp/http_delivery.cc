#include "mcp/http_delivery.h"

#include <fmt/format.h>

#include "base/task_group.h"
#include "mcp/protocol.h"

namespace belljar::mcp {

namespace {

using std::chrono::steady_clock;

constexpr size_t kPiece = 64u << 10;

class Deliverer {
 public:
  Deliverer(net::HttpExchange& exchange, EventStream& stream, Delivery delivery,
            HttpStreamOptions options, const asio::any_io_executor& executor)
      : exchange_{exchange},
        stream_{stream},
        delivery_{std::move(delivery)},
        options_{options},
        after_{delivery_.after},
        reader_{stream.attach()},
        watcher_{executor} {}
  ~Deliverer() { stream_.detach(reader_); }
  Deliverer(const Deliverer&) = delete;
  Deliverer& operator=(const Deliverer&) = delete;

  Task<Delivered> run() {
    Delivered delivered = Delivered::none;
    std::exception_ptr fault;
    try {
      delivered = co_await send();
    } catch (const boost::system::system_error& e) {
      // A client that goes away is no fault.
      if (e.code() == asio::error::operation_aborted) fault = std::current_exception();
    } catch (...) {
      fault = std::current_exception();
    }
    // The watcher refers to this, so not even a cancellation may end this wait.
    co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
    co_await watcher_.stop();
    co_await asio::this_coro::reset_cancellation_state(asio::enable_terminal_cancellation());
    if (fault) std::rethrow_exception(fault);
    co_return delivered;
  }

 private:
  Task<Delivered> send() {
    while (!gone_) {
      if (!stream_.is_mine(reader_)) co_return co_await hang_up();
      if (!begun_ && is_answerable()) co_return co_await answer();
      if (wants_stream()) co_await begin();
      if (begun_) co_await write_events();
      if (begun_ && stream_.is_complete() && stream_.after(after_) == nullptr) {
        co_await exchange_.finish();
        co_return Delivered::stream;
      }
      if (stream_.is_closed() || stream_.is_paused()) co_return co_await hang_up();
      co_await wait();
    }
    co_return Delivered::none;
  }

  // Only answers are left to send, and all of them are here.
  bool is_answerable() const {
    if (!stream_.is_complete() || delivery_.form == Delivery::Form::stream) return false;
    const EventStream::Event* first = stream_.after(after_);
    return delivery_.form == Delivery::Form::json || first == nullptr || first->is_answer();
  }

  bool wants_stream() const {
    if (begun_ || delivery_.form == Delivery::Form::json) return false;
    return delivery_.form == Delivery::Form::stream || stream_.is_paused() ||
           stream_.after(after_) != nullptr;
  }

  Task<Delivered> answer() {
    net::HttpAnswer answer;
    answer.headers = std::move(delivery_.headers);
    size_t count = 0;
    for (const auto* event = stream_.after(after_); event != nullptr;
         event = stream_.after(event->number)) {
      if (!event->is_answer()) continue;
      if (delivery_.modern) answer.status = modern_status(event->message);
      if (count++ > 0) answer.body += ',';
      answer.body += event->message.text;
    }
    if (delivery_.as_array) answer.body = "[" + answer.body + "]";
    if (count == 0) {  // all were cancelled
      answer.status = 202;
      answer.type = answer.body = "";
    }
    co_await exchange_.answer(std::move(answer));
    co_return Delivered::answer;
  }

  Task<> begin() {
    net::HttpHeaders headers{{"Content-Type", "text/event-stream"},
                             {"Cache-Control", "no-cache, no-transform"},
                             {"X-Accel-Buffering", "no"}};  // nginx would wait for more
    for (auto& header : delivery_.headers) headers.push_back(std::move(header));
    begun_ = true;
    co_await exchange_.begin(200, std::move(headers));
    if (delivery_.prime) {
      const EventId start{stream_.id(), 0};
      const std::string event =
          fmt::format("id: {}\nretry: {}\ndata: \n\n", to_text(start), options_.retry.count());
      co_await exchange_.write(event);
    }
  }

  Task<> write_events() {
    while (stream_.is_mine(reader_)) {
      std::string piece;
      while (const EventStream::Event* event = piece.size() < kPiece ? next() : nullptr) {
        piece += "event: message\n";
        if (!delivery_.modern)
          piece.append("id: ").append(to_text(EventId{stream_.id(), event->number})).append("\n");
        piece.append("data: ").append(event->message.text).append("\n\n");
        after_ = event->number;
      }
      if (delivery_.modern) stream_.forget_until(after_);
      if (piece.empty()) co_return;
      co_await exchange_.write(piece);
      stream_.set_taken(after_);
    }
  }

  const EventStream::Event* next() const { return stream_.after(after_); }

  // Without its end: there is more to come, or nothing to wait for.
  Task<Delivered> hang_up() {
    if (!begun_) co_return Delivered::none;
    stream_.end_pause();
    co_await exchange_.finish();
    co_return Delivered::part;
  }

  Task<> wait() {
    if (!std::exchange(watched_, true)) watcher_.spawn("watch an HTTP client", watch());
    if (gone_) co_return;
    const bool patient = !begun_ && delivery_.form != Delivery::Form::json;
    const bool silent = !begun_ && !patient;
    const auto now = steady_clock::now();
    const auto until = silent    ? steady_clock::time_point::max()
                       : patient ? now + options_.patience
                                 : now + options_.keep_alive;
    co_await stream_.wait_until(until);
    if (gone_ || steady_clock::now() < until) co_return;
    if (patient) co_return co_await begin();
    co_await exchange_.write(": keepalive\n\n");
  }

  Task<> watch() {
    co_await exchange_.until_gone();
    gone_ = true;
    stream_.wake();
  }

  net::HttpExchange& exchange_;
  EventStream& stream_;
  Delivery delivery_;
  HttpStreamOptions options_;
  uint64_t after_;
  uint64_t reader_;
  bool begun_ = false;
  bool watched_ = false;
  bool gone_ = false;
  TaskGroup watcher_;
};

}  // namespace

int modern_status(const Outgoing& message) {
  if (message.kind == Outgoing::Kind::refusal) return message.code == kMethodNotFound ? 404 : 400;
  const bool lacks_capability =
      message.kind == Outgoing::Kind::error && message.code == kMissingCapability;
  return lacks_capability ? 400 : 200;
}

Task<Delivered> deliver(net::HttpExchange& exchange, EventStream& stream, Delivery delivery,
                        HttpStreamOptions options) {
  Deliverer deliverer{exchange, stream, std::move(delivery), options,
                      co_await asio::this_coro::executor};
  co_return co_await deliverer.run();
}

}  // namespace belljar::mcp
