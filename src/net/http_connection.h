#pragma once

#include <memory>
#include <span>
#include <string>

#include "base/task_group.h"
#include "net/http_exchange.h"
#include "net/http_listener.h"
#include "net/http_request_parser.h"
#include "net/stream.h"

namespace belljar::net {

// One client of an HttpListener, from its first request to the end of its connection; and the
// exchange that is under way on it. Its limits are kept by check_time(), which somebody has to call
// now and then: a timer for each operation would take more time than most requests.
class HttpConnection final : public HttpExchange {
 public:
  // `socket` is what `stream` runs over. Handler and limits must outlive this.
  HttpConnection(const asio::any_io_executor& executor, std::unique_ptr<Stream> stream, int socket,
                 std::string peer, const ExchangeHandler& handler,
                 const HttpListenerLimits& limits);

  // Serves requests until the connection ends. To be called once; must have ended before
  // destruction.
  Task<> serve();

  // Shuts the connection down if it has kept us waiting for too long.
  void check_time(std::chrono::steady_clock::time_point now);

  // Takes no further requests.
  void drain();

  const HttpServerRequest& request() const override { return request_; }
  Task<std::string> read_body(size_t most) override;
  Task<> answer(HttpAnswer answer) override;
  Task<> begin(int status, HttpHeaders headers) override;
  Task<> write(std::string_view bytes) override;
  Task<> finish() override;
  Task<size_t> read_raw(std::span<char> buffer) override;
  Task<> until_gone() override;

 private:
  using Time = std::chrono::steady_clock::time_point;
  enum class Next { request, end };
  enum class Waits { reading, writing };  // for the client to do what

  Task<Next> serve_one();
  Task<Next> read_head();
  Task<bool> feed_head();
  Task<bool> feed(std::span<char> buffer);
  Task<size_t> read(std::span<char> buffer);
  Task<> watch();
  Task<> wait_for_change();
  Task<> write_all(std::string_view bytes);
  Task<> send_file(int file, uint64_t size);
  Task<> linger();
  Task<> refuse(int status, std::string_view why);
  void start_request();
  void take_head();
  void set_limit(milliseconds limit, Waits waits);
  void clear_limit() { deadline_ = Time::max(); }
  std::string head_of(int status, std::string_view type, const HttpHeaders& headers,
                      std::string_view length) const;

  std::unique_ptr<Stream> stream_;
  int socket_;
  const ExchangeHandler& handler_;
  const HttpListenerLimits& limits_;
  HttpRequestParser parser_;

  HttpServerRequest request_;
  uint64_t announced_ = 0;        // bytes of the body, if it says so
  bool awaits_continue_ = false;  // the client waits for leave to send the body
  bool is_http_11_ = true;
  bool keep_ = true;       // the connection is to be used again
  bool begun_ = false;     // something of the answer was sent
  bool complete_ = false;  // all of it was
  bool raw_ = false;       // the protocol is another one now

  Time deadline_ = Time::max();
  Waits waits_ = Waits::reading;
  bool late_ = false;  // the deadline has passed
  bool idle_ = false;  // between requests
  bool draining_ = false;

  // Whoever wants to know whether the client hangs up has to read, and may read a part of the next
  // request.
  bool watching_ = false;
  bool gone_ = false;
  std::string early_;
  asio::steady_timer changed_;  // cancelled whenever one of these changes
  TaskGroup watcher_;
};

}  // namespace belljar::net
