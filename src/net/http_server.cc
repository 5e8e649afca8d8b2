#include "net/http_server.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/status.hpp>

#include "base/error.h"
#include "base/json.h"
#include "base/task_group.h"

namespace belljar::net {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;
using tcp = asio::ip::tcp;
using boost::system::error_code;
using boost::system::system_error;

constexpr size_t kPiece = 256u << 10;

class Parser final : public http::basic_parser<true> {
 public:
  HttpServerRequest request;

 private:
  void on_request_impl(http::verb, beast::string_view method, beast::string_view target, int,
                       error_code&) override {
    request.method.assign(method.data(), method.size());
    request.target.assign(target.data(), target.size());
  }
  void on_response_impl(int, beast::string_view, int, error_code&) override {}
  void on_field_impl(http::field, beast::string_view name, beast::string_view value,
                     error_code&) override {
    std::string key{name.data(), name.size()};
    for (char& c : key) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    request.headers.emplace_back(std::move(key), std::string{value.data(), value.size()});
  }
  void on_header_impl(error_code&) override {}
  void on_body_init_impl(const boost::optional<uint64_t>& size, error_code& error) override {
    if (size && *size > 0) error = http::error::body_limit;
  }
  size_t on_body_impl(beast::string_view, error_code& error) override {
    error = http::error::body_limit;
    return 0;
  }
  void on_chunk_header_impl(uint64_t size, beast::string_view, error_code& error) override {
    if (size > 0) error = http::error::body_limit;
  }
  size_t on_chunk_body_impl(uint64_t, beast::string_view, error_code& error) override {
    error = http::error::body_limit;
    return 0;
  }
  void on_finish_impl(error_code&) override {}
};

HttpAnswer error_answer(int status, std::string_view message) {
  HttpAnswer answer;
  answer.status = status;
  answer.body = json::serialize(json::object{{"error", message}});
  return answer;
}

int status_of(Code code) {
  switch (code) {
    case Code::invalid: return 400;
    case Code::not_found: return 404;
    case Code::denied: return 403;
    case Code::exhausted: return 429;
    case Code::unavailable: return 502;
    case Code::cancelled: return 503;
    case Code::internal: return 500;
  }
  return 500;
}

std::string head_of(const HttpAnswer& answer, const char* connection) {
  const auto reason = http::obsolete_reason(http::int_to_status(answer.status));
  return fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nCache-Control: no-store\r\n"
      "Connection: {}\r\n\r\n",
      answer.status, std::string_view{reason.data(), reason.size()}, answer.type,
      answer.file ? answer.size : answer.body.size(), connection);
}

// One client, from its first request to the end of its connection.
class Connection {
 public:
  Connection(tcp::socket socket, const HttpHandler& handler, const HttpServerLimits& limits)
      : socket_{std::move(socket)}, handler_{handler}, limits_{limits} {}

  Task<> serve() {
    try {
      while (co_await serve_one()) continue;
    } catch (const system_error& fault) {
      // A client that goes away is no fault of anybody.
      if (fault.code() == asio::error::operation_aborted) throw;
    }
  }

 private:
  // False if that was the last one.
  Task<bool> serve_one() {
    Parser parser;
    parser.header_limit(limits_.head);
    parser.eager(true);
    const auto arrived = co_await with_timeout(limits_.idle, read(parser));
    if (!arrived || *arrived == Arrived::end) co_return false;
    if (*arrived == Arrived::garbage) {
      co_await send(error_answer(400, "that is not a request for this server"), "close", Part::all);
      co_return false;
    }
    const bool keep = parser.keep_alive();
    const Part part = parser.request.method == "HEAD" ? Part::head : Part::all;
    HttpAnswer answer = co_await answer_to(std::move(parser.request));
    co_await send(std::move(answer), keep ? "keep-alive" : "close", part);
    co_return keep;
  }

  enum class Arrived { request, garbage, end };
  enum class Part { head, all };

