#pragma once

#include <string>
#include <string_view>

namespace belljar::network {

// More than any client needs to say hello.
constexpr size_t kMaxClientHello = 32u << 10;

// What the first bytes of a connection are.
struct FirstBytes {
  enum class Kind {
    incomplete,  // may still become the start of TLS
    tls,         // a whole ClientHello
    other,
  };
  Kind kind = Kind::other;
  std::string server_name;  // that a TLS client asks for, as it wrote it; "" if it does not
};

// Reads the name that a TLS client asks for (SNI) from all that it has said so far.
FirstBytes read_client_hello(std::string_view bytes);

}  // namespace belljar::network
