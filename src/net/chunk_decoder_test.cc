#include "net/chunk_decoder.h"

#include <gtest/gtest.h>

namespace belljar::net {
namespace {

struct Decoded {
  std::string why;
  std::string body;
  std::string rest;
  bool is_done = false;

  bool operator==(const Decoded&) const = default;
};

Decoded decode(const std::string& bytes, size_t piece) {
  ChunkDecoder decoder;
  Decoded result;
  for (size_t at = 0; at < bytes.size() && result.why.empty(); at += piece) {
    result.rest += bytes.substr(at, piece);
    result.why = decoder.feed(result.rest, result.body);
  }
  result.is_done = decoder.is_done();
  return result;
}

TEST(ChunkDecoder, FindsTheBodyHoweverItArrives) {
  const std::string bytes =
      "5\r\nhello\r\n00A \t; name=\"a;b\"\r\n0123456789\r\n0\r\nX-Y: z\r\n\r\nnext";
  const Decoded expected{"", "hello0123456789", "next", true};
  for (const size_t piece : {size_t{1}, size_t{2}, size_t{3}, size_t{7}, bytes.size()})
    EXPECT_EQ(decode(bytes, piece), expected) << piece;
}

TEST(ChunkDecoder, FindsAnEmptyBodyHoweverItArrives) {
  for (const size_t piece : {1, 2, 3, 4, 5}) {
    EXPECT_EQ(decode("0\r\n\r\n", piece), (Decoded{"", "", "", true})) << piece;
  }
}

TEST(ChunkDecoder, TakesNothingElse) {
  const std::string cases[] = {"0x5\r\nhello\r\n",
                               "-1\r\n",
                               "+5\r\nhello\r\n",
                               " 5\r\nhello\r\n",
                               "\r\n",
                               "5 5\r\nhello\r\n",
                               "5 \r\nhello\r\n",
                               "10000000000000005\r\n",
                               "fffffffffffffffff\r\n",
                               "5\nhello\r\n",
                               "5\rhello\r\n",
                               "5\r\nhelloworld\r\n",
                               "5\r\nhello0\r\n\r\n",
                               "5\r\nhelloXX0\r\n",
                               "5;a\nhello\r\n",
                               "5;a\rb\r\nhello\r\n",
                               "5;" + std::string(5000, 'x') + "\r\n",
                               "0\r\nX: 1\n\r\n",
                               "0\r\nGET / HTTP/1.1\r\n\r\n",
                               "0\r\n folded\r\n\r\n",
                               "0\r\n: x\r\n\r\n"};
  for (const std::string& bytes : cases) {
    for (const size_t piece : {size_t{1}, bytes.size()}) {
      const Decoded found = decode(bytes, piece);
      EXPECT_NE(found.why, "") << bytes;
      EXPECT_FALSE(found.is_done) << bytes;
    }
  }
}

TEST(ChunkDecoder, TakesNoEndlessTrailers) {
  std::string trailers;
  for (int i = 0; i < 100; ++i) trailers += "X: " + std::string(200, 'x') + "\r\n";
  EXPECT_NE(decode("0\r\n" + trailers, 1000).why, "");
}

}  // namespace
}  // namespace belljar::net
