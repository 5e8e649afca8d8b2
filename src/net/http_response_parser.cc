#include "net/http_response_parser.h"

#include <algorithm>
#include <boost/beast/http/basic_parser.hpp>

#include "base/error.h"

namespace belljar::net {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;
using boost::system::error_code;

constexpr uint32_t kHeadLimit = 64u << 10;

std::string lower(std::string_view text) {
  std::string result{text};
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

}  // namespace

std::string_view ResponseHead::header(std::string_view name) const {
  for (const auto& [key, value] : headers)
    if (key == name) return value;
  return "";
}

class HttpResponseParser::Parser final : public http::basic_parser<false> {
 public:
  ResponseHead head;
  std::string body;
  uint64_t length = 0;

 private:
  void on_request_impl(http::verb, beast::string_view, beast::string_view, int,
                       error_code&) override {}
  void on_response_impl(int code, beast::string_view, int, error_code&) override {
    head.status = code;
  }
  void on_field_impl(http::field, beast::string_view name, beast::string_view value,
                     error_code&) override {
    head.headers.emplace_back(lower({name.data(), name.size()}),
                              std::string{value.data(), value.size()});
  }
  void on_header_impl(error_code&) override {}
  void on_body_init_impl(const boost::optional<uint64_t>& size, error_code&) override {
    length = size.value_or(0);
  }
  size_t on_body_impl(beast::string_view bytes, error_code&) override {
    body.append(bytes.data(), bytes.size());
    return bytes.size();
  }
  void on_chunk_header_impl(uint64_t, beast::string_view, error_code&) override {}
  size_t on_chunk_body_impl(uint64_t, beast::string_view bytes, error_code&) override {
    body.append(bytes.data(), bytes.size());
    return bytes.size();
  }
  void on_finish_impl(error_code&) override {}
};

HttpResponseParser::HttpResponseParser(Body body, uint64_t body_limit)
    : body_{body}, body_limit_{body_limit}, parser_{make()} {}

HttpResponseParser::~HttpResponseParser() = default;

std::unique_ptr<HttpResponseParser::Parser> HttpResponseParser::make() const {
  auto parser = std::make_unique<Parser>();
  parser->header_limit(kHeadLimit);
  parser->body_limit(body_limit_);
  parser->skip(body_ == Body::none);
  return parser;
}

void HttpResponseParser::feed(std::string_view bytes) {
  unread_.append(bytes);
  while (!unread_.empty() && !is_done()) {
    if (parser_->is_header_done() && parser_->chunked()) return take_chunks();
    error_code error;
    const size_t used = parser_->put(boost::asio::buffer(unread_), error);
    unread_.erase(0, used);
    if (error == http::error::need_more) return;
    if (error == http::error::body_limit)
      fail(Code::unavailable, "the answer is larger than {} bytes", body_limit_);
    if (error) fail(Code::unavailable, "the answer is not proper HTTP: {}", error.message());
    // An interim answer (103 Early Hints): the real one follows.
    const int status = parser_->head.status;
    const bool is_last = status / 100 != 1 || (status == 101 && body_ == Body::or_other_protocol);
    if (parser_->is_done() && !is_last) parser_ = make();
  }
}

void HttpResponseParser::take_chunks() {
  const size_t before = parser_->body.size();
  const auto why = chunks_.feed(unread_, parser_->body);
  received_ += parser_->body.size() - before;
  if (received_ > body_limit_)
    fail(Code::unavailable, "the answer is larger than {} bytes", body_limit_);
  if (!why.empty()) fail(Code::unavailable, "the answer is not proper HTTP: {}", why);
}

void HttpResponseParser::feed_end() {
  error_code error;
  if (!is_done() && parser_->got_some()) parser_->put_eof(error);
  if (error || !is_done())
    fail(Code::unavailable, "the connection ended before the whole answer had arrived");
}

bool HttpResponseParser::has_head() const {
  return parser_->is_header_done();
}
bool HttpResponseParser::is_done() const {
  return parser_->is_done() || chunks_.is_done();
}
bool HttpResponseParser::ends_with_connection() const {
  return parser_->is_header_done() && parser_->need_eof();
}
bool HttpResponseParser::leaves_connection_open() const {
  return is_done() && parser_->keep_alive() && unread_.empty();
}
const ResponseHead& HttpResponseParser::head() const {
  return parser_->head;
}
uint64_t HttpResponseParser::length() const {
  return parser_->length;
}
std::string HttpResponseParser::take_body() {
  return std::exchange(parser_->body, {});
}

}  // namespace belljar::net
