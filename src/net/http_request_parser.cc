#include "net/http_request_parser.h"

#include <algorithm>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/basic_parser.hpp>

#include "base/error.h"

namespace belljar::net {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;
using boost::system::error_code;

constexpr uint32_t kHeadLimit = 64u << 10;
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

HttpRequestParser::HttpRequestParser() {
  start();
}

HttpRequestParser::~HttpRequestParser() = default;

void HttpRequestParser::start() {
  parser_ = std::make_unique<Parser>();
  parser_->header_limit(kHeadLimit);
  parser_->body_limit(boost::none);
  has_head_ = false;
  is_chunked_ = false;
  chunks_ = {};
}

void HttpRequestParser::feed(std::string_view bytes) {
  unread_.append(bytes);
  parse();
}

void HttpRequestParser::next() {
  start();
  parse();
}

void HttpRequestParser::parse_head() {
  const size_t end = unread_.find(kEndOfHead);
  if (end == std::string::npos ? unread_.size() > kHeadLimit : end > kHeadLimit)
    refuse("its head has more than 64 KiB");
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

}  // namespace belljar::net
