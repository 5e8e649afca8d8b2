#include "sandbox/run.h"

#include <gtest/gtest.h>

#include "base/task_group.h"
#include "base/testing.h"
#include "drivers/fake/driver.h"

namespace belljar {
namespace {

Command script(std::string text) {
  Command command;
  command.argv = {"/bin/sh", "-c", std::move(text)};
  return command;
}

Task<RunResult> run_script(std::string text, RunLimits limits) {
  FakeDriver driver{co_await asio::this_coro::executor};
  SandboxSpec spec;
  const auto sandbox = co_await driver.create(std::move(spec));
  co_return co_await run_program(*sandbox, script(std::move(text)), limits, nullptr);
}

TEST(RunProgram, ReturnsTheOutcomeAndBothStreams) {
  const RunResult result = run(run_script("print a\nstderr b\nexit 4", RunLimits{}));
  EXPECT_EQ(result.outcome.code, 4);
  EXPECT_EQ(result.out.text, "a\n");
  EXPECT_EQ(result.err.text, "b\n");
  EXPECT_EQ(result.stop_reason, "");
}

TEST(RunProgram, KillsAProgramWhoseTimeIsUpAndKeepsItsOutput) {
  RunLimits limits;
  limits.timeout = milliseconds{1};
  const RunResult result = run(run_script("print a\nhang", limits));
  EXPECT_EQ(result.outcome.kind, Outcome::Kind::timed_out);
  EXPECT_EQ(result.out.text, "a\n");
  EXPECT_GE(result.duration, milliseconds{1});
}

TEST(RunProgram, CapsEachStream) {
  RunLimits limits;
  limits.output_limit = 1000;
  const RunResult result = run(run_script("spam 100000\nstderr b", limits));
  EXPECT_TRUE(result.out.truncated);
  EXPECT_FALSE(result.err.truncated);
  EXPECT_LT(result.out.text.size(), 1100u);
}

Task<std::string> pieces_seen_live() {
  FakeDriver driver{co_await asio::this_coro::executor};
  SandboxSpec spec;
  const auto sandbox = co_await driver.create(std::move(spec));
  std::string seen;
  LiveOutput live = [&seen](Stream stream, std::string_view bytes) {
    seen += stream == Stream::out ? "out:" : "err:";
    seen += bytes;
  };
  const RunLimits limits;
  co_await run_program(*sandbox, script("write a\nstderr b\nwrite c"), limits, live);
  co_return seen;
}

TEST(RunProgram, HandsOutputOnAsItArrives) {
  EXPECT_EQ(run(pieces_seen_live()), "out:aerr:b\nout:c");
}

Task<> run_forever(Sandbox& sandbox) {
  const RunLimits limits;
  co_await run_program(sandbox, script("hang"), limits, nullptr);
}

Task<> cancel_a_run() {
  const auto executor = co_await asio::this_coro::executor;
  FakeDriver driver{executor};
  SandboxSpec spec;
  const auto sandbox = co_await driver.create(std::move(spec));
  TaskGroup group{executor};
  group.spawn("run", run_forever(*sandbox));
  while (driver.live_processes() == 0) co_await sleep_for(milliseconds{0});
  co_await group.stop();
  EXPECT_EQ(driver.live_processes(), 0u);
}

TEST(RunProgram, KillsTheProgramWhenTheTaskIsCancelled) {
  run(cancel_a_run());
}

}  // namespace
}  // namespace belljar
