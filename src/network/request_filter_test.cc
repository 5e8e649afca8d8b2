#include "network/request_filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace belljar::network {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Secret make_secret(std::string name, std::string header, std::string value) {
  Secret secret;
  secret.name = std::move(name);
  secret.header = std::move(header);
  secret.value = std::move(value);
  return secret;
}

class FilterTest : public ::testing::Test {
 protected:
  Secret git_ = make_secret("git", "Authorization", "S3CRET-GIT");
  Secret hub_ = make_secret("github", "Authorization", "S3CRET-HUB");
  Secret key_ = make_secret("key", "X-Api-Key", "S3CRET-KEY");
  const Secret::Host host_{"api.test", 443};
  RequestFilter filter_{host_, {&git_, &hub_, &key_}};

  static std::string request(const std::string& headers) {
    return "GET / HTTP/1.1\r\nHost: api.test\r\n" + headers + "\r\n";
  }
  // What one request becomes in a connection of its own.
  std::string after(const std::string& bytes) {
    RequestFilter filter{host_, {&git_, &hub_, &key_}};
    std::string out = filter.feed(bytes);
    EXPECT_FALSE(filter.refusal()) << filter.refusal()->why;
    return out;
  }
  // The status with which it is refused.
  int status_of(const std::string& bytes) {
    RequestFilter filter{host_, {&git_, &hub_, &key_}};
    EXPECT_EQ(filter.feed(bytes), "");
    EXPECT_TRUE(filter.has_request());
    EXPECT_EQ(filter.feed("GET / HTTP/1.1\r\nHost: api.test\r\n\r\n"), "");
    return filter.refusal() ? filter.refusal()->status : 0;
  }
};

TEST_F(FilterTest, PutsTheSecretIn) {
  EXPECT_EQ(after(request("Authorization: Bearer belljar-secret-github\r\nAccept: x\r\n")),
            request("Authorization: Bearer S3CRET-HUB\r\nAccept: x\r\n"));
  EXPECT_EQ(after(request("aUTHORIZATION:belljar-secret-git\r\n")),
            request("aUTHORIZATION: S3CRET-GIT\r\n"));
}

TEST_F(FilterTest, KnowsOnePlaceholderFromAnother) {
  EXPECT_EQ(after(request("Authorization: a belljar-secret-github, b belljar-secret-git\r\n")),
            request("Authorization: a S3CRET-HUB, b S3CRET-GIT\r\n"));
  EXPECT_EQ(after(request("Authorization: belljar-secret-gitlab\r\n")), request(""));
  EXPECT_EQ(after(request("Authorization: belljar-secret-key\r\n")), request(""))
      << "which is for another header";
}

TEST_F(FilterTest, TakesTheProgramsOwnValuesOut) {
  EXPECT_EQ(after(request("Authorization: Bearer mine\r\nX-API-KEY: mine\r\nX-Other: mine\r\n")),
            request("X-Other: mine\r\n"));
  EXPECT_EQ(after(request("Authorization: mine\r\nAuthorization: belljar-secret-git\r\n"
                          "Authorization: \r\n")),
            request("Authorization: S3CRET-GIT\r\n"));
}

TEST_F(FilterTest, LeavesPlaceholdersElsewhereAlone) {
  const std::string bytes =
      "POST /belljar-secret-git HTTP/1.1\r\nHost: api.test\r\nX: belljar-secret-git\r\n"
      "Content-Length: 18\r\n\r\nbelljar-secret-git";
  EXPECT_EQ(after(bytes), bytes);
}

TEST_F(FilterTest, CarriesOneRequestAfterTheOther) {
  const std::string one = request("Authorization: belljar-secret-git\r\n");
  EXPECT_EQ(filter_.feed(one + one.substr(0, 20)), request("Authorization: S3CRET-GIT\r\n"));
  EXPECT_EQ(filter_.feed(one.substr(20)), request("Authorization: S3CRET-GIT\r\n"));
}

