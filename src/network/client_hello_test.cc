#include "network/client_hello.h"

#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <memory>

namespace belljar::network {
namespace {

using Kind = FirstBytes::Kind;

// What OpenSSL's client says first.
std::string hello_for(const char* name) {
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context{SSL_CTX_new(TLS_client_method()),
                                                                  &SSL_CTX_free};
  const std::unique_ptr<SSL, decltype(&SSL_free)> ssl{SSL_new(context.get()), &SSL_free};
  BIO* out = BIO_new(BIO_s_mem());
  SSL_set_bio(ssl.get(), BIO_new(BIO_s_mem()), out);
  if (name != nullptr) SSL_set_tlsext_host_name(ssl.get(), name);
  SSL_connect(ssl.get());
  char* data = nullptr;
  const long size = BIO_get_mem_data(out, &data);
  return {data, static_cast<size_t>(size)};
}

// The same message in records of `size` bytes.
std::string cut(const std::string& hello, size_t size) {
  const std::string message = hello.substr(5);
  std::string result;
  for (size_t at = 0; at < message.size(); at += size) {
    const std::string part = message.substr(at, size);
    result += hello.substr(0, 3);
    result += static_cast<char>(part.size() >> 8);
    result += static_cast<char>(part.size() & 0xff);
    result += part;
  }
  return result;
}

TEST(ClientHello, HasTheNameThatIsAskedFor) {
  const FirstBytes found = read_client_hello(hello_for("Api.Example.com") + "more");
  EXPECT_EQ(found.kind, Kind::tls);
  EXPECT_EQ(found.server_name, "Api.Example.com");
}

TEST(ClientHello, MayHaveNoName) {
  const FirstBytes found = read_client_hello(hello_for(nullptr));
  EXPECT_EQ(found.kind, Kind::tls);
  EXPECT_EQ(found.server_name, "");
}

TEST(ClientHello, IsIncompleteUntilItsLastByte) {
  const std::string hello = hello_for("api.example.com");
  for (size_t size = 0; size < hello.size(); ++size) {
    ASSERT_EQ(read_client_hello(hello.substr(0, size)).kind, Kind::incomplete) << size;
  }
}

TEST(ClientHello, MayBeCutIntoRecordsAnywhere) {
  const std::string hello = hello_for("api.example.com");
  for (const size_t size : {1, 2, 3, 4, 5, 50, 255}) {
    const std::string pieces = cut(hello, size);
    EXPECT_EQ(read_client_hello(pieces).server_name, "api.example.com") << size;
    EXPECT_EQ(read_client_hello(pieces.substr(0, pieces.size() - 1)).kind, Kind::incomplete);
  }
}

TEST(ClientHello, IsNotEverythingThatComesFirst) {
  const std::string hello = hello_for("api.example.com");
  std::string other_message = hello;
  other_message[5] = 2;  // a ServerHello
  std::string huge = hello;
  huge[6] = 1;  // 64 KiB and more
  const std::string cases[] = {"GET / HTTP/1.1\r\n",
                               "SSH-2.0-OpenSSH\r\n",
                               std::string(100, '\0'),
                               "\x16\x02",
                               std::string{"\x16\x03\x01\x00\x00", 5},
                               "\x16\x03\x01\xff\xff",
                               "\x15\x03\x01",
                               other_message,
                               huge};
  for (const std::string& bytes : cases) EXPECT_EQ(read_client_hello(bytes).kind, Kind::other);
}

TEST(ClientHello, ThatIsBrokenHasNoName) {
  const std::string hello = hello_for("api.example.com");
  // Every length in it may lie.
  for (size_t at = 9; at < hello.size(); ++at) {
    for (const char value : {'\0', '\x7f', '\xff'}) {
      std::string broken = hello;
      broken[at] = value;
      const FirstBytes found = read_client_hello(broken);
      EXPECT_NE(found.kind, Kind::incomplete);
      EXPECT_LE(found.server_name.size(), hello.size());
    }
  }
}

}  // namespace
}  // namespace belljar::network
