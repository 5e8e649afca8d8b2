#pragma once

#include <cstdint>
#include <string>
#include <string_view>

// Messages of DNS, put together by hand. For unit tests only.
namespace belljar::network::dns {

inline std::string u16(unsigned value) {
  return {static_cast<char>(value >> 8 & 0xff), static_cast<char>(value & 0xff)};
}

inline std::string u32(uint32_t value) {
  return u16(value >> 16) + u16(value & 0xffff);
}

// "example.com" → 7 example 3 com 0.
inline std::string name(std::string_view text) {
  std::string wire;
  while (!text.empty()) {
    const std::string_view label = text.substr(0, text.find('.'));
    wire += static_cast<char>(label.size());
    wire += label;
    text.remove_prefix(label.size() < text.size() ? label.size() + 1 : label.size());
  }
  return wire + '\0';
}

inline std::string pointer(unsigned offset) {
  return u16(0xc000 | offset);
}

constexpr unsigned kQuestion = 12;  // where the name in the question is

inline std::string header(unsigned id, unsigned flags, unsigned questions, unsigned answers = 0,
                          unsigned authorities = 0, unsigned extras = 0) {
  return u16(id) + u16(flags) + u16(questions) + u16(answers) + u16(authorities) + u16(extras);
}

inline std::string question(std::string_view text, unsigned type = 1, unsigned klass = 1) {
  return name(text) + u16(type) + u16(klass);
}

inline std::string record(const std::string& owner, unsigned type, uint32_t ttl,
                          const std::string& data, unsigned klass = 1) {
  return owner + u16(type) + u16(klass) + u32(ttl) + u16(static_cast<unsigned>(data.size())) + data;
}

inline std::string query(std::string_view text, unsigned type = 1, unsigned id = 0x1234) {
  return header(id, 0x0100, 1) + question(text, type);
}

}  // namespace belljar::network::dns
