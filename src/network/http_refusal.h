#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace belljar::network {

// belljar's own answer to a program's request that comes to nothing: a whole message, after which
// the connection ends.
inline std::string http_refusal(int status, std::string_view why) {
  const std::string text = fmt::format("belljar: {}\n", why);
  return fmt::format(
      "HTTP/1.1 {} Refused\r\nContent-Type: text/plain\r\nContent-Length: {}\r\n"
      "Connection: close\r\n\r\n{}",
      status, text.size(), text);
}

}  // namespace belljar::network
