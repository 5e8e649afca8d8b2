#pragma once

#include <algorithm>
#include <string_view>

namespace belljar::net {

// RFC 9110: what the name of a header, or a method, consists of.
inline bool is_token(std::string_view text) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [kMarks](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           kMarks.find(c) != std::string_view::npos;
  });
}

}  // namespace belljar::net