TEST_F(FilterTest, FramesChunksAnewAndDropsTrailers) {
  const std::string head = "POST / HTTP/1.1\r\nHost: api.test\r\nTransfer-Encoding: chunked\r\n";
  EXPECT_EQ(after(head + "Trailer: Authorization\r\nTE: trailers\r\n\r\n"
                         "5;x=y\r\nhello\r\n6\r\n world\r\n0\r\nAuthorization: mine\r\n\r\n"),
            head + "\r\nb\r\nhello world\r\n0\r\n\r\n");
}

TEST_F(FilterTest, RefusesOtherHosts) {
  for (const char* head :
       {"GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost: other.test\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: api.test\r\nHost: other.test\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: api.test\r\nHost: api.test\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: api.test:8443\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: api.test@other.test\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: api.test.\r\n\r\n", "GET / HTTP/1.1\r\nHost:\r\n\r\n"}) {
    EXPECT_EQ(status_of(head), 421) << head;
  }
  EXPECT_NE(after("GET / HTTP/1.1\r\nHost: API.test:443\r\n\r\n"), "");
}

TEST_F(FilterTest, RefusesWhatWouldEchoOrLeadElsewhere) {
  const std::string rest = " HTTP/1.1\r\nHost: api.test\r\n\r\n";
  EXPECT_EQ(status_of("TRACE /" + rest), 405);
  EXPECT_EQ(status_of("CONNECT other.test:443" + rest), 405);
  EXPECT_EQ(status_of("GET http://other.test/" + rest), 400);
  EXPECT_EQ(status_of("GET https://api.test/" + rest), 400);
  EXPECT_EQ(status_of("GET *" + rest), 400);
  EXPECT_EQ(after("OPTIONS *" + rest), "OPTIONS *" + rest);
}

TEST_F(FilterTest, RefusesWhatIsNotHttp) {
  EXPECT_EQ(status_of("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), 400);
  EXPECT_EQ(status_of("garbage\r\n\r\n"), 400);
}

TEST_F(FilterTest, SendsNothingOfARequestThatItRefusesAfterAGoodOne) {
  const std::string good = request("");
  EXPECT_EQ(
      filter_.feed(good + "GET / HTTP/1.1\r\nHost: other.test\r\nContent-Length: 3\r\n\r\nabc"),
      good);
  ASSERT_TRUE(filter_.refusal());
  EXPECT_THAT(filter_.refusal()->why, HasSubstr("Host must be api.test"));
}

TEST_F(FilterTest, PassesNoOtherUpgradesOn) {
  EXPECT_EQ(after(request("Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
                          "HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n")),
            request(""));
  EXPECT_EQ(after(request("Connection: close\r\n")), request("Connection: close\r\n"));
  EXPECT_EQ(after(request("Connection: Authorization\r\n")), request(""));
}

TEST_F(FilterTest, WaitsForWhatTheHostThinksOfAWebSocket) {
  const std::string question = request(
      "Connection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\nAuthorization: "
      "belljar-secret-git\r\n");
  const std::string sent = filter_.feed(question + "frames");
  EXPECT_EQ(sent, request("Authorization: S3CRET-GIT\r\nConnection: Upgrade\r\n"
                          "Upgrade: websocket\r\n"));
  EXPECT_TRUE(filter_.awaits_answer());
  EXPECT_EQ(filter_.feed(" more"), "");
  EXPECT_EQ(filter_.answered(true), "frames more");
  EXPECT_EQ(filter_.feed("GET garbage"), "GET garbage");
}

TEST_F(FilterTest, GoesOnIfTheHostWantsNoWebSocket) {
  const std::string question = request("Connection: Upgrade\r\nUpgrade: websocket\r\n");
  const std::string next = request("Authorization: mine\r\n");
  EXPECT_THAT(filter_.feed(question + next), StartsWith("GET / HTTP/1.1"));
  EXPECT_EQ(filter_.answered(false), request(""));
  // Only a first request can be one.
  EXPECT_THAT(filter_.feed(question), Not(HasSubstr("websocket")));
  EXPECT_FALSE(filter_.awaits_answer());
}

}  // namespace
}  // namespace belljar::network
