#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/chunk_decoder.h"

namespace belljar::net {

struct ResponseHead {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case

  // The first header of that (lower case) name, or "".
  std::string_view header(std::string_view name) const;
};

// Turns the bytes of an HTTP/1.1 answer into its head and its body, without any input or output of
// its own: feed() it what arrives, then take_body(). Hides Beast, whose parser does the work. What
// breaks the protocol or a limit (64 KiB of head, `body_limit`) throws Error{unavailable}.
class HttpResponseParser {
 public:
  enum class Body {
    expected,
    none,               // the answer to CONNECT: after its head comes something else; or to HEAD
    or_other_protocol,  // the answer to Upgrade: after the head of a 101 comes something else
  };

  HttpResponseParser(Body body, uint64_t body_limit);
  ~HttpResponseParser();
  HttpResponseParser(const HttpResponseParser&) = delete;
  HttpResponseParser& operator=(const HttpResponseParser&) = delete;

  void feed(std::string_view bytes);
  void feed_end();  // the peer ended the connection; throws if the answer is not complete

  bool has_head() const;
  bool is_done() const;
  bool ends_with_connection()
      const;  // neither length nor chunks: only the end says that it is complete
  bool leaves_connection_open() const;  // done, and the next request may follow
  const ResponseHead& head() const;
  uint64_t length() const;  // of the body; 0 if it was not announced

  // The part of the body that arrived since the last call.
  std::string take_body();

  // What was fed and is not part of the answer, once that is done.
  std::string take_rest() { return std::exchange(unread_, {}); }

 private:
  class Parser;
  std::unique_ptr<Parser> make() const;
  void take_chunks();

  Body body_;
  uint64_t body_limit_;
  std::unique_ptr<Parser> parser_;
  ChunkDecoder chunks_;
  uint64_t received_ = 0;  // of the body, in chunks
  std::string unread_;     // the start of something whose rest has not arrived
};

}  // namespace belljar::net
