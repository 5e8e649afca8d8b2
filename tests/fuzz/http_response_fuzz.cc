// What a server answers, in two pieces and byte by byte → status, headers and body; and where a
// redirection leads.
#include <algorithm>
#include <cctype>

#include "fuzz.h"
#include "net/http_response_parser.h"
#include "net/url.h"

namespace belljar::net {
namespace {

using fuzz::expect;

void check_location(std::string_view location) {
  const auto base = parse_url("https://registry.example/a/b?c");
  const auto url = resolve_url(*base, location);
  if (!url) return;
  expect(url->target.starts_with('/'), "a target is absolute");
  expect(std::none_of(url->target.begin(), url->target.end(),
                      [](unsigned char c) { return c <= 0x20 || c == 0x7f; }),
         "a target has no spaces or control characters");
  const auto again = parse_url(to_string(*url));
  expect(again && again->same_origin(*url) && again->target == url->target,
         "an address that is shown can be read again");
}

void check(std::string_view input, HttpResponseParser::Body kind, size_t piece) {
  constexpr uint64_t kLimit = 1024;
  HttpResponseParser parser{kind, kLimit};
  std::string body;
  for (size_t at = 0; at < input.size() && !parser.is_done(); at += piece) {
    parser.feed(input.substr(at, piece));
    body += parser.take_body();
    expect(body.size() <= kLimit, "the body keeps its limit");
  }
  if (!parser.is_done()) parser.feed_end();
  expect(parser.has_head(), "an answer has a head");
  for (const auto& [name, value] : parser.head().headers)
    expect(std::none_of(name.begin(), name.end(), [](unsigned char c) { return std::isupper(c); }),
           "names of headers are in lower case");
  check_location(parser.head().header("location"));
}

}  // namespace
}  // namespace belljar::net

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using Body = belljar::net::HttpResponseParser::Body;
  const std::string_view input = belljar::fuzz::text_of(data, size);
  for (const Body kind : {Body::expected, Body::none}) {
    for (const size_t piece : {size / 2 + 1, size_t{1}})
      belljar::fuzz::may_refuse([=] { belljar::net::check(input, kind, piece); });
  }
  return 0;
}
