#include "network/host_name.h"

#include <algorithm>

namespace belljar::network {

namespace {

constexpr size_t kLongestName = 253;  // 255 bytes on the wire, with a length per part and the end
constexpr size_t kLongestPart = 63;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool may_be_in_name(char c) {
  return is_letter(c) || is_digit(c) || c == '-' || c == '_' || c == '.';
}

// Decimal or, as in 0x7f000001, hexadecimal: inet_aton() takes both.
bool is_number(std::string_view part) {
  if (part.starts_with("0x") || part.starts_with("0X")) return true;
  return std::all_of(part.begin(), part.end(), is_digit);
}

}  // namespace

std::string_view why_no_host_name(std::string_view name) {
  if (name.empty()) return "is empty";
  if (std::any_of(name.begin(), name.end(), [](unsigned char c) { return c >= 0x80; }))
    return "has letters outside of ASCII; write the name in its xn-- form";
  if (!std::all_of(name.begin(), name.end(), may_be_in_name))
    return "has a character that no host name has";
  if (name.size() > kLongestName) return "has more than 253 characters";
  std::string_view part;
  for (std::string_view rest = name;;) {
    const size_t dot = rest.find('.');
    part = rest.substr(0, dot);
    if (part.empty()) return "has an empty part before or after a dot";
    if (part.size() > kLongestPart) return "has a part of more than 63 characters";
    if (dot == std::string_view::npos) break;
    rest.remove_prefix(dot + 1);
  }
  return is_number(part) ? "ends in a number like an address, but is none" : "";
}

std::optional<std::string> canonical_name(std::string_view name) {
  if (name.ends_with('.')) name.remove_suffix(1);
  if (!why_no_host_name(name).empty()) return std::nullopt;
  return lower_ascii(name);
}

std::string lower_ascii(std::string_view text) {
  std::string lower{text};
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

bool is_beneath(std::string_view name, std::string_view domain) {
  return name.size() > domain.size() + 1 && name.ends_with(domain) &&
         name[name.size() - domain.size() - 1] == '.';
}

}  // namespace belljar::network
