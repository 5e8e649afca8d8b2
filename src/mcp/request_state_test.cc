#include "mcp/request_state.h"

#include <gtest/gtest.h>

namespace belljar::mcp {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

const RequestStates::Time kNow{hours{100}};

json::object object(std::string_view text) {
  return json::parse(text).as_object();
}

TEST(RequestState, ComesBackAsItWas) {
  const RequestStates states;
  for (const char* state : {"", "step 2", "a:b.c", "\u00e4"}) {
    EXPECT_EQ(states.open("b", states.seal("b", state, kNow), kNow), state);
  }
}

TEST(RequestState, IsRefusedOnceItHasBeenTouched) {
  const RequestStates states;
  const std::string sealed = states.seal("b", "state", kNow);
  EXPECT_FALSE(states.open("b", sealed + "-TAMPERED", kNow));
  EXPECT_FALSE(states.open("b", "", kNow));
  EXPECT_FALSE(states.open("b", ".", kNow));
  EXPECT_FALSE(states.open("b", sealed.substr(sealed.find('.')), kNow));
  for (size_t i = 0; i < sealed.size(); ++i) {
    std::string touched = sealed;
    touched[i] = touched[i] == 'A' ? 'B' : 'A';
    const auto opened = states.open("b", touched, kNow);
    // The last character before padding has bits that mean nothing.
    EXPECT_TRUE(!opened || opened == "state") << touched;
  }
}

TEST(RequestState, IsGoodForOneRequestOfOneProcessForAnHour) {
  const RequestStates states;
  const std::string sealed = states.seal("b", "state", kNow);
  EXPECT_FALSE(states.open("c", sealed, kNow));
  EXPECT_FALSE(RequestStates{}.open("b", sealed, kNow));
  EXPECT_TRUE(states.open("b", sealed, kNow + hours{1}));
  EXPECT_FALSE(states.open("b", sealed, kNow + hours{1} + seconds{1}));
}

TEST(RequestBinding, IsTheSameForTheNextRound) {
  const auto first = object(R"({"name":"t","arguments":{"a":1,"b":[true,null]},"_meta":{"x":1}})");
  const auto next = object(R"({"requestState":"s","arguments":{"b":[true,null],"a":1},"name":"t",
      "inputResponses":{"q":{}},"_meta":{"x":2}})");
  EXPECT_EQ(bind_request("o", "tools/call", first), bind_request("o", "tools/call", next));
}

TEST(RequestBinding, TellsRequestsApart) {
  const auto params = object(R"({"name":"t","arguments":{"a":"1"}})");
  const std::string binding = bind_request("o", "tools/call", params);
  EXPECT_NE(binding, bind_request("p", "tools/call", params));
  EXPECT_NE(binding, bind_request("o", "prompts/get", params));
  EXPECT_NE(binding, bind_request("ot", "ools/call", params));
  for (const char* other :
       {R"({"name":"t","arguments":{"a":"2"}})", R"({"name":"t"})",
        R"({"name":"u","arguments":{"a":"1"}})", R"({"name":"t","arguments":{"a":1}})",
        R"({"name":"t","arguments":{"a":"1","b":null}})"}) {
    EXPECT_NE(binding, bind_request("o", "tools/call", object(other))) << other;
  }
}

}  // namespace
}  // namespace belljar::mcp
