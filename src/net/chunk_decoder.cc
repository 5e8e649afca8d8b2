#include "net/chunk_decoder.h"

#include <algorithm>
#include <charconv>

#include "net/token.h"

namespace belljar::net {

namespace {

constexpr size_t kLongestLine = 4096;
constexpr size_t kMostTrailers = 16u << 10;
constexpr size_t kMostDigits = 15;

bool is_text(char c) {
  return c == '\t' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
}

bool is_field(std::string_view line) {
  const std::string_view name = line.substr(0, line.find(':'));
  return name.size() < line.size() && is_token(name);
}

}  // namespace

std::string_view ChunkDecoder::feed(std::string& bytes, std::string& body) {
  size_t at = 0;
  std::string_view why;
  while (why.empty() && state_ != State::done && at < bytes.size()) {
    if (state_ == State::data) {
      const size_t size = static_cast<size_t>(std::min<uint64_t>(left_, bytes.size() - at));
      body.append(bytes, at, size);
      at += size;
      left_ -= size;
      if (left_ == 0) state_ = State::end_of_data;
      continue;
    }
    const size_t end = bytes.find('\n', at);
    const size_t length = (end == std::string::npos ? bytes.size() : end) - at;
    if (length > kLongestLine) why = "a line between chunks is too long";
    if (end == std::string::npos) break;
    std::string_view line{bytes.data() + at, length};
    at = end + 1;
    if (!line.ends_with('\r')) why = "a line between chunks does not end with CR LF";
    if (!why.empty()) break;
    line.remove_suffix(1);
    why = std::all_of(line.begin(), line.end(), is_text)
              ? take_line(line)
              : std::string_view{"there are control characters between chunks"};
  }
  bytes.erase(0, at);
  return why;
}

std::string_view ChunkDecoder::take_line(std::string_view line) {
  switch (state_) {
    case State::size: return take_size(line);
    case State::end_of_data:
      state_ = State::size;
      return line.empty() ? "" : "a chunk is longer than it says";
    case State::trailers:
      if (line.empty()) state_ = State::done;
      trailers_ += line.size();
      if (trailers_ > kMostTrailers) return "there are too many trailers";
      return line.empty() || is_field(line) ? "" : "a trailer is no header";
    case State::data:
    case State::done: break;
  }
  return "";
}

std::string_view ChunkDecoder::take_size(std::string_view line) {
  const char* begin = line.data();
  const auto [end, error] = std::from_chars(begin, begin + line.size(), left_, 16);
  const size_t digits = static_cast<size_t>(end - begin);
  const std::string_view rest = line.substr(digits);
  const size_t mark = rest.find_first_not_of(" \t");
  const bool is_size = error == std::errc{} && digits <= kMostDigits &&
                       (rest.empty() || (mark != std::string_view::npos && rest[mark] == ';'));
  if (!is_size) return "a chunk does not begin with its size";
  state_ = left_ == 0 ? State::trailers : State::data;
  return "";
}

}  // namespace belljar::net