  Task<Arrived> read(Parser& parser) {
    std::array<char, 16u << 10> buffer;
    while (true) {
      error_code error;
      if (!unread_.empty()) unread_.erase(0, parser.put(asio::buffer(unread_), error));
      if (error && error != http::error::need_more) co_return Arrived::garbage;
      if (parser.is_done()) co_return Arrived::request;
      const size_t count =
          co_await socket_.async_read_some(asio::buffer(buffer.data(), buffer.size()),
                                           asio::redirect_error(asio::use_awaitable, error));
      if (error == asio::error::eof) co_return Arrived::end;
      if (error) throw system_error{error};
      unread_.append(buffer.data(), count);
    }
  }

  Task<HttpAnswer> answer_to(HttpServerRequest request) {
    try {
      co_return co_await handler_(std::move(request));
    } catch (const Error& error) {
      co_return error_answer(status_of(error.code()), error.what());
    }
  }

  Task<> send(HttpAnswer answer, const char* connection, Part part) {
    std::string piece = head_of(answer, connection);
    if (part == Part::all && !answer.file) piece += answer.body;
    co_await write(piece);
    if (part == Part::all && answer.file) co_await send_file(answer.file.get(), answer.size);
  }

  // Not by sendfile(), which cannot be told to raise no SIGPIPE.
  Task<> send_file(int file, uint64_t size) {
    std::string piece;
    for (uint64_t sent = 0; sent < size; sent += piece.size()) {
      piece.resize(std::min<uint64_t>(kPiece, size - sent));
      const ssize_t count = ::pread(file, piece.data(), piece.size(), static_cast<off_t>(sent));
      if (sys(count, "read a file to be sent") == 0)
        fail(Code::internal, "a file to be sent is shorter than announced");
      piece.resize(static_cast<size_t>(count));
      co_await write(piece);
    }
  }

  Task<> write(const std::string& piece) {
    // g++ 12 makes a trap of this as one statement.
    const bool in_time = co_await with_timeout(limits_.idle, write_all(piece));
    if (!in_time) throw system_error{asio::error::timed_out};
  }

  Task<> write_all(const std::string& piece) {
    co_await asio::async_write(socket_, asio::buffer(piece), asio::use_awaitable);
  }

  tcp::socket socket_;
  const HttpHandler& handler_;
  const HttpServerLimits& limits_;
  std::string unread_;  // the start of something whose rest has not arrived
};

Task<> serve_connection(tcp::socket socket, const HttpHandler& handler,
                        const HttpServerLimits& limits) {
  Connection connection{std::move(socket), handler, limits};
  co_await connection.serve();
}

Task<> accept_all(Fd listener, const HttpHandler& handler, const HttpServerLimits& limits,
                  TaskGroup& connections) {
  const auto executor = co_await asio::this_coro::executor;
  asio::posix::stream_descriptor ready{executor, listener.release()};
  ready.non_blocking(true);
  while (true) {
    co_await ready.async_wait(asio::posix::stream_descriptor::wait_read, asio::use_awaitable);
    Fd fd{::accept4(ready.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)};
    if (!fd && errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {
      // Too few descriptors or too little memory: the connection is still there.
      co_await sleep_for(milliseconds{100});
    }
    if (!fd || connections.size() >= limits.connections) continue;
    tcp::socket socket{executor};
    socket.assign(tcp::v4(), fd.get());
    fd.release();
    socket.set_option(tcp::no_delay{true});
    connections.spawn("serve HTTP", serve_connection(std::move(socket), handler, limits));
  }
}

}  // namespace

std::string_view HttpServerRequest::header(std::string_view name) const {
  for (const auto& [key, value] : headers)
    if (key == name) return value;
  return "";
}

Task<> serve_http(Fd listener, HttpHandler handler, HttpServerLimits limits) {
  TaskGroup connections{co_await asio::this_coro::executor};
  std::exception_ptr end;
  try {
    co_await accept_all(std::move(listener), handler, limits, connections);
  } catch (...) {
    end = std::current_exception();
  }
  // The connections refer to what is here, so not even a second cancellation may end this wait.
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  co_await connections.stop();
  std::rethrow_exception(end);
}

uint16_t listening_port(int listener) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  sys(::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size),
      "find the port of a socket");
  return ntohs(address.sin_port);
}

}  // namespace belljar::net
