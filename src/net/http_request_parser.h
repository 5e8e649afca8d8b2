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
// that, and a head of more than 64 KiB, throws Error{invalid}. Hides Beast, whose parser does most
// of the work.
class HttpRequestParser {
 public:
  HttpRequestParser();
  ~HttpRequestParser();
  HttpRequestParser(const HttpRequestParser&) = delete;
  HttpRequestParser& operator=(const HttpRequestParser&) = delete;

  // Bytes after the end of the request are kept for the next.
  void feed(std::string_view bytes);

  bool has_head() const { return has_head_; }
  bool is_done() const;
  bool is_chunked() const { return is_chunked_; }
  const RequestHead& head() const;

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
  void start();

  std::unique_ptr<Parser> parser_;
  bool has_head_ = false;
  bool is_chunked_ = false;
  ChunkDecoder chunks_;
  std::string body_;
  std::string unread_;
};

}  // namespace belljar::net
