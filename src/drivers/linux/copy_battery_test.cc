#include "drivers/linux/copy_battery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "base/testing.h"

namespace belljar::linux_driver {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr CopyProgram kTwo[] = {{"first.mjs", "1"}, {"second.ts", "2"}};
constexpr CopyProgram kRandom[] = {{kRandomProgram, "3"}};

RunResult result_of(std::string out, std::string err = "", int code = 0) {
  RunResult result;
  result.out.text = std::move(out);
  result.err.text = std::move(err);
  result.outcome.code = code;
  return result;
}

// Gives the copies and the executed programs what they print, and sees what is asked for.
struct Bench {
  std::vector<RunResult> copied;
  RunResult executed;
  std::vector<std::string> asked{};

  Task<RunResult> run(const CopyProgram& program, StartWay way) {
    asked.push_back(std::string{program.file} + " " + name_of(way));
    if (way == StartWay::exec) co_return executed;
    RunResult result = copied.front();
    if (copied.size() > 1) copied.erase(copied.begin());
    co_return result;
  }

  std::string compare(std::span<const CopyProgram> programs) {
    RunCopyProgram run_one = [this](const CopyProgram& program, StartWay way) {
      return run(program, way);
    };
    const auto difference = belljar::run(compare_copies(programs, std::move(run_one)));
    return difference ? difference->program + ": " + difference->reason : "";
  }
};

TEST(CopyBattery, RunsEachProgramInBothWays) {
  Bench bench{{result_of("a\n")}, result_of("a\n")};
  EXPECT_EQ(bench.compare(kTwo), "");
  EXPECT_THAT(bench.asked,
              ElementsAre("first.mjs fork", "first.mjs exec", "second.ts fork", "second.ts exec"));
}

TEST(CopyBattery, NamesTheFirstLineThatDiffers) {
  Bench other{{result_of("a\nb\nc\n")}, result_of("a\nB\nC\n")};
  EXPECT_EQ(other.compare(kTwo),
            "first: line 2 of stdout is \"b\" in a copy, and \"B\" if executed");
  EXPECT_EQ(other.asked.size(), 2u);
  Bench shorter{{result_of("a\n")}, result_of("a\nb")};
  EXPECT_EQ(shorter.compare(kTwo),
            "first: line 2 of stdout is \"\" in a copy, and \"b\" if executed");
  Bench cut{{result_of("a")}, result_of("a\nb\n")};
  EXPECT_EQ(cut.compare(kTwo),
            "first: line 2 of stdout is nothing in a copy, and \"b\" if executed");
  Bench errors{{result_of("", "x")}, result_of("", "y")};
  EXPECT_EQ(errors.compare(kTwo),
            "first: line 1 of stderr is \"x\" in a copy, and \"y\" if executed");
}

TEST(CopyBattery, LeavesTheNumberOfTheProcessOut) {
  Bench bench{{result_of("", "(node:12) Warning: a (node:7)")},
              result_of("", "(node:9) Warning: a (node:123)")};
  EXPECT_EQ(bench.compare(kTwo), "");
  bench.executed.err.text = "(node:9) Warning: b (node:123)";
  EXPECT_THAT(bench.compare(kTwo), HasSubstr("line 1 of stderr"));
  Bench in_output{{result_of("(node:12)")}, result_of("(node:9)")};
  EXPECT_THAT(in_output.compare(kTwo), HasSubstr("line 1 of stdout"));
}

TEST(CopyBattery, ComparesHowTheyEnd) {
  Bench codes{{result_of("a", "so\n", 1)}, result_of("a", "so\n", 0)};
  EXPECT_EQ(codes.compare(kTwo),
            "first: a copy ended by exit status 1: \"so\\n\", an executed one by exit status 0");
  Bench crash{{result_of("a")}, result_of("a")};
  crash.copied[0].outcome.kind = Outcome::Kind::signaled;
  crash.copied[0].outcome.code = 11;
  EXPECT_EQ(crash.compare(kTwo),
            "first: a copy ended by SIGSEGV, an executed one by exit status 0");
  Bench hang{{result_of("a")}, result_of("a")};
  hang.copied[0].outcome.kind = Outcome::Kind::timed_out;
  EXPECT_THAT(hang.compare(kTwo), HasSubstr("a copy ended by its time being up"));
}

TEST(CopyBattery, SaysNothingOfCopiesIfTheExecutedProgramCannotBeRun) {
  Bench bench{{result_of("a")}, result_of("a")};
  bench.copied[0].outcome.kind = Outcome::Kind::timed_out;
  bench.executed.outcome.kind = Outcome::Kind::timed_out;
  EXPECT_THROW(bench.compare(kTwo), Error);
  bench.executed.outcome.kind = Outcome::Kind::out_of_memory;
  EXPECT_THROW(bench.compare(kTwo), Error);
}

TEST(CopyBattery, WantsEveryRandomValueToBeAnother) {
  Bench good{{result_of("1\n2\n"), result_of("3\n4\n")}, {}};
  EXPECT_EQ(good.compare(kRandom), "");
  EXPECT_THAT(good.asked, ElementsAre("random.mjs fork", "random.mjs fork"));
  Bench same{{result_of("1\n2\n"), result_of("3\n2\n")}, {}};
  EXPECT_EQ(same.compare(kRandom), "random: line 2 is \"2\" in two copies");
  Bench silent{{result_of(""), result_of("1\n2\n")}, {}};
  EXPECT_EQ(silent.compare(kRandom), "random: two copies print different numbers of lines");
  Bench broken{{result_of("1\n"), result_of("2\n", "", 1)}, {}};
  EXPECT_EQ(broken.compare(kRandom), "random: a copy ended by exit status 1");
}

TEST(CopyBattery, HasThePrograms) {
  std::map<std::string_view, std::string_view> programs;
  for (const CopyProgram& program : copy_programs()) programs[program.file] = program.text;
  EXPECT_GE(programs.size(), 20u);
  EXPECT_THAT(std::string{programs[kRandomProgram]}, HasSubstr("crypto.randomUUID()"));
  EXPECT_THAT(std::string{programs["files.mjs"]}, HasSubstr("`a/${i}`"));
  EXPECT_TRUE(std::all_of(programs.begin(), programs.end(), [](const auto& program) {
    return program.second.starts_with("// ") && program.second.ends_with("\n");
  }));
}

TEST(CopyBattery, RunsTypeScriptAsSuch) {
  const Command script = command_of(kTwo[0]);
  const Command typed = command_of(kTwo[1]);
  EXPECT_EQ(script.argv[1], "/workspace/index.js");
  EXPECT_EQ(typed.argv[1], "/workspace/index.ts");
  EXPECT_EQ(typed.source->path, typed.argv[1]);
  EXPECT_EQ(typed.source->content, "2");
}

}  // namespace
}  // namespace belljar::linux_driver
