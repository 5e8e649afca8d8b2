#include "drivers/docker/engine_address.h"

#include <gmock/gmock.h>

#include "base/error.h"

namespace belljar::docker {
namespace {

using testing::HasSubstr;

std::string refusal_of(const std::string& text) {
  try {
    parse_engine_address(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::invalid);
    return error.what();
  }
  ADD_FAILURE() << "accepted: " << text;
  return "";
}

TEST(EngineAddress, IsAUnixSocketOrAPortOfThisHost) {
  EXPECT_EQ(parse_engine_address("unix:///run/docker.sock").socket, "/run/docker.sock");
  EXPECT_EQ(parse_engine_address("").socket, "/var/run/docker.sock");
  const EngineAddress plain = parse_engine_address("tcp://127.0.0.1:2375");
  EXPECT_FALSE(plain.url->is_tls());
  EXPECT_EQ(plain.url->port, 2375);
  const EngineAddress tls = parse_engine_address("tcp://localhost:2376", "/certs");
  EXPECT_TRUE(tls.url->is_tls());
  EXPECT_EQ(tls.cert_path, "/certs");
  EXPECT_EQ(parse_engine_address("tcp://[::1]:2375").url->host, "::1");
}

TEST(EngineAddress, IsShownAsItIsWritten) {
  EXPECT_EQ(to_string(parse_engine_address("unix:///run/docker.sock")), "unix:///run/docker.sock");
  EXPECT_EQ(to_string(parse_engine_address("tcp://localhost:2376", "/c")), "tcp://localhost:2376");
}

TEST(EngineAddress, IsNothingElse) {
  for (const char* text : {"docker", "unix://", "unix:///", "unix://run/docker.sock", "/run/x.sock",
                           "ssh://host", "npipe:////./pipe/x", "tcp://", "tcp://127.0.0.1",
                           "tcp://127.0.0.1:2375/path", "tcp://a:b@127.0.0.1:1", "fd://"})
    EXPECT_THAT(refusal_of(text), HasSubstr("use unix:///path/of/its.sock")) << text;
  refusal_of("unix:///" + std::string(200, 'x'));
}

TEST(EngineAddress, IsNotOfAnotherHost) {
  for (const char* text : {"tcp://10.0.0.5:2375", "tcp://docker.example:2376", "tcp://[fe80::1]:1"})
    EXPECT_THAT(refusal_of(text), HasSubstr("is on another host")) << text;
}

}  // namespace
}  // namespace belljar::docker
