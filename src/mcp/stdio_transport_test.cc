#include "mcp/stdio_transport.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <csignal>

#include "base/posix.h"
#include "mcp/testing.h"

namespace belljar::mcp {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

// A server on two pipes, and the client at their other ends.
class Wire {
 public:
  Wire(const asio::any_io_executor& executor, Server& server, StdioOptions options = {})
      : to_server_{make_pipe()}, from_server_{make_pipe()} {
    std::signal(SIGPIPE, SIG_IGN);
    options.input = to_server_.read.get();
    options.output = from_server_.write.get();
    transport_.emplace(executor, server, options);
    // The transport has opened its own; these would keep the pipes open after it is gone.
    to_server_.read.reset();
    from_server_.write.reset();
    writer_.emplace(executor, to_server_.write.get(), StdioStream::Direction::output);
    reader_.emplace(executor, from_server_.read.get(), StdioStream::Direction::input);
    to_server_.write.reset();
    from_server_.read.reset();
  }

  StdioTransport& transport() { return *transport_; }
  Task<> run() { return transport_->run(); }
  Task<> send(std::string text) { return writer_->write(std::move(text)); }
  void hang_up() { writer_.reset(); }
  void stop_listening() { reader_.reset(); }

  Task<std::string> receive() {
    while (true) {
      const size_t newline = received_.find('\n');
      if (newline != std::string::npos) {
        std::string line = received_.substr(0, newline);
        received_.erase(0, newline + 1);
        co_return line;
      }
      const std::string_view some = co_await reader_->read();
      if (some.empty()) co_return "<end>";
      received_ += some;
    }
  }

  // All lines up to the end of the output.
  Task<std::vector<std::string>> receive_all() {
    transport_.reset();
    std::vector<std::string> lines;
    while (true) {
      lines.push_back(co_await receive());
      if (lines.back() == "<end>") break;
    }
    lines.pop_back();
    co_return lines;
  }

 private:
  Pipe to_server_;
  Pipe from_server_;
  std::optional<StdioTransport> transport_;
  std::optional<StdioStream> writer_;
  std::optional<StdioStream> reader_;
  std::string received_;
};

const std::string kPong = R"({"jsonrpc":"2.0","id":1,"result":{}})";
const std::string kPing = R"({"jsonrpc":"2.0","id":1,"method":"ping"})";

// Sends `text`, hangs up, runs the server to its end and returns what it said.
Task<std::vector<std::string>> answers_to(std::string text, StdioOptions options = {}) {
  const auto executor = co_await asio::this_coro::executor;
  Server server{demo()};
  add_tool(server, "wait", wait_forever);
  Wire wire{executor, server, options};
  TaskGroup tasks{executor};
  tasks.spawn("serve", wire.run());
  co_await wire.send(std::move(text));
  wire.hang_up();
  while (tasks.size() > 0) co_await let_run();
  co_return co_await wire.receive_all();
}

TEST(StdioTransport, AnswersEachLineAndReturnsAtTheEndOfInput) {
  EXPECT_THAT(run(answers_to(kPing + "\n" + kPing + "\n")), ElementsAre(kPong, kPong));
}

TEST(StdioTransport, IgnoresBlankLinesAndCarriageReturns) {
  EXPECT_THAT(run(answers_to("\n\r\n  \n" + kPing + "\r\n\n")), ElementsAre(kPong));
}

TEST(StdioTransport, AnswersALastLineWithoutNewline) {
  EXPECT_THAT(run(answers_to(kPing)), ElementsAre(kPong));
}

TEST(StdioTransport, AnswersRubbishWithAnErrorAndGoesOn) {
  const auto answers =
      run(answers_to("{\"trunc\n\xff\xfe\n" + std::string(3000, '[') + "\n" + kPing));
  ASSERT_THAT(answers, SizeIs(4));
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(answers[static_cast<size_t>(i)],
                StartsWith(R"({"jsonrpc":"2.0","error":{"code":-32700)"));
  }
  EXPECT_EQ(answers[3], kPong);
}

TEST(StdioTransport, AnswersALineThatIsTooLongOnceAndSkipsIt) {
  StdioOptions options;
  options.max_line = 1000;
  const std::string line(1u << 20, 'x');
  EXPECT_THAT(
      run(answers_to(line + "\n" + kPing + "\n", options)),
      ElementsAre(R"({"jsonrpc":"2.0","error":{"code":-32600,"message":"Line too long"}})", kPong));
}

TEST(StdioTransport, TakesALongLineThatIsNotTooLong) {
  const std::string padding(5u << 20, 'x');
  const auto line = request("1", "ping", fmt::format(R"({{"padding":"{}"}})", padding));
  EXPECT_THAT(run(answers_to(line + "\n")), ElementsAre(kPong));
}

TEST(StdioTransport, CancelsAndDoesNotAnswerCallsInFlightAtTheEndOfInput) {
  EXPECT_THAT(run(answers_to(request("1", "tools/call", R"({"name":"wait"})") + "\n")), IsEmpty());
}

