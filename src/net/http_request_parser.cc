#include "net/http_request_parser.h"

#include <algorithm>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/basic_parser.hpp>

#include "base/bytes.h"
#include "base/error.h"
#include "net/token.h"

namespace belljar::net {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;
using boost::system::error_code;

constexpr std::string_view kEndOfHead = "\r\n\r\n";

[[noreturn]] void refuse(std::string_view why) {
  fail(Code::invalid, "the request is not proper HTTP/1.1: {}", why);
}

// What Beast lets pass, or takes in its own way.
void check_framing(const RequestHead& head) {
  const auto lengths = head.all("Content-Length");
  const auto encodings = head.all("Transfer-Encoding");
  if (lengths.size() + encodings.size() > 1) refuse("its length is given more than once");
  if (!encodings.empty() && (!beast::iequals(encodings[0], "chunked") || head.version != 11))
    refuse("its Transfer-Encoding is not chunked");
  if (lengths.empty()) return;
  const bool digits = !lengths[0].empty() && lengths[0].size() <= 18 &&
                      lengths[0].find_first_not_of("0123456789") == std::string_view::npos;
  if (!digits) refuse("its Content-Length is no number");
}

}  // namespace

std::vector<std::string_view> RequestHead::all(std::string_view name) const {
  std::vector<std::string_view> values;
  for (const auto& [key, value] : headers) {
    if (beast::iequals(key, {name.data(), name.size()})) values.emplace_back(value);
  }
  return values;
}

class HttpRequestParser::Parser final : public http::basic_parser<true> {
 public:
  RequestHead head;
  std::string body;

 private:
  void on_request_impl(http::verb, beast::string_view method, beast::string_view target,
                       int version, error_code&) override {
    head.method.assign(method.data(), method.size());
    head.target.assign(target.data(), target.size());
    head.version = version;
  }
  void on_response_impl(int, beast::string_view, int, error_code&) override {}
  void on_field_impl(http::field, beast::string_view name, beast::string_view value,
                     error_code&) override {
    head.headers.emplace_back(std::string{name.data(), name.size()},
                              std::string{value.data(), value.size()});
  }
  void on_header_impl(error_code&) override {}
  void on_body_init_impl(const boost::optional<uint64_t>&, error_code&) override {}
  size_t on_body_impl(beast::string_view bytes, error_code&) override {
    body.append(bytes.data(), bytes.size());
    return bytes.size();
  }
  void on_chunk_header_impl(uint64_t, beast::string_view, error_code&) override {}
  size_t on_chunk_body_impl(uint64_t, beast::string_view bytes, error_code&) override {
    return bytes.size();
  }
  void on_finish_impl(error_code&) override {}
};

HttpRequestParser::HttpRequestParser(size_t head_limit) : head_limit_{head_limit} {
  start();
}

HttpRequestParser::~HttpRequestParser() = default;

void HttpRequestParser::start() {
  parser_ = std::make_unique<Parser>();
  parser_->header_limit(static_cast<uint32_t>(head_limit_ + kEndOfHead.size()));
  parser_->body_limit(boost::none);
  has_head_ = false;
  searched_ = 0;
  is_chunked_ = false;
  chunks_ = {};
  body_.clear();  // nobody may have asked for the body of the request before
}

void HttpRequestParser::feed(std::string_view bytes) {
  unread_.append(bytes);
  parse();
}

void HttpRequestParser::next() {
  start();
  parse();
}

// So that nobody waits for the end of a head that never comes.
void HttpRequestParser::check_lines(size_t end) const {
  if (!unread_.empty() && !is_token({unread_.data(), 1})) refuse("it does not begin with a method");
  for (size_t at = searched_; (at = unread_.find('\n', at)) < end; ++at) {
    if (at == 0 || unread_[at - 1] != '\r') refuse("a line does not end with CR LF");
  }
}

void HttpRequestParser::parse_head() {
  // A client may send byte by byte.
  const size_t end = unread_.find(kEndOfHead, searched_);
  check_lines(std::min(end, unread_.size()));
  searched_ = unread_.size() - std::min(unread_.size(), kEndOfHead.size() - 1);
  if (std::min(end, unread_.size()) > head_limit_)
    fail(Code::exhausted, "the head of the request has more than {}", format_bytes(head_limit_));
  if (end == std::string::npos) return;
  const std::string_view head{unread_.data(), end};
  if (head.find("\r\n ") != std::string_view::npos || head.find("\r\n\t") != std::string_view::npos)
    refuse("a header has more than one line");
  error_code error;
  unread_.erase(0,
                parser_->put(boost::asio::buffer(unread_.data(), end + kEndOfHead.size()), error));
  if (error && error != http::error::need_more) refuse(error.message());
  if (!parser_->is_header_done()) refuse("its head has no end");
  check_framing(parser_->head);
  is_chunked_ = parser_->chunked();
  has_head_ = true;
}

void HttpRequestParser::parse() {
  if (!has_head_) parse_head();
  if (!has_head_) return;
  if (is_chunked_) {
    if (const auto why = chunks_.feed(unread_, body_); !why.empty()) refuse(why);
    return;
  }
  while (!unread_.empty() && !parser_->is_done()) {
    error_code error;
    unread_.erase(0, parser_->put(boost::asio::buffer(unread_), error));
    body_ += std::exchange(parser_->body, {});
    if (error && error != http::error::need_more) refuse(error.message());
    if (error) return;
  }
}

bool HttpRequestParser::is_done() const {
  return has_head_ && (is_chunked_ ? chunks_.is_done() : parser_->is_done());
}

const RequestHead& HttpRequestParser::head() const {
  return parser_->head;
}

RequestHead HttpRequestParser::take_head() {
  return std::move(parser_->head);
}

}  // namespace belljar::net
