// Bytes of a client → lines → JSON-RPC of both eras, against a server with one feature of each
// kind.
#include "base/log.h"
#include "base/utf8.h"
#include "fuzz.h"
#include "mcp/line_splitter.h"
#include "mcp/testing.h"

namespace belljar::mcp {
namespace {

class Greeting final : public Prompt {
 public:
  Greeting() : info_{"greet", "", "", {PromptArgument{"who", "", "", true}}} {}
  const PromptInfo& info() const override { return info_; }
  Task<PromptResult> get(json::object arguments, Call&) override {
    PromptResult result;
    result.messages.emplace_back(
        prompt_message("user", text_block(arguments.at("who").as_string())));
    co_return result;
  }

 private:
  PromptInfo info_;
};

class Notes final : public ResourceSource {
 public:
  Task<std::vector<ResourceInfo>> list(Call&) override {
    co_return std::vector<ResourceInfo>{{"note:a", "a", "", "", "", 1},
                                        {"note:b", "b", "", "", "", 2}};
  }
  std::vector<ResourceTemplateInfo> templates() const override {
    return {{"note:{name}", "note", "", "", ""}};
  }
  Task<std::optional<json::array>> read(std::string uri, Call&) override {
    if (!uri.starts_with("note:")) co_return std::nullopt;
    json::array contents;
    contents.emplace_back(text_contents(uri, "text/plain", uri));
    co_return contents;
  }
};

class Names final : public Completer {
 public:
  Task<std::optional<Completion>> complete(CompletionRequest request, Call&) override {
    co_return Completion{{request.value + "a", request.value + "b"}, 2};
  }
};

Task<ToolResult> talkative(json::object arguments, Call& call) {
  call.progress("half", 2);
  call.log(LogLevel::warning, "fuzz", json::value(arguments));
  if (arguments.contains("fail")) fail(Code::denied, "{}", json::serialize(arguments));
  co_return co_await echo(std::move(arguments), call);
}

Server& server() {
  static Server one{demo(), ServerOptions{.page_size = 1, .max_in_flight = 8}};
  if (!one.tools().empty()) return one;
  add_tool(one, "talk", talkative);
  add_tool(one, "wait", wait_forever);
  one.add(std::make_unique<Greeting>());
  one.add(std::make_unique<Notes>());
  one.add(std::make_unique<Names>());
  return one;
}

void check_outgoing(const Outgoing& outgoing) {
  using fuzz::expect;
  expect(is_utf8(outgoing.text), "what is sent is UTF-8");
  expect(outgoing.text.find('\n') == std::string::npos, "what is sent is one line");
  const json::value value = json::parse(outgoing.text);
  expect(value.is_object() && value.at("jsonrpc") == "2.0", "what is sent is JSON-RPC");
}

void serve(std::string_view input) {
  asio::io_context context{1};
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
  asio::co_spawn(context, connection.stop(), [](const std::exception_ptr& error) {
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