Task<std::vector<std::string>> answers_during_a_call() {
  const auto executor = co_await asio::this_coro::executor;
  Server server{demo()};
  add_tool(server, "wait", wait_forever);
  Wire wire{executor, server};
  TaskGroup tasks{executor};
  tasks.spawn("serve", wire.run());
  co_await wire.send(request("2", "tools/call", R"({"name":"wait"})") + "\n" + kPing + "\n");
  std::vector<std::string> lines;
  lines.push_back(co_await wire.receive());
  co_await wire.send(kPing + "\n");
  lines.push_back(co_await wire.receive());
  co_await tasks.stop();
  co_return lines;
}

TEST(StdioTransport, ReadsOnWhileAToolRuns) {
  EXPECT_THAT(run(answers_during_a_call()), ElementsAre(kPong, kPong));
}

struct SlowReader {
  bool stopped_reading = false;
  bool in_order = true;
};

Task<SlowReader> read_late() {
  constexpr int kCount = 20000;
  const auto executor = co_await asio::this_coro::executor;
  Server server{demo()};
  StdioOptions options;
  options.max_pending = 1000;
  Wire wire{executor, server, options};
  TaskGroup tasks{executor};
  tasks.spawn("serve", wire.run());
  std::string pings;
  for (int i = 0; i < kCount; ++i) pings += request(std::to_string(i), "ping") + "\n";
  TaskGroup sender{executor};
  sender.spawn("send", wire.send(std::move(pings)));
  for (int i = 0; i < 100; ++i) co_await let_run();
  SlowReader result;
  // Both pipes together hold a tenth of it: if all were sent, the server would have queued the
  // rest.
  result.stopped_reading = sender.size() > 0;
  for (int i = 0; i < kCount; ++i) {
    const std::string line = co_await wire.receive();
    if (line != fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{{}}}})", i)) {
      result.in_order = false;
    }
  }
  while (sender.size() > 0) co_await let_run();
  wire.hang_up();
  while (tasks.size() > 0) co_await let_run();
  co_return result;
}

TEST(StdioTransport, StopsReadingFromAClientThatDoesNotRead) {
  const SlowReader result = run(read_late());
  EXPECT_TRUE(result.stopped_reading);
  EXPECT_TRUE(result.in_order);
}

Task<ToolResult> say_much(json::object, Call&) {
  ToolResult result;
  result.content.emplace_back(text_block(std::string(1u << 20, 'x')));
  co_return result;
}

Task<> leave_without_reading() {
  const auto executor = co_await asio::this_coro::executor;
  Server server{demo()};
  add_tool(server, "say", say_much);
  StdioOptions options;
  options.flush_limit = milliseconds{1};
  Wire wire{executor, server, options};
  TaskGroup tasks{executor};
  tasks.spawn("serve", wire.run());
  co_await wire.send(request("1", "tools/call", R"({"name":"say"})") + "\n");
  wire.hang_up();
  while (tasks.size() > 0) co_await let_run();
}

TEST(StdioTransport, DoesNotWaitForeverForAClientThatDoesNotRead) {
  run(leave_without_reading());
}

Task<> close_the_output() {
  const auto executor = co_await asio::this_coro::executor;
  Server server{demo()};
  Wire wire{executor, server};
  TaskGroup tasks{executor};
  tasks.spawn("serve", wire.run());
  wire.stop_listening();
  co_await wire.send(kPing + "\n");
  while (tasks.size() > 0) co_await let_run();
}

TEST(StdioTransport, ReturnsWhenTheOutputIsClosed) {
  run(close_the_output());
}

enum class Ending { stop, cancel };

Task<std::vector<std::string>> end_politely(Ending ending) {
  const auto executor = co_await asio::this_coro::executor;
  Server server{demo()};
  add_tool(server, "wait", wait_forever);
  Wire wire{executor, server};
  TaskGroup tasks{executor};
  const auto id = tasks.spawn("serve", wire.run());
  co_await wire.send(
      modern("7", "subscriptions/listen", R"("notifications":{"toolsListChanged":true})") + "\n" +
      request("8", "tools/call", R"({"name":"wait"})") + "\n");
  co_await wire.receive();  // the acknowledgement
  if (ending == Ending::stop) wire.transport().stop();
  if (ending == Ending::cancel) tasks.cancel(id);
  while (tasks.size() > 0) co_await let_run();
  co_return co_await wire.receive_all();
}

TEST(StdioTransport, TellsSubscribersWhenItIsStopped) {
  EXPECT_THAT(run(end_politely(Ending::stop)), ElementsAre(HasSubstr(R"("id":7,"result":)")));
}

TEST(StdioTransport, TellsSubscribersWhenItsTaskIsCancelled) {
  EXPECT_THAT(run(end_politely(Ending::cancel)), ElementsAre(HasSubstr(R"("id":7,"result":)")));
}

Task<> serve_files(int input, int output) {
  Server server{demo()};
  StdioOptions options;
  options.input = input;
  options.output = output;
  StdioTransport transport{co_await asio::this_coro::executor, server, options};
  co_await transport.run();
}

TEST(StdioTransport, ServesFromFileToFile) {
  const Fd input = make_memory_file("input", kPing + "\n" + kPing);
  const Fd output{::memfd_create("output", MFD_CLOEXEC)};
  run(serve_files(input.get(), output.get()));
  EXPECT_EQ(read_file(fmt::format("/proc/self/fd/{}", output.get())), kPong + "\n" + kPong + "\n");
}

}  // namespace
}  // namespace belljar::mcp
