#include "net/http_connection.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/status.hpp>
#include <charconv>

#include "base/bytes.h"
#include "base/error.h"

namespace belljar::net {
namespace {

namespace http = boost::beast::http;
using boost::system::system_error;
using std::chrono::steady_clock;

constexpr size_t kPiece = 64u << 10;
constexpr size_t kSmallPiece = 1024;  // idle connections wait with one
constexpr size_t kMostEarly = 64u << 10;
constexpr uint64_t kMostIgnored = 16u << 20;
constexpr milliseconds kLinger{2000};
constexpr int kSwitchingProtocols = 101;

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

bool has_word(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    std::string_view item = list.substr(0, comma);
    list.remove_prefix(std::min(list.size(), comma + 1));
    while (!item.empty() && (item.front() == ' ' || item.front() == '\t')) item.remove_prefix(1);
    while (!item.empty() && (item.back() == ' ' || item.back() == '\t')) item.remove_suffix(1);
    if (boost::beast::iequals({item.data(), item.size()}, {word.data(), word.size()})) return true;
  }
  return false;
}

// The form of a target that everybody reads alike: a path, or * of OPTIONS.
bool is_plain_target(std::string_view target) {
  if (target == "*") return true;
  return target.starts_with('/') && target.find("%00") == std::string_view::npos;
}

}  // namespace

HttpConnection::HttpConnection(const asio::any_io_executor& executor,
                               std::unique_ptr<Stream> stream, int socket, std::string peer,
                               const ExchangeHandler& handler, const HttpListenerLimits& limits)
    : stream_{std::move(stream)},
      socket_{socket},
      handler_{handler},
      limits_{limits},
      parser_{limits.head},
      changed_{executor, Time::max()},
      watcher_{executor} {
  request_.peer = std::move(peer);
}

Task<> HttpConnection::serve() {
  std::exception_ptr end;
  try {
    while (co_await serve_one() == Next::request) continue;
    co_await linger();
  } catch (...) {
    end = std::current_exception();
  }
  // The watcher refers to this, so not even a cancellation may end this wait.
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  co_await watcher_.stop();
  if (end) std::rethrow_exception(end);
}

void HttpConnection::set_limit(milliseconds limit, Waits waits) {
  deadline_ = steady_clock::now() + limit;
  waits_ = waits;
}

void HttpConnection::check_time(Time now) {
  if (now < deadline_) return;
  late_ = true;
  clear_limit();
  // Wakes whoever waits for the socket. One who is too slow to ask can still be told so.
  ::shutdown(socket_, waits_ == Waits::writing ? SHUT_RDWR : SHUT_RD);
}

void HttpConnection::drain() {
  draining_ = true;
  if (idle_) ::shutdown(socket_, SHUT_RD);
}

Task<HttpConnection::Next> HttpConnection::serve_one() {
  if (co_await read_head() == Next::end) co_return Next::end;
  std::exception_ptr fault;
  std::string why;
  int status = 0;
  try {
    co_await handler_(*this);
    if (!complete_) keep_ = false;
  } catch (const Error& error) {
    status = status_of(error.code());
    why = error.what();
  } catch (const system_error&) {
    if (!late_ || begun_) throw;
    status = 408;
    why = "the request took too long to arrive";
  }
  if (status != 0) {
    if (begun_) co_return Next::end;
    co_await answer(error_answer(status, why));
  }
  co_return keep_ ? Next::request : Next::end;
}

// False if the client sends no more.
Task<bool> HttpConnection::feed_head() {
  const bool empty = parser_.is_empty();
  idle_ = empty && early_.empty();
  if (idle_) set_limit(limits_.idle, Waits::reading);
  if (idle_ && draining_) co_return false;
  std::array<char, kSmallPiece> buffer;
  if (!co_await feed(buffer)) co_return false;
  // From its first byte on a head has so much time, however its bytes are spread over it.
  if (empty) set_limit(limits_.head_time, Waits::reading);
  idle_ = false;
  co_return true;
}

Task<HttpConnection::Next> HttpConnection::read_head() {
  int status = 0;
  std::string why;
  bool ended = false;
  start_request();
  try {
    if (parser_.is_done()) parser_.next();
    if (!parser_.is_empty()) set_limit(limits_.head_time, Waits::reading);
    while (!ended && !parser_.has_head()) ended = !co_await feed_head();
    if (!ended) take_head();
  } catch (const Error& error) {
    status = error.code() == Code::exhausted ? 431 : 400;
    why = error.what();
  }
  if (ended && late_ && !idle_) {
    status = 408;
    why = "the request took too long to arrive";
  }
  clear_limit();
  idle_ = false;
  if (status != 0) co_await refuse(status, why);
  co_return status != 0 || ended ? Next::end : Next::request;
}

