#include "base/id.h"

#include <sys/random.h>

#include <array>
#include <vector>

#include "base/error.h"

namespace belljar {

namespace {

std::string hex(const unsigned char* bytes, size_t size) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(size * 2);
  for (size_t i = 0; i < size; ++i) {
    text += kDigits[bytes[i] >> 4];
    text += kDigits[bytes[i] & 15];
  }
  return text;
}

void fill_random(unsigned char* bytes, size_t size) {
  // Reads of up to 256 bytes are never interrupted or short once the pool is initialised.
  if (size > 256) fail(Code::internal, "asked for {} random bytes at once", size);
  sys(::getrandom(bytes, size, 0), "read random bytes");
}

}  // namespace

std::string random_hex(size_t bytes) {
  std::vector<unsigned char> buffer(bytes);
  fill_random(buffer.data(), buffer.size());
  return hex(buffer.data(), buffer.size());
}

std::string random_uuid() {
  std::array<unsigned char, 16> bytes{};
  fill_random(bytes.data(), bytes.size());
  bytes[6] = static_cast<unsigned char>((bytes[6] & 0x0f) | 0x40);  // version 4
  bytes[8] = static_cast<unsigned char>((bytes[8] & 0x3f) | 0x80);  // RFC 9562 variant
  const std::string text = hex(bytes.data(), bytes.size());
  return text.substr(0, 8) + "-" + text.substr(8, 4) + "-" + text.substr(12, 4) + "-" +
         text.substr(16, 4) + "-" + text.substr(20);
}

}  // namespace belljar
