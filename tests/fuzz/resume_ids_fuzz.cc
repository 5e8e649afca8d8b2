// Each line is the Last-Event-ID of a client that comes back to its session, which has two streams
// of calls; another session has streams with the same numbers.
#include "base/log.h"
#include "fuzz.h"
#include "mcp/http_headers.h"
#include "mcp/http_testing.h"
#include "small_server.h"

namespace belljar::mcp {
namespace {

using fuzz::expect;

std::string call(std::string_view word) {
  return request("1", "tools/call",
                 fmt::format(R"({{"name":"talk","arguments":{{"word":"{}"}},)"
                             R"("_meta":{{"progressToken":1}}}})",
                             word));
}

// The session's first stream is that of its handshake, so these are 2 and 3.
net::HttpHeaders session_with(HttpBench& bench, std::string_view first, std::string_view second) {
  net::HttpHeaders headers = bench.handshake();
  bench.post(headers, call(first));
  bench.post(headers, call(second));
  return headers;
}

void check_events(const FakeExchange& exchange, EventId asked) {
  uint64_t last = asked.number;
  for (size_t i = 0; i < exchange.blocks().size(); ++i) {
    const auto id = parse_event_id(exchange.field(i, "id"));
    expect(id && id->stream == asked.stream, "events are those of the stream that was named");
    expect(id->number > last, "what the client has is not sent again, and the rest is in order");
    last = id->number;
  }
  const std::string_view foreign = asked.stream == 2 ? "own-b" : "own-a";
  expect(exchange.sent.find(foreign) == std::string::npos, "nothing of another stream is in it");
  expect(exchange.sent.find("other") == std::string::npos, "nothing of another session is in it");
}

void resume(HttpBench& bench, const net::HttpHeaders& session, std::string_view text) {
  FakeExchange& exchange = bench.send("GET", with(session, "last-event-id", std::string{text}));
  const std::string_view value = *find_header(exchange.request(), "last-event-id");  // no blanks
  const auto id = parse_event_id(value);
  if (id) expect(to_text(*id) == value, "an event has one id");
  expect(exchange.status == 400 || exchange.status == 200, "it is refused or resumed");
  if (exchange.status == 200) {
    expect(id.has_value(), "only an id of ours resumes anything");
    expect(id->stream == 0 || id->stream == 2 || id->stream == 3, "only what there is is resumed");
    expect(exchange.finished == (id->stream != 0), "what is complete ends, and nothing else does");
    check_events(exchange, *id);
  }
  exchange.hang_up();
  bench.poll();
  expect(exchange.returned, "nothing is being answered after the end");
}

// Coming back changes nothing in a session, so many inputs may use one; but it keeps exchanges.
struct Place {
  Place() {
    add_tool(bench.server, "talk", talkative);
    session = session_with(bench, "own-a", "own-b");
    session_with(bench, "other-a", "other-b");
  }
  HttpBench bench;
  net::HttpHeaders session;
  int uses = 0;
};

void check(std::string_view input) {
  static auto place = std::make_unique<Place>();
  if (++place->uses > 500) place = std::make_unique<Place>();
  for (int lines = 0; !input.empty() && lines < 16; ++lines) {
    const std::string_view line = input.substr(0, input.find('\n'));
    input.remove_prefix(std::min(input.size(), line.size() + 1));
    resume(place->bench, place->session, line);
  }
}

}  // namespace
}  // namespace belljar::mcp

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  belljar::log::configure(belljar::log::Level::off, belljar::log::Format::text);
  belljar::mcp::check(belljar::fuzz::text_of(data, size));
  return 0;
}
