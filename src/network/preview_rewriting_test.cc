#include "network/preview_rewriting.h"

#include <gmock/gmock.h>

namespace belljar::network {
namespace {

using testing::Eq;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;
using testing::UnorderedElementsAre;

constexpr std::string_view kOrigin = "http://127.0.0.1:8766";

PreviewPath path_of(std::string_view target) {
  return read_preview_path(target).value();
}

net::HttpHeaders answered(net::HttpHeaders headers) {
  net::ResponseHead head;
  head.headers = std::move(headers);
  head.headers.emplace_back("referrer-policy", "no-referrer");
  net::HttpHeaders outer = outer_headers(head, path_of("/preview/js-sbx-1/3000/"));
  outer.pop_back();
  return outer;
}

TEST(PreviewPath, HasIdPortAndRest) {
  const PreviewPath path = path_of("/preview/js-sbx-1/3000/a/b?c=d");
  EXPECT_EQ(path.id, "js-sbx-1");
  EXPECT_EQ(path.port, 3000);
  EXPECT_EQ(path.rest, "/a/b?c=d");
  EXPECT_EQ(path.prefix(), "/preview/js-sbx-1/3000/");
  EXPECT_EQ(path_of("/preview/x/3000").rest, "");
  EXPECT_EQ(path_of("/preview/x/3000?a").rest, "?a");
}

TEST(PreviewPath, IsNothingElse) {
  for (const char* target :
       {"/", "/preview", "/preview/", "/preview//3000/", "/preview/x", "/preview/x/",
        "/preview/x/0/", "/preview/x/03000/", "/preview/x/65536/", "/preview/x/3000a/",
        "/preview/x/-1/", "/Preview/x/3000/", "//preview/x/3000/", "/preview/x/3000%2f",
        "/preview/x/+3000/"}) {
    EXPECT_EQ(read_preview_path(target), std::nullopt) << target;
  }
}

TEST(PreviewToken, IsTakenOutOfTheAddress) {
  const auto only = take_token("/preview/x/1/?belljar-token=abc");
  ASSERT_TRUE(only);
  EXPECT_EQ(only->token, "abc");
  EXPECT_EQ(only->target, "/preview/x/1/");
  EXPECT_EQ(take_token("/p?a=1&belljar-token=abc&b=2")->target, "/p?a=1&b=2");
  EXPECT_EQ(take_token("/p?a=1"), std::nullopt);
  EXPECT_EQ(take_token("/p/belljar-token=abc"), std::nullopt);
}

TEST(PreviewToken, IsTheCookieOrTheBearer) {
  net::HttpServerRequest request;
  EXPECT_EQ(token_of(request), "");
  request.headers = {{"cookie", "a=b; belljar-preview=abc; c=d"}};
  EXPECT_EQ(token_of(request), "abc");
  request.headers = {{"cookie", "belljar-previews=no; xbelljar-preview=no; belljar-preview"}};
  EXPECT_EQ(token_of(request), "");
  request.headers = {{"authorization", "Bearer abc"}};
  EXPECT_EQ(token_of(request), "abc");
}

TEST(PreviewRequest, IsThatOfANeighbour) {
  net::HttpServerRequest request;
  request.method = "POST";
  request.headers = {{"host", "127.0.0.1:8766"},   {"cookie", "belljar-preview=secret; theirs=1"},
                     {"connection", "keep-alive"}, {"content-length", "99"},
                     {"x-forwarded-for", "::1"},   {"origin", "http://127.0.0.1:8766"},
                     {"accept", "text/html"},      {"authorization", "Bearer secret"}};
  const std::string head =
      inner_head(request, path_of("/preview/js-sbx-1/3000/api?x=1"), kOrigin, 5);
  EXPECT_EQ(head,
            "POST /api?x=1 HTTP/1.1\r\nHost: localhost:3000\r\ncookie: theirs=1\r\n"
            "origin: http://localhost:3000\r\naccept: text/html\r\nX-Forwarded-Proto: http\r\n"
            "X-Forwarded-Host: 127.0.0.1:8766\r\nX-Forwarded-Prefix: /preview/js-sbx-1/3000\r\n"
            "Content-Length: 5\r\nConnection: close\r\n\r\n");
}

TEST(PreviewRequest, KeepsBasicAuthorization) {
  net::HttpServerRequest request;
  request.method = "GET";
  request.headers = {{"authorization", "Basic dTpw"}, {"cookie", "belljar-preview=secret"}};
  const std::string head = inner_head(request, path_of("/preview/x/3000/"), kOrigin, 0);
  EXPECT_THAT(head, HasSubstr("authorization: Basic dTpw\r\n"));
  EXPECT_THAT(head, Not(HasSubstr("secret")));
  EXPECT_THAT(head, Not(HasSubstr("Content-Length")));
}

TEST(PreviewRequest, MayBecomeAWebSocket) {
  net::HttpServerRequest request;
  request.method = "GET";
  request.headers = {
      {"connection", "keep-alive, Upgrade"}, {"upgrade", "WebSocket"}, {"sec-websocket-key", "k"}};
  EXPECT_TRUE(asks_for_websocket(request));
  const std::string head = inner_head(request, path_of("/preview/x/3000/"), kOrigin, 0);
  EXPECT_THAT(head, HasSubstr("sec-websocket-key: k\r\n"));
  EXPECT_THAT(head, HasSubstr("\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"));
  EXPECT_THAT(head, Not(HasSubstr("close")));
}

TEST(PreviewAnswer, StaysBeneathItsPrefix) {
  EXPECT_THAT(answered({{"location", "/login?next=/"}}),
              UnorderedElementsAre(Pair("location", "/preview/js-sbx-1/3000/login?next=/")));
  EXPECT_THAT(answered({{"location", "http://localhost:3000"}}),
              UnorderedElementsAre(Pair("location", "/preview/js-sbx-1/3000/")));
  for (const char* elsewhere : {"next", "//example.org/", "https://example.org/",
                                "http://localhost:30000/", "http://localhost:3000.example.org/"}) {
    EXPECT_THAT(answered({{"location", elsewhere}}),
                UnorderedElementsAre(Pair("location", elsewhere)));
  }
}

TEST(PreviewAnswer, SetsCookiesForItselfOnly) {
  EXPECT_THAT(
      answered({{"set-cookie", "a=b; Path=/; Domain=localhost; HttpOnly"}}),
      UnorderedElementsAre(Pair("set-cookie", "a=b; HttpOnly; Path=/preview/js-sbx-1/3000/")));
  EXPECT_THAT(answered({{"set-cookie", "belljar-preview=mine"}}), testing::IsEmpty());
  EXPECT_THAT(answered({{"set-cookie", " ; belljar-preview=mine; a=b"}}), testing::IsEmpty());
  EXPECT_THAT(answered({{"set-cookie", "path=1"}}),
              UnorderedElementsAre(Pair("set-cookie", "path=1; Path=/preview/js-sbx-1/3000/")));
}

TEST(PreviewAnswer, DoesNotSpeakForTheOrigin) {
  EXPECT_THAT(answered({{"service-worker-allowed", "/"},
                        {"clear-site-data", "\"*\""},
                        {"strict-transport-security", "max-age=1"},
                        {"transfer-encoding", "chunked"},
                        {"content-length", "5"},
                        {"content-type", "text/html"}}),
              UnorderedElementsAre(Pair("content-type", "text/html")));
}

TEST(PreviewAnswer, TellsNobodyElseItsAddress) {
  const net::HttpHeaders outer = outer_headers({}, path_of("/preview/x/3000/"));
  EXPECT_THAT(outer, UnorderedElementsAre(Pair("referrer-policy", "same-origin")));
}

}  // namespace
}  // namespace belljar::network
