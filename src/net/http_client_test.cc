#include "net/http_client.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "base/error.h"
#include "base/task_group.h"
#include "base/testing.h"
#include "net/test_server.h"

namespace belljar::net {
namespace {

using testing::HasSubstr;
using testing::Not;

HttpRequest request_to(const std::string& url) {
  HttpRequest request;
  request.url = parse_url(url).value();
  return request;
}

std::string error_of(HttpClient& client, HttpRequest request) {
  try {
    run(client.get(std::move(request)));
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(HttpClient, ReturnsStatusAndBody) {
  TestServer server{[](const TestRequest&) { return http_answer(200, "hello"); }};
  HttpClient client{{}};
  const HttpResponse response = run(client.get(request_to(server.url("/a?b=c"))));
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "hello");
  const TestRequest seen = server.requests().at(0);
  EXPECT_EQ(seen.method, "GET");
  EXPECT_EQ(seen.target, "/a?b=c");
  EXPECT_EQ(seen.headers.at("host"), "127.0.0.1:" + std::to_string(server.port()));
}

TEST(HttpClient, FindsAHostByNameAndTriesAllItsAddresses) {
  TestServer server{[](const TestRequest&) { return http_answer(200, "hello"); }};
  HttpClient client{{}};
  EXPECT_EQ(run(client.get(request_to(server.url("/", "localhost")))).body, "hello");
}

TEST(HttpClient, ReadsChunksAndSkipsInterimAnswers) {
  TestServer server{[](const TestRequest&) {
    return "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
           "HTTP/1.1 200 OK\r\nTransfer-Encoding: "
           "chunked\r\n\r\n3\r\nabc\r\n4;x=y\r\ndefg\r\n0\r\n\r\n";
  }};
  HttpClient client{{}};
  EXPECT_EQ(run(client.get(request_to(server.url("/")))).body, "abcdefg");
}

TEST(HttpClient, TakesTheEndOfTheConnectionAsTheEndOfABodyWithoutLength) {
  TestServer server{[](const TestRequest&) { return "HTTP/1.1 200 OK\r\n\r\nall of it"; }};
  HttpClient client{{}};
  EXPECT_EQ(run(client.get(request_to(server.url("/")))).body, "all of it");
}

TEST(HttpClient, HandsALargeBodyOnInSmallPieces) {
  const std::string body(3u << 20, 'x');
  TestServer server{[&body](const TestRequest&) { return http_answer(200, body); }};
  HttpClient client{{}};
  size_t received = 0, largest = 0;
  uint64_t announced = 0;
  BodySink sink = [&](std::string_view piece, uint64_t total) {
    received += piece.size();
    largest = std::max(largest, piece.size());
    announced = total;
  };
  run(client.get(request_to(server.url("/")), sink));
  EXPECT_EQ(received, body.size());
  EXPECT_EQ(announced, body.size());
  EXPECT_LE(largest, 64u << 10);
}

TEST(HttpClient, GivesTheBodyOfAnErrorNotToTheSink) {
  TestServer server{[](const TestRequest&) { return http_answer(404, std::string(10'000, 'n')); }};
  HttpClient client{{}};
  bool called = false;
  BodySink sink = [&called](std::string_view, uint64_t) { called = true; };
  const HttpResponse response = run(client.get(request_to(server.url("/")), sink));
  EXPECT_EQ(response.status, 404);
  EXPECT_EQ(response.body.size(), 4096u);
  EXPECT_FALSE(called);
}

TEST(HttpClient, RefusesABodyAboveTheLimit) {
  TestServer server{[](const TestRequest&) { return http_answer(200, std::string(1000, 'x')); }};
  HttpClient client{{}};
  HttpRequest request = request_to(server.url("/"));
  request.limits.body = 999;
  EXPECT_THAT(error_of(client, request), HasSubstr("larger than 999 bytes"));
}

TEST(HttpClient, NoticesATruncatedBody) {
  TestServer server{
      [](const TestRequest&) { return "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this"; }};
  HttpClient client{{}};
  EXPECT_THAT(error_of(client, request_to(server.url("/"))), HasSubstr("before the whole answer"));
}

TEST(HttpClient, RefusesWhatIsNotHttp) {
  TestServer server{[](const TestRequest&) { return "SSH-2.0-OpenSSH_9.2\r\n\r\n"; }};
  HttpClient client{{}};
  EXPECT_THAT(error_of(client, request_to(server.url("/"))), HasSubstr("not proper HTTP"));
}

TEST(HttpClient, GivesUpOnASilentServer) {
  TestServer server{[](const TestRequest&) { return kSilence; }};
  HttpClient client{{}};
  HttpRequest request = request_to(server.url("/"));
  request.limits.idle = milliseconds{30};
  EXPECT_THAT(error_of(client, request), HasSubstr("sent nothing for 30 ms"));
}

TEST(HttpClient, SaysThatNobodyListens) {
  const uint16_t port = TestServer{[](const TestRequest&) { return ""; }}.port();
  HttpClient client{{}};
  const std::string error =
      error_of(client, request_to("http://127.0.0.1:" + std::to_string(port)));
  EXPECT_THAT(error, HasSubstr("cannot connect to 127.0.0.1"));
  EXPECT_THAT(error, HasSubstr("HTTPS_PROXY"));
}

TEST(HttpClient, SaysThatAHostIsUnknown) {
  HttpClient client{{}};
  EXPECT_THAT(error_of(client, request_to("http://nowhere.invalid/")),
              HasSubstr("cannot find the address of nowhere.invalid"));
}

Task<bool> cancel_a_silent_request(HttpClient& client, HttpRequest request) {
  const auto ended = co_await with_timeout(milliseconds{30}, client.get(std::move(request)));
  co_return !ended.has_value();
}

TEST(HttpClient, CanBeCancelled) {
  TestServer server{[](const TestRequest&) { return kSilence; }};
  HttpClient client{{}};
  EXPECT_TRUE(run(cancel_a_silent_request(client, request_to(server.url("/")))));
}

TEST(HttpClient, FollowsRedirects) {
  TestServer server{[](const TestRequest& request) {
    return request.target == "/a" ? http_answer(302, "moved", "Location: /b\r\n")
                                  : http_answer(200, "at " + request.target);
  }};
  HttpClient client{{}};
  const HttpResponse response = run(client.get(request_to(server.url("/a"))));
  EXPECT_EQ(response.body, "at /b");
  EXPECT_EQ(response.url.target, "/b");
}

TEST(HttpClient, StopsFollowingRedirectsThatNeverEnd) {
  TestServer server{[](const TestRequest&) { return http_answer(301, "", "Location: /\r\n"); }};
  HttpClient client{{}};
  EXPECT_THAT(error_of(client, request_to(server.url("/"))), HasSubstr("more than 5 redirects"));
  EXPECT_EQ(server.requests().size(), 6u);
}

TEST(HttpClient, KeepsAuthorizationOnTheSameHostAndDropsItForAnother) {
  TestServer other{[](const TestRequest&) { return http_answer(200, "other"); }};
  TestServer server{[&other](const TestRequest& request) {
    if (request.target == "/a") return http_answer(302, "", "Location: /b\r\n");
    return http_answer(302, "", "Location: " + other.url("/c") + "\r\n");
  }};
  HttpClient client{{}};
  HttpRequest request = request_to(server.url("/a"));
  request.headers.emplace_back("authorization", "Bearer secret");
  EXPECT_EQ(run(client.get(request)).body, "other");
  EXPECT_EQ(server.requests().at(1).headers.at("authorization"), "Bearer secret");
  EXPECT_FALSE(other.requests().at(0).headers.contains("authorization"));
}

TEST(HttpClient, RefusesALineBreakInAHeader) {
  TestServer server{[](const TestRequest&) { return http_answer(200, ""); }};
  HttpClient client{{}};
  HttpRequest request = request_to(server.url("/"));
  request.headers.emplace_back("X", "a\r\nEvil: yes");
  EXPECT_THAT(error_of(client, request), HasSubstr("bad value for header X"));
  EXPECT_TRUE(server.requests().empty());
}

TEST(HttpClient, SendsTheFullAddressThroughAProxy) {
  TestServer proxy{[](const TestRequest&) { return http_answer(200, "from the proxy"); }};
  HttpSettings settings;
  settings.proxy.for_http = parse_url("http://me:pw@127.0.0.1:" + std::to_string(proxy.port()));
  HttpClient client{settings};
  EXPECT_EQ(run(client.get(request_to("http://a.invalid/x"))).body, "from the proxy");
  const TestRequest seen = proxy.requests().at(0);
  EXPECT_EQ(seen.target, "http://a.invalid/x");
  EXPECT_EQ(seen.headers.at("proxy-authorization"), "Basic bWU6cHc=");
  EXPECT_FALSE(seen.headers.contains("authorization"));
}

size_t open_descriptors_without_cloexec() {
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator{"/proc/self/fd"}) {
    const int fd = std::stoi(entry.path().filename());
    std::error_code error;
    const std::string target = std::filesystem::read_symlink(entry.path(), error);
    const int flags = ::fcntl(fd, F_GETFD);
    if (target.starts_with("socket:") && flags >= 0 && (flags & FD_CLOEXEC) == 0) ++count;
  }
  return count;
}

TEST(HttpClient, OpensNoSocketThatAChildWouldInherit) {
  const size_t before = open_descriptors_without_cloexec();
  size_t during = 0;
  TestServer server{[&during](const TestRequest&) {
    during = open_descriptors_without_cloexec();
    return http_answer(200, "");
  }};
  HttpClient client{{}};
  run(client.get(request_to(server.url("/"))));
  EXPECT_EQ(during, before);
}

}  // namespace
}  // namespace belljar::net
