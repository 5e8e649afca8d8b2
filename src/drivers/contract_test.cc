// What every driver promises (sandbox/driver.h), asked of each driver there is: programs, their
// output and their end.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "base/posix.h"
#include "drivers/contract_fixture.h"
#include "sandbox/run.h"

namespace belljar::contract {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

Task<> output_and_status(Bench& bench) {
  const RunResult result = co_await bench.run_alone(kHelloAndExit3);
  EXPECT_EQ(result.out.text, "hello\n");
  EXPECT_EQ(result.outcome.kind, Outcome::Kind::exited);
  EXPECT_EQ(result.outcome.code, 3);
  EXPECT_FALSE(result.outcome.ok());
}
TEST_P(DriverContract, DeliversTheOutputAndTheExitStatus) {
  check(output_and_status);
}

Task<> separate_streams(Bench& bench) {
  const RunResult result = co_await bench.run_alone(kBothStreams);
  EXPECT_EQ(result.out.text, "to stdout\n");
  EXPECT_EQ(result.err.text, "to stderr\n");
  EXPECT_TRUE(result.outcome.ok());
}
TEST_P(DriverContract, KeepsTheStreamsApart) {
  check(separate_streams);
}

Task<> input_environment_arguments(Bench& bench) {
  Command command = bench.command(kShowWhatItWasGiven);
  command.input = "from stdin\n";
  command.env["COLOUR"] = "very blue; $(id)";
  command.argv.emplace_back("first");
  command.argv.emplace_back("");
  command.argv.emplace_back("--third 'quoted' \"ü\"");
  const RunResult result = co_await bench.run_alone(std::move(command));
  EXPECT_EQ(result.out.text, "from stdin\nvery blue; $(id)\nfirst\n\n--third 'quoted' \"ü\"\n");
}
TEST_P(DriverContract, HandsOverInputEnvironmentAndArgumentsUnchanged) {
  check(input_environment_arguments);
}

Task<> source_in_place(Bench& bench) {
  const RunResult result = co_await bench.run_alone(kOwnPath);
  EXPECT_EQ(result.out.text, "/workspace/program1.mjs\n");
}
TEST_P(DriverContract, PutsTheSourceFileInItsPlace) {
  check(source_in_place);
}

Task<> large_input(Bench& bench) {
  Command command = bench.command(kCopyInput);
  command.input = std::string(1u << 20, 'i');
  const RunResult result = co_await bench.run_alone(std::move(command));
  EXPECT_EQ(result.out.total_bytes, 1u << 20);
  EXPECT_TRUE(result.outcome.ok());
}
TEST_P(DriverContract, TakesMoreInputThanAPipeHolds) {
  check(large_input);
}

Task<> unread_input(Bench& bench) {
  Command command = bench.command(kHelloAndExit3);
  command.input = std::string(1u << 20, 'i');
  const RunResult result = co_await bench.run_alone(std::move(command));
  EXPECT_EQ(result.outcome.code, 3);
}
TEST_P(DriverContract, DoesNotMindInputThatNobodyReads) {
  check(unread_input);
}

Task<> death_by_signal(Bench& bench) {
  const RunResult result = co_await bench.run_alone(kDieBySegmentationFault);
  EXPECT_EQ(result.outcome.kind, Outcome::Kind::signaled);
  EXPECT_EQ(result.outcome.code, SIGSEGV);
}
TEST_P(DriverContract, NamesTheSignalThatKilledTheProgram) {
  check(death_by_signal);
}

Task<> timeout_kills_the_tree(Bench& bench) {
  const auto sandbox = co_await bench.create();
  RunLimits limits;
  limits.timeout = bench.moment();
  const RunResult result =
      co_await run_program(*sandbox, bench.command(kHangWithAChild), limits, nullptr);
  EXPECT_EQ(result.outcome.kind, Outcome::Kind::timed_out);
  EXPECT_TRUE(co_await bench.becomes_empty(*sandbox));
  co_await sandbox->destroy();
}
TEST_P(DriverContract, KillsTheWholeTreeWhenTheTimeIsUp) {
  check(timeout_kills_the_tree);
}

Task<> kill_says_why(Bench& bench) {
  const auto sandbox = co_await bench.create();
  Sink sink;
  const auto process = co_await sandbox->start(bench.command(kHangWithAChild), sink);
  process->kill(Outcome::Kind::cancelled);
  process->kill(Outcome::Kind::timed_out);  // the first one counts
  const Outcome outcome = co_await process->wait();
  EXPECT_EQ(outcome.kind, Outcome::Kind::cancelled);
  const Outcome again = co_await process->wait();
  EXPECT_EQ(again.kind, Outcome::Kind::cancelled);
  co_await sandbox->destroy();
}
TEST_P(DriverContract, ReportsWhyARunningProgramWasKilled) {
  check(kill_says_why);
}

Task<> kill_after_the_end(Bench& bench) {
  const auto sandbox = co_await bench.create();
  Sink sink;
  const auto process = co_await sandbox->start(bench.command(kHelloAndExit3), sink);
  const Outcome outcome = co_await process->wait();
  process->kill(Outcome::Kind::timed_out);
  const Outcome again = co_await process->wait();
  EXPECT_EQ(outcome.kind, Outcome::Kind::exited);
  EXPECT_EQ(again.kind, Outcome::Kind::exited);
  EXPECT_EQ(again.code, 3);
  co_await sandbox->destroy();
}
TEST_P(DriverContract, KeepsTheOutcomeWhenKilledAfterTheEnd) {
  check(kill_after_the_end);
}

Task<> cancelled_wait(Bench& bench) {
  const auto sandbox = co_await bench.create();
  Sink sink;
  const auto waiting = co_await sandbox->start(bench.command(kAwaitFlag), sink);
  const auto outcome = co_await with_timeout(milliseconds{5}, waiting->wait());
  EXPECT_FALSE(outcome.has_value());
  const RunResult other = co_await bench.run_in(*sandbox, kMakeFlag);
  EXPECT_TRUE(other.outcome.ok());
  const Outcome later = co_await waiting->wait();
  EXPECT_TRUE(later.ok());
  EXPECT_EQ(sink.out, "saw the flag\n");
  co_await sandbox->destroy();
}
TEST_P(DriverContract, RunsTwoProgramsAtOnceAndSurvivesACancelledWait) {
  check(cancelled_wait);
}

Task<> dropped_process(Bench& bench) {
  const auto sandbox = co_await bench.create();
  {
    Sink sink;
    const auto process = co_await sandbox->start(bench.command(kHangWithAChild), sink);
  }
  EXPECT_TRUE(co_await bench.becomes_empty(*sandbox));
  co_await sandbox->destroy();
}
TEST_P(DriverContract, KillsAProgramWhoseProcessIsDestroyed) {
  check(dropped_process);
}

Task<> output_while_running(Bench& bench) {
  const auto sandbox = co_await bench.create();
  Sink sink;
  const auto process = co_await sandbox->start(bench.command(kPrintAndHang), sink);
  while (sink.out.empty()) co_await sleep_for(milliseconds{1});
  EXPECT_EQ(sink.out, "still here\n");
  process->kill(Outcome::Kind::cancelled);
  co_await process->wait();
  co_await sandbox->destroy();
}
TEST_P(DriverContract, DeliversOutputWhileTheProgramRuns) {
  check(output_while_running);
}

Task<> output_bomb(Bench& bench) {
  const RunResult result = co_await bench.run_alone(kPrint100MiB);
  EXPECT_TRUE(result.outcome.ok());
  EXPECT_TRUE(result.out.truncated);
  EXPECT_EQ(result.out.total_bytes, 100u << 20);
  EXPECT_LT(result.out.text.size(), (1u << 20) + 64);
  EXPECT_THAT(result.out.text, HasSubstr("[… 99 MiB omitted …]"));
}
TEST_P(DriverContract, LetsAnOutputBombEndWithTheMiddleDropped) {
  check(output_bomb);
}

Task<> daemon_left_behind(Bench& bench) {
  const RunResult result = co_await bench.run_alone(kLeaveADaemon);
  EXPECT_TRUE(result.outcome.ok());
  EXPECT_EQ(result.out.text, "gone\n");
}
TEST_P(DriverContract, DoesNotWaitForAChildThatHoldsTheOutputOpen) {
  check(daemon_left_behind);
}

Task<> destroy_while_running(Bench& bench) {
  const auto sandbox = co_await bench.create();
  Sink sink;
  const auto process = co_await sandbox->start(bench.command(kHangWithAChild), sink);
  co_await sandbox->destroy();
  const Outcome outcome = co_await process->wait();
  EXPECT_EQ(outcome.kind, Outcome::Kind::cancelled);
  co_await sandbox->destroy();
}
TEST_P(DriverContract, DestroyEndsWhatRunsAndMayBeRepeated) {
  check(destroy_while_running);
}

Task<> drop_while_running(Bench& bench) {
  Sink sink;
  std::unique_ptr<Process> process;
  {
    const auto sandbox = co_await bench.create();
    process = co_await sandbox->start(bench.command(kHangWithAChild), sink);
  }
  const Outcome outcome = co_await process->wait();
  EXPECT_EQ(outcome.kind, Outcome::Kind::cancelled);
}
TEST_P(DriverContract, ASandboxThatIsDroppedEndsWhatRuns) {
  check(drop_while_running);
}

Task<> start_after_destroy(Bench& bench) {
  const auto sandbox = co_await bench.create();
  co_await sandbox->destroy();
  bool refused = false;
  try {
    co_await bench.run_in(*sandbox, kHelloAndExit3);
  } catch (const Error&) {
    refused = true;
  }
  EXPECT_TRUE(refused);
}
TEST_P(DriverContract, StartsNothingAfterDestroy) {
  check(start_after_destroy);
}

Task<> missing_program(Bench& bench) {
  Command command;
  command.argv = {"/no/such/program", "x"};
  std::optional<Code> code;
  std::string text;
  try {
    co_await bench.run_alone(std::move(command));
  } catch (const Error& e) {
    code = e.code();
    text = e.what();
  }
  EXPECT_EQ(code, Code::not_found);
  EXPECT_THAT(text, HasSubstr("/no/such/program"));
}
TEST_P(DriverContract, AProgramThatDoesNotExistIsAnErrorThatNamesIt) {
  check(missing_program);
}

Task<> out_of_memory(Bench& bench) {
  SandboxSpec spec = bench.spec();
  spec.limits.memory = 128u << 20;
  const auto sandbox = co_await bench.create(std::move(spec));
  const RunResult result = co_await bench.run_in(*sandbox, kEatMemory);
  EXPECT_EQ(result.outcome.kind, Outcome::Kind::out_of_memory);
  if (bench.has_own_kernel()) co_return;
  const RunResult next = co_await bench.run_in(*sandbox, kBothStreams);
  EXPECT_TRUE(next.outcome.ok()) << "the sandbox is of no use afterwards";
  co_await sandbox->destroy();
}
TEST_P(DriverContract, TellsThatAProgramRanOutOfMemory) {
  check(out_of_memory);
}

Task<> shell(Bench& bench) {
  Command command;
  command.argv = {"/bin/sh", "-c", "exit 7"};
  const RunResult result = co_await bench.run_alone(std::move(command));
  EXPECT_EQ(result.outcome.kind, Outcome::Kind::exited);
  EXPECT_EQ(result.outcome.code, 7);
}
TEST_P(DriverContract, HasAShell) {
  check(shell);
}

Task<> own_files(Bench& bench) {
  const auto first = co_await bench.create();
  const auto second = co_await bench.create();
  co_await bench.run_in(*first, kMakeFlag);
  const RunResult same = co_await bench.run_in(*first, kFlagExists);
  const RunResult other = co_await bench.run_in(*second, kFlagExists);
  EXPECT_EQ(same.out.text, "true\n");
  EXPECT_EQ(other.out.text, "false\n");
  co_await first->destroy();
  co_await second->destroy();
}
TEST_P(DriverContract, KeepsFilesBetweenProgramsButNotBetweenSandboxes) {
  check(own_files);
}

Task<> many_sandboxes(Bench& bench) {
  const int count = bench.is_container() ? 20 : 100;  // an engine takes a second for each
  for (int i = 0; i < count; ++i) {
    const auto sandbox = co_await bench.create();
    if (i % 2 == 0) co_await sandbox->destroy();
  }
  std::vector<std::unique_ptr<Sandbox>> together;
  for (int i = 0; i < count / 5; ++i) together.push_back(co_await bench.create());
  const RunResult result = co_await bench.run_in(*together.back(), kHelloAndExit3);
  EXPECT_EQ(result.out.text, "hello\n");
  for (const auto& sandbox : together) co_await sandbox->destroy();
}
TEST_P(DriverContract, MakesAndDestroysManySandboxes) {
  check(many_sandboxes);
}

Task<> probe_and_recover(Bench& bench) {
  const auto sandbox = co_await bench.create();
  const Capabilities capabilities = co_await bench.driver().probe();
  EXPECT_FALSE(capabilities.driver.empty());
  for (const Feature& feature : capabilities.features) {
    EXPECT_FALSE(feature.name.empty());
    const bool enforced = feature.state == Feature::State::enforced;
    EXPECT_TRUE(enforced || !feature.fix.empty()) << feature.name;
  }
  co_await bench.driver().recover();
  const RunResult result = co_await bench.run_in(*sandbox, kHelloAndExit3);
  EXPECT_EQ(result.out.text, "hello\n") << "recover() touched a living sandbox";
  co_await sandbox->destroy();
}
TEST_P(DriverContract, ProbesAndRecoversWithoutDisturbingTheLiving) {
  check(probe_and_recover);
}

Task<> beside_another(Bench& bench) {
  const auto executor = co_await asio::this_coro::executor;
  const auto first = co_await bench.create();
  const auto driver = bench.make_another(executor);
  const auto second = co_await driver->create(bench.spec());
  EXPECT_EQ(second->isolation().weaker, first->isolation().weaker);
  co_await second->destroy();
  co_await driver->shut_down();
  const RunResult result = co_await bench.run_in(*first, kHelloAndExit3);
  EXPECT_EQ(result.out.text, "hello\n") << "the end of one driver touched the other";
  co_await first->destroy();
}
TEST_P(DriverContract, IsAsStrongBesideAnotherOfTheSameProcess) {
  check(beside_another);
}

}  // namespace
}  // namespace belljar::contract
