#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/chunk_decoder.h"

namespace belljar::net {

struct RequestHead {
  std::string method;
  std::string target;
  int version = 11;                                          // 10 or 11
  std::vector<std::pair<std::string, std::string>> headers;  // in their order, as they were sent

  // The values of all headers of that name, whatever its case.
  std::vector<std::string_view> all(std::string_view name) const;
};

// Turns the bytes that an HTTP/1.x client sends into requests, without any input or output of its
// own, and takes nothing that two readers could take differently: one form of line ends, no folded
// lines, no blanks around names, one plain Content-Length or "chunked", not both. What is not like
// that throws Error{invalid}, and a head that is too long Error{exhausted}. Hides Beast, whose
// parser does most of the work.
class HttpRequestParser {
 public:
  explicit HttpRequestParser(size_t head_limit = 64u << 10);
  ~HttpRequestParser();
  HttpRequestParser(const HttpRequestParser&) = delete;
  HttpRequestParser& operator=(const HttpRequestParser&) = delete;

  // Bytes after the end of the request are kept for the next.
  void feed(std::string_view bytes);

  // True if nothing of a request has arrived.
  bool is_empty() const { return !has_head_ && unread_.empty(); }
  bool has_head() const { return has_head_; }
  bool is_done() const;
  bool is_chunked() const { return is_chunked_; }
  const RequestHead& head() const;
  RequestHead take_head();  // once

  // The part of the body that arrived since the last call; of a chunked one without its frames and
  // trailers.
  std::string take_body() { return std::exchange(body_, {}); }

  // What was fed and belongs to nothing that was parsed.
  std::string take_rest() { return std::exchange(unread_, {}); }

  // Goes on to the next request, once one is done.
  void next();

 private:
  class Parser;
  void parse();
  void parse_head();
  void check_lines(size_t end) const;
  void start();

  size_t head_limit_;
  std::unique_ptr<Parser> parser_;
  bool has_head_ = false;
  size_t searched_ = 0;  // so many bytes do not begin the end of a head
  bool is_chunked_ = false;
  ChunkDecoder chunks_;
  std::string body_;
  std::string unread_;
};

}  // namespace belljar::net
