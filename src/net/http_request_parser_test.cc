#include "net/http_request_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace belljar::net {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

// Why these bytes are refused, whether they come at once or one by one; "" if they are not.
std::string refusal(const std::string& bytes) {
  std::string found[2];
  for (const bool at_once : {true, false}) {
    HttpRequestParser parser;
    try {
      if (at_once) parser.feed(bytes);
      if (!at_once)
        for (const char byte : bytes) parser.feed({&byte, 1});
    } catch (const Error& e) {
      found[at_once ? 0 : 1] = e.what();
    }
  }
  EXPECT_EQ(found[0].empty(), found[1].empty()) << bytes;
  return found[0];
}

TEST(HttpRequestParser, ReadsOneRequestAfterTheOther) {
  HttpRequestParser parser;
  parser.feed("POST /a?b HTTP/1.1\r\nHost: x\r\nX-Y:  z \r\nContent-Length: 5\r\n\r\nhel");
  ASSERT_TRUE(parser.has_head());
  EXPECT_EQ(parser.head().method, "POST");
  EXPECT_EQ(parser.head().target, "/a?b");
  EXPECT_THAT(parser.head().headers,
              ElementsAre(Pair("Host", "x"), Pair("X-Y", "z"), Pair("Content-Length", "5")));
  EXPECT_THAT(parser.head().all("x-y"), ElementsAre("z"));
  EXPECT_EQ(parser.take_body(), "hel");
  EXPECT_FALSE(parser.is_done());
  parser.feed("loGET /2 HTTP/1.0\r\n\r\nrest");
  EXPECT_TRUE(parser.is_done());
  EXPECT_EQ(parser.take_body(), "lo");
  parser.next();
  EXPECT_TRUE(parser.is_done());
  EXPECT_EQ(parser.head().target, "/2");
  EXPECT_EQ(parser.head().version, 10);
  EXPECT_EQ(parser.take_rest(), "rest");
}

TEST(HttpRequestParser, TakesChunksOutOfTheirFramesAndDropsTrailers) {
  HttpRequestParser parser;
  const std::string bytes =
      "PUT / HTTP/1.1\r\nTransfer-Encoding: Chunked\r\n\r\n"
      "3;ext=\"x\"\r\nabc\r\nA\r\n0123456789\r\n0\r\nAuthorization: me\r\n\r\nGET";
  std::string body;
  for (const char byte : bytes) {
    parser.feed({&byte, 1});
    body += parser.take_body();
  }
  EXPECT_TRUE(parser.is_done());
  EXPECT_TRUE(parser.is_chunked());
  EXPECT_EQ(body, "abc0123456789");
  EXPECT_THAT(parser.head().headers, ElementsAre(Pair("Transfer-Encoding", "Chunked")));
  EXPECT_EQ(parser.take_rest(), "GET");
}

TEST(HttpRequestParser, RefusesWhatTwoReadersCouldTakeDifferently) {
  const std::string start = "POST / HTTP/1.1\r\nHost: x\r\n";
  const std::string cases[] = {
      start + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      start + "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n",
      start + "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc",
      start + "Content-Length: 3, 3\r\n\r\nabc",
      start + "Content-Length: +3\r\n\r\nabc",
      start + "Content-Length: 0x3\r\n\r\nabc",
      start + "Content-Length: \r\n\r\n",
      start + "Content-Length: 99999999999999999999\r\n\r\n",
      start + "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
      start + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
      start + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
      start + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      start + "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
      start + "X: a\r\n b\r\n\r\n",
      start + "X: a\r\n\tAuthorization: b\r\n\r\n",
      start + "X: a\nAuthorization: b\r\n\r\n",
      start + "X: a\rAuthorization: b\r\n\r\n",
      start + "Authorization : b\r\n\r\n",
      start + " Authorization: b\r\n\r\n",
      start + "Author ization: b\r\n\r\n",
      start + "no colon\r\n\r\n",
      start + std::string{"X: a\0b\r\n\r\n", 10},
      "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "POST / HTTP/2.0\r\n\r\n",
      "POST /\r\n\r\n",
      "POST  / HTTP/1.1\r\n\r\n",
      "\x16\x03\x01\r\n\r\n",
  };
  for (const std::string& bytes : cases) EXPECT_NE(refusal(bytes), "") << bytes;
  EXPECT_EQ(refusal(start + "Content-Length: 3\r\n\r\nabc"), "");
}

TEST(HttpRequestParser, TakesNoBodyThatNobodyReadForThatOfTheNextRequest) {
  HttpRequestParser parser;
  parser.feed("POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc");
  parser.feed("POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\ndef");
  EXPECT_TRUE(parser.is_done());
  parser.next();
  EXPECT_TRUE(parser.is_done());
  EXPECT_EQ(parser.take_body(), "def");
}

TEST(HttpRequestParser, RefusesAnEndlessHead) {
  const std::string endless = "GET / HTTP/1.1\r\nX: " + std::string(70u << 10, 'x');
  HttpRequestParser parser;
  EXPECT_THAT([&] { parser.feed(endless); },
              ::testing::ThrowsMessage<Error>(HasSubstr("more than 64 KiB")));
}

TEST(HttpRequestParser, RefusesChunksThatAreNone) {
  const std::string start = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const char* body : {"g\r\n", "-1\r\n", "3\nabc\r\n0\r\n\r\n", "3\r\nabcd\r\n0\r\n\r\n",
                           "fffffffffffffffff\r\n"})
    EXPECT_NE(refusal(start + body), "") << body;
}

}  // namespace
}  // namespace belljar::net