void HttpConnection::start_request() {
  request_.method.clear();
  request_.headers.clear();
  begun_ = complete_ = false;
  keep_ = false;
  is_http_11_ = true;
}

void HttpConnection::take_head() {
  RequestHead head = parser_.take_head();
  request_.method = std::move(head.method);
  request_.target = std::move(head.target);
  request_.headers = std::move(head.headers);
  for (auto& [name, value] : request_.headers) {
    for (char& c : name)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  if (!is_plain_target(request_.target))
    fail(Code::invalid, "the request is not proper HTTP/1.1: its target is not a path");
  is_http_11_ = head.version == 11;
  const std::string_view connection = request_.header("connection");
  keep_ = is_http_11_ ? !has_word(connection, "close") : has_word(connection, "keep-alive");
  awaits_continue_ = is_http_11_ && has_word(request_.header("expect"), "100-continue");
  const std::string_view length = request_.header("content-length");
  announced_ = 0;
  std::from_chars(length.data(), length.data() + length.size(), announced_);
}

Task<size_t> HttpConnection::read(std::span<char> buffer) {
  // What came ahead of its time counts, also while more of it is waited for.
  while (watching_ && early_.empty()) co_await wait_for_change();
  if (!early_.empty()) {
    const size_t count = early_.copy(buffer.data(), buffer.size());
    early_.erase(0, count);
    co_return count;
  }
  if (gone_) co_return 0;
  size_t count = 0;
  try {
    count = co_await stream_->read_some(buffer);
  } catch (const system_error&) {
    if (!late_) throw;
  }
  // The kernel hands out what comes after a shutdown, too.
  if (late_) count = 0;
  gone_ = count == 0;
  co_return count;
}

Task<bool> HttpConnection::feed(std::span<char> buffer) {
  const size_t count = co_await read(buffer);
  if (count > 0) parser_.feed({buffer.data(), count});
  co_return count > 0;
}

Task<std::string> HttpConnection::read_body(size_t most) {
  const auto check = [this, most](uint64_t size) {
    if (size <= most) return;
    keep_ = false;
    fail(Code::exhausted, "the body of the request has more than {}", format_bytes(most));
  };
  check(announced_);
  std::string body = parser_.take_body();
  if (!parser_.is_done() && body.empty() && std::exchange(awaits_continue_, false))
    co_await write_all("HTTP/1.1 100 Continue\r\n\r\n");
  const Time start = steady_clock::now();
  std::string buffer;
  while (!parser_.is_done()) {
    check(body.size());
    buffer.resize(std::clamp<uint64_t>(announced_, kSmallPiece, kPiece));
    waits_ = Waits::reading;
    deadline_ = start + limits_.body_time + milliseconds{body.size() * 1000 / limits_.body_rate};
    if (!co_await feed(buffer)) throw system_error{asio::error::eof};
    body += parser_.take_body();
  }
  clear_limit();
  check(body.size());
  co_return body;
}

Task<> HttpConnection::watch() {
  std::array<char, 64> buffer;  // thousands of idle streams have one, and nobody sends ahead
  try {
    const size_t count = co_await stream_->read_some(buffer);
    early_.append(buffer.data(), count);
    gone_ = count == 0;
  } catch (const system_error&) {
    gone_ = true;
  }
  watching_ = false;
  changed_.cancel();
}

Task<> HttpConnection::until_gone() {
  while (!gone_) {
    // Somebody who sends that much ahead is left to the kernel, and noticed when we write.
    if (!watching_ && early_.size() < kMostEarly) {
      watching_ = true;
      watcher_.spawn("watch an HTTP connection", watch());
      continue;
    }
    co_await wait_for_change();
  }
}

Task<> HttpConnection::wait_for_change() {
  boost::system::error_code woken;
  co_await changed_.async_wait(asio::redirect_error(asio::use_awaitable, woken));
}

std::string HttpConnection::head_of(int status, std::string_view type, const HttpHeaders& headers,
                                    std::string_view length) const {
  const auto reason = http::obsolete_reason(http::int_to_status(static_cast<unsigned>(status)));
  std::string head =
      fmt::format("HTTP/1.1 {} {}\r\n", status, std::string_view{reason.data(), reason.size()});
  const auto add = [&head](std::string_view name, std::string_view value) {
    head.append(name).append(": ").append(value).append("\r\n");
  };
  if (!type.empty()) add("Content-Type", type);
  bool cached = false;
  for (const auto& [name, value] : headers) {
    add(name, value);
    cached |= boost::beast::iequals(name, "Cache-Control");
  }
  if (status == kSwitchingProtocols) return head.append("\r\n");
  if (!cached) add("Cache-Control", "no-store");
  head.append(length);
  add("Connection", keep_ ? "keep-alive" : "close");
  return head.append("\r\n");
}

Task<> HttpConnection::answer(HttpAnswer answer) {
  keep_ = keep_ && parser_.is_done() && !draining_;
  begun_ = true;
  const uint64_t size = answer.file ? answer.size : answer.body.size();
  const bool has_length = answer.status != 204 && answer.status != 304;
  const std::string length = has_length ? fmt::format("Content-Length: {}\r\n", size) : "";
  std::string head = head_of(answer.status, answer.type, answer.headers, length);
  const bool head_only = request_.method == "HEAD";
  const bool together = !head_only && !answer.file && answer.body.size() <= kPiece;
  if (together) head += answer.body;
  co_await write_all(head);
  if (!head_only && answer.file) co_await send_file(answer.file.get(), answer.size);
  if (!head_only && !answer.file && !together) co_await write_all(answer.body);
  complete_ = true;
}

Task<> HttpConnection::refuse(int status, std::string_view why) {
  request_.method.clear();
  keep_ = false;
  co_await answer(error_answer(status, why));
}

Task<> HttpConnection::begin(int status, HttpHeaders headers) {
  // Whoever speaks 1.0 knows the end by the end of the connection.
  keep_ = keep_ && is_http_11_ && parser_.is_done() && !draining_;
  begun_ = true;
  raw_ = status == kSwitchingProtocols;
  if (raw_) keep_ = false;
  const bool is_chunked = is_http_11_ && !raw_;
  const std::string_view length = is_chunked ? "Transfer-Encoding: chunked\r\n" : "";
  const std::string head = head_of(status, "", headers, length);
  co_await write_all(head);
}

Task<> HttpConnection::write(std::string_view bytes) {
  if (bytes.empty()) co_return;
  std::string framed;
  if (is_http_11_ && !raw_) {
    framed = fmt::format("{:x}\r\n", bytes.size());
    framed.append(bytes).append("\r\n");
    bytes = framed;
  }
  co_await write_all(bytes);
}

Task<size_t> HttpConnection::read_raw(std::span<char> buffer) {
  early_.insert(0, parser_.take_rest());
  return read(buffer);
}

Task<> HttpConnection::finish() {
  if (is_http_11_) co_await write_all("0\r\n\r\n");
  complete_ = true;
}

// Not by sendfile(), which cannot be told to raise no SIGPIPE.
Task<> HttpConnection::send_file(int file, uint64_t size) {
  std::string piece;
  for (uint64_t sent = 0; sent < size; sent += piece.size()) {
    piece.resize(std::min<uint64_t>(4 * kPiece, size - sent));
    const ssize_t count = ::pread(file, piece.data(), piece.size(), static_cast<off_t>(sent));
    if (sys(count, "read a file to be sent") == 0)
      fail(Code::internal, "a file to be sent is shorter than announced");
    piece.resize(static_cast<size_t>(count));
    co_await write_all(piece);
  }
}

Task<> HttpConnection::write_all(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, kPiece);
    set_limit(limits_.stall, Waits::writing);
    co_await stream_->write(piece);
    bytes.remove_prefix(piece.size());
  }
  clear_limit();
}

// Closing a socket that still has input makes the kernel take back what was sent last. So the end
// is announced, and what comes is thrown away until the client has seen it.
Task<> HttpConnection::linger() {
  set_limit(kLinger, Waits::writing);
  co_await stream_->end();
  uint64_t ignored = 0;
  std::array<char, kSmallPiece> buffer;
  while (ignored < kMostIgnored) {
    const size_t count = co_await read(buffer);
    if (count == 0) break;
    ignored += count;
  }
  clear_limit();
}

}  // namespace belljar::net
