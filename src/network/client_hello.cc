#include "network/client_hello.h"

#include <cstdint>
#include <optional>

namespace belljar::network {

namespace {

// Numbers and lists of TLS, from the front of some bytes. Once something is missing all is.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : left_{bytes} {}

  size_t number(size_t width) {
    size_t value = 0;
    for (const char c : bytes(width)) value = value << 8 | static_cast<uint8_t>(c);
    return value;
  }
  std::string_view bytes(size_t count) {
    if (count > left_.size()) {
      ok_ = false;
      left_ = {};
      return {};
    }
    const std::string_view result = left_.substr(0, count);
    left_.remove_prefix(count);
    return result;
  }
  // With its length, in so many bytes, before it.
  std::string_view list(size_t width) { return bytes(number(width)); }

  bool ok() const { return ok_; }
  bool at_end() const { return left_.empty(); }
  std::string_view left() const { return left_; }

 private:
  std::string_view left_;
  bool ok_ = true;
};

constexpr size_t kHandshake = 22;  // the content of a record
constexpr size_t kLargestRecord = 1u << 14;
constexpr size_t kHello = 1;       // the type of a handshake message
constexpr size_t kServerName = 0;  // the type of an extension
constexpr size_t kHostName = 0;    // the type of a server name

std::string name_in(std::string_view extension) {
  Reader names{Reader{extension}.list(2)};
  while (!names.at_end()) {
    const size_t type = names.number(1);
    const std::string_view name = names.list(2);
    if (names.ok() && type == kHostName) return std::string{name};
  }
  return "";
}

FirstBytes read_hello(std::string_view message) {
  Reader hello{message};
  hello.bytes(2 + 32);  // version, random
  hello.list(1);        // session
  hello.list(2);        // ciphers
  hello.list(1);        // compression
  if (!hello.ok()) return {FirstBytes::Kind::other, ""};
  Reader extensions{hello.list(2)};
  while (!extensions.at_end()) {
    const size_t type = extensions.number(2);
    const std::string_view content = extensions.list(2);
    if (extensions.ok() && type == kServerName) return {FirstBytes::Kind::tls, name_in(content)};
  }
  return {FirstBytes::Kind::tls, ""};
}

}  // namespace

FirstBytes read_client_hello(std::string_view bytes) {
  constexpr size_t kMessageHead = 4;
  using Kind = FirstBytes::Kind;
  // A message may be cut into records anywhere.
  std::string message;
  for (Reader records{bytes};;) {
    const std::string_view rest = records.left();
    if (!rest.empty() && static_cast<uint8_t>(rest[0]) != kHandshake) return {Kind::other, ""};
    if (rest.size() > 1 && rest[1] != 3) return {Kind::other, ""};  // every version of TLS
    records.bytes(3);
    const size_t size = records.number(2);
    if (records.ok() && (size == 0 || size > kLargestRecord)) return {Kind::other, ""};
    const std::string_view part =
        records.ok() ? records.left().substr(0, size) : std::string_view{};
    message.append(part);
    if (!message.empty() && static_cast<uint8_t>(message[0]) != kHello) return {Kind::other, ""};
    if (message.size() >= kMessageHead) {
      const size_t length = Reader{std::string_view{message}.substr(1)}.number(3);
      if (length > kMaxClientHello) return {Kind::other, ""};
      if (message.size() >= kMessageHead + length)
        return read_hello(std::string_view{message}.substr(kMessageHead, length));
    }
    records.bytes(size);
    if (!records.ok()) return {bytes.size() < kMaxClientHello ? Kind::incomplete : Kind::other, ""};
  }
}

}  // namespace belljar::network
