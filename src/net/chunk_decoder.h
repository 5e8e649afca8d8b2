#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace belljar::net {

// Takes a body out of the chunks in which HTTP/1.1 sends it (RFC 9112, section 7.1). Strict: there
// is one way to read what it takes. Trailers are dropped. Beast's own must not be used: it asserts
// that "0\r\n" does not come alone.
class ChunkDecoder {
 public:
  // Moves the body from the front of `bytes` to the end of `body`, and erases what was read.
  // Returns why that is no chunked body; "" if it is one as far as it goes.
  std::string_view feed(std::string& bytes, std::string& body);

  bool is_done() const { return state_ == State::done; }

 private:
  enum class State { size, data, end_of_data, trailers, done };
  std::string_view take_line(std::string_view line);
  std::string_view take_size(std::string_view line);

  State state_ = State::size;
  uint64_t left_ = 0;    // of the data of a chunk
  size_t trailers_ = 0;  // bytes
};

}  // namespace belljar::net
