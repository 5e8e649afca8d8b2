#include "tools/run_result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "tools/testing.h"

namespace belljar::tools {
namespace {

using Kind = Outcome::Kind;

RunReport report(Kind kind, int code) {
  RunReport report;
  report.result.outcome.kind = kind;
  report.result.outcome.code = code;
  report.result.out.text = "printed\n";
  report.result.err.text = "complained\n";
  report.result.duration = std::chrono::microseconds{27449};
  report.timeout = milliseconds{30000};
  return report;
}

std::string text_of(const RunReport& report) {
  return World::text(run_tool_result(report), 0);
}

json::object structured_of(const RunReport& report) {
  return run_tool_result(report).structured.value();
}

const char* const kBoth = "\nstdout:\nprinted\n\nstderr:\ncomplained\n";

TEST(RunResult, OfASuccessIsTheOutput) {
  const mcp::ToolResult result = run_tool_result(report(Kind::exited, 0));
  EXPECT_FALSE(result.is_error);
  ASSERT_EQ(result.content.size(), 2u);
  EXPECT_EQ(World::text(result, 0), "Node.js process output:\nprinted\n");
}

TEST(RunResult, OfAFailureHasTheReasonAndBothStreams) {
  const std::string error = "Error during execution: ";
  EXPECT_EQ(text_of(report(Kind::exited, 3)), error + "the program exited with code 3" + kBoth);
  EXPECT_EQ(text_of(report(Kind::signaled, SIGSEGV)),
            error + "the program was killed by SIGSEGV" + kBoth);
  EXPECT_EQ(text_of(report(Kind::timed_out, 0)),
            error + "ETIMEDOUT: the program did not end within 30000 ms and was killed" + kBoth);
  EXPECT_EQ(
      text_of(report(Kind::out_of_memory, 0)),
      error + "the program ran out of memory and was killed: the sandbox may use 512 MiB" + kBoth);
  RunReport stopped = report(Kind::cancelled, 0);
  stopped.result.stop_reason = "the sandbox was stopped";
  EXPECT_EQ(text_of(stopped), error + "the program was cancelled: the sandbox was stopped" + kBoth);
  EXPECT_TRUE(run_tool_result(stopped).is_error);
}

TEST(RunResult, LeavesOutEmptyStreams) {
  EXPECT_EQ(failure_text("it broke", "", ""), "Error during execution: it broke");
}

TEST(RunResult, HasTelemetryThatIsJson) {
  const std::string text = World::text(run_tool_result(report(Kind::exited, 0)), 1);
  ASSERT_TRUE(text.starts_with("Telemetry:\n"));
  const json::value telemetry = json::parse(text.substr(11));
  EXPECT_EQ(telemetry.at("installTimeMs"), 0);
  EXPECT_EQ(telemetry.at("installOutput"), "Skipped npm install (no dependencies)");
  EXPECT_EQ(telemetry.at("runTimeMs"), 27.4);
}

TEST(RunResult, TellsHowItEndedInItsFields) {
  json::object fields = structured_of(report(Kind::exited, 3));
  EXPECT_EQ(fields["exitCode"], 3);
  EXPECT_TRUE(fields["signal"].is_null());
  EXPECT_EQ(fields["durationMs"], 27);
  EXPECT_EQ(fields["stdout"], "printed\n");
  EXPECT_EQ(fields["stderr"], "complained\n");
  fields = structured_of(report(Kind::signaled, SIGSEGV));
  EXPECT_TRUE(fields["exitCode"].is_null());
  EXPECT_EQ(fields["signal"], "SIGSEGV");
  fields = structured_of(report(Kind::timed_out, 0));
  EXPECT_EQ(fields["timedOut"], true);
  EXPECT_EQ(fields["oomKilled"], false);
  EXPECT_EQ(fields["signal"], "SIGKILL");
  EXPECT_EQ(structured_of(report(Kind::out_of_memory, 0))["oomKilled"], true);
}

TEST(RunResult, SaysHowStrongTheIsolationWas) {
  RunReport weak = report(Kind::exited, 0);
  EXPECT_EQ(structured_of(weak)["isolation"],
            json::parse(R"({"grade":"full","weaker":[],"boundary":"native"})"));
  weak.isolation = {Isolation::Grade::reduced, {"ids", "landlock"}, "Docker Engine 20.10, runc"};
  EXPECT_EQ(structured_of(weak)["isolation"], json::parse(R"({"grade":"reduced",
            "weaker":["ids","landlock"],"boundary":"Docker Engine 20.10, runc"})"));
}

TEST(RunResult, SaysIfEitherStreamWasTruncated) {
  RunReport cut = report(Kind::exited, 0);
  EXPECT_EQ(structured_of(cut)["truncated"], false);
  cut.result.err.truncated = true;
  EXPECT_EQ(structured_of(cut)["truncated"], true);
}

}  // namespace
}  // namespace belljar::tools
