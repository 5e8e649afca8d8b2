// Bytes of a client → lines → JSON-RPC of both eras, against a server with one feature of each
// kind.
#include "base/clock.h"
#include "base/log.h"
#include "base/utf8.h"
#include "fuzz.h"
#include "mcp/call_tasks.h"
#include "mcp/line_splitter.h"
#include "small_server.h"

namespace belljar::mcp {
namespace {

void check_outgoing(const Outgoing& outgoing) {
  using fuzz::expect;
  if (outgoing.is_hint()) return;
  expect(is_utf8(outgoing.text), "what is sent is UTF-8");
  expect(outgoing.text.find('\n') == std::string::npos, "what is sent is one line");
  const json::value value = json::parse(outgoing.text);
  expect(value.is_object() && value.at("jsonrpc") == "2.0", "what is sent is JSON-RPC");
}

Task<> stop(Connection& connection, CallTasks& tasks) {
  co_await connection.stop();
  co_await tasks.stop();
}

void serve(std::string_view input) {
  asio::io_context context{1};
  SystemClock clock;
  TaskOptions options;
  options.answer_within = milliseconds{0};
  CallTasks tasks{context.get_executor(), clock, options};
  server().use(tasks);
  Connection connection{context.get_executor(), server(), "", check_outgoing};
  LineSplitter splitter{16384};
  const auto take = [&](const std::optional<LineSplitter::Line>& line) {
    if (line && !line->too_long) connection.handle(line->text);
    context.poll();
    return line.has_value();
  };
  for (const std::string_view chunk :
       {input.substr(0, input.size() / 2), input.substr(input.size() / 2)}) {
    splitter.feed(chunk);
    while (take(splitter.next())) {
    }
  }
  take(splitter.finish());
  server().announce_tools_changed();
  server().announce_resources_changed();
  server().announce_resource_updated("note:a");
  connection.end_subscriptions();
  asio::co_spawn(context, stop(connection, tasks), [](const std::exception_ptr& error) {
    if (error) std::rethrow_exception(error);
  });
  context.restart();
  context.run();
  fuzz::expect(connection.in_flight() == 0, "nothing runs after stop()");
}

}  // namespace
}  // namespace belljar::mcp

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  belljar::log::configure(belljar::log::Level::off, belljar::log::Format::text);
  belljar::mcp::serve(belljar::fuzz::text_of(data, size));
  return 0;
}
