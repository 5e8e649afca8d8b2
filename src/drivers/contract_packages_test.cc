// What every driver promises about packages that are mounted into a sandbox.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "base/task_group.h"
#include "drivers/contract_fixture.h"
#include "drivers/contract_packages.h"
#include "sandbox/run.h"

namespace belljar::contract {
namespace {

const Program kShow{
    R"(import { readFileSync } from 'node:fs';
       for (const name of ['kept/index.js', 'gone/index.js', 'added/index.js', 'second/index.js']) {
         try {
           console.log(readFileSync(`node_modules/${name}`, 'utf8'));
         } catch {
           console.log('(none)');
         }
       })",
    "show node_modules/kept/index.js\nshow node_modules/gone/index.js\n"
    "show node_modules/added/index.js\nshow node_modules/second/index.js"};

const Program kChange{
    R"(import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
       writeFileSync('node_modules/kept/index.js', 'patched');
       rmSync('node_modules/gone', { recursive: true });
       mkdirSync('node_modules/added');
       writeFileSync('node_modules/added/index.js', 'new');)",
    "save node_modules/kept/index.js patched\nremove node_modules/gone\n"
    "save node_modules/added/index.js new"};

// Prints why each change was not possible.
const char* const kChangeAll =
    R"(for (const change of [() => writeFileSync('node_modules/kept/index.js', 'patched'),
                             () => writeFileSync('node_modules/kept/more.js', 'new'),
                             () => unlinkSync('node_modules/gone/index.js')]) {
         try {
           change();
           console.log('changed');
         } catch (error) {
           console.log(error.code);
         }
       })";
const char* const kImports = "import { mkdirSync, unlinkSync, writeFileSync } from 'node:fs';";
const char* const kAdd =
    "mkdirSync('node_modules/added'); writeFileSync('node_modules/added/index.js', 'new');";

const Program kImport{"import text from 'kept'; console.log(text);", "no Node.js, no imports"};

const Program kMakeLink{
    "import { symlinkSync } from 'node:fs'; symlinkSync('/tmp', 'node_modules');",
    "link node_modules /tmp"};

const Program kMakeFile{
    "import { writeFileSync } from 'node:fs'; writeFileSync('node_modules', 'mine');",
    "save node_modules mine"};

const Program kAwaitPackages{
    R"(import { existsSync, readFileSync } from 'node:fs';
       console.log('up');
       const timer = setInterval(() => {
         if (!existsSync('node_modules/kept/index.js')) return;
         clearInterval(timer);
         console.log(readFileSync('node_modules/kept/index.js', 'utf8'));
       }, 5);)",
    "print up\nawait flag\nshow node_modules/kept/index.js"};

constexpr const char* kText = "module.exports = 'kept'";

const std::map<std::string, std::string> kFirst{{"kept/index.js", kText}, {"gone/index.js", "old"}};

Task<Code> refusal_of(Sandbox& sandbox, const Packages& packages) {
  try {
    co_await sandbox.mount_packages(packages.directory);
  } catch (const Error& e) {
    co_return e.code();
  }
  ADD_FAILURE() << "it was not refused";
  co_return Code::internal;
}

Task<> mounted(Bench& bench) {
  if (bench.is_fake()) co_return;
  const Packages packages{kFirst};
  const auto sandbox = co_await bench.create();
  co_await sandbox->mount_packages(packages.directory);
  const RunResult imported = co_await bench.run_in(*sandbox, kImport);
  EXPECT_EQ(imported.out.text, "kept\n") << imported.err.text;
  co_await sandbox->destroy();
}
TEST_P(DriverContract, HasProgramsFindPackages) {
  check(mounted);
}

// An ordinary user's packages are nobody's to sandboxes that have other ids: there is no mount that
// changes owners. In a container there is no mount of ours at all.
bool are_the_programs_own(Bench& bench, const Sandbox& sandbox) {
  const auto& weaker = sandbox.isolation().weaker;
  if (bench.is_container()) return false;
  return bench.is_fake() || ::geteuid() == 0 ||
         std::find(weaker.begin(), weaker.end(), "ids") != weaker.end();
}

Task<> read_only(Bench& bench) {
  if (!bench.is_container()) co_return;
  const Packages packages{kFirst};
  const auto sandbox = co_await bench.create();
  co_await sandbox->mount_packages(packages.directory);
  const std::string text = std::string{kImports} + kChangeAll;
  const Program program{text.c_str(), "never run"};
  const RunResult result = co_await bench.run_in(*sandbox, program);
  const bool is_own = bench.has_own_kernel();  // gVisor's looks at the owner first
  EXPECT_EQ(result.out.text, is_own ? "EACCES\nEACCES\nEACCES\n" : "EROFS\nEROFS\nEROFS\n")
      << result.err.text;
  const RunResult shown = co_await bench.run_in(*sandbox, kShow);
  EXPECT_EQ(shown.out.text, std::string{kText} + "\nold\n(none)\n(none)\n");
  EXPECT_TRUE(packages.is_unchanged(bench));
  co_await sandbox->destroy();
}
TEST_P(DriverContract, KeepsPackagesReadOnlyInContainers) {
  check(read_only);
}

Task<> added(Bench& bench) {
  if (bench.is_container()) co_return;
  const Packages packages{kFirst};
  const auto sandbox = co_await bench.create();
  if (are_the_programs_own(bench, *sandbox)) co_return;
  co_await sandbox->mount_packages(packages.directory);
  const std::string text = std::string{kImports} + kAdd + kChangeAll;
  const Program program{text.c_str(), "the fake driver's packages are the program's own"};
  const RunResult result = co_await bench.run_in(*sandbox, program);
  EXPECT_EQ(result.out.text, "EACCES\nEACCES\nEACCES\n") << result.err.text;
  const RunResult shown = co_await bench.run_in(*sandbox, kShow);
  EXPECT_EQ(shown.out.text, std::string{kText} + "\nold\nnew\n(none)\n");
  EXPECT_TRUE(packages.is_unchanged(bench));
  co_await sandbox->destroy();
}
TEST_P(DriverContract, LetsProgramsAddToPackagesThatAreNotTheirOwn) {
  check(added);
}

Task<> changed(Bench& bench) {
  const Packages packages{kFirst};
  const auto sandbox = co_await bench.create();
  if (!are_the_programs_own(bench, *sandbox)) co_return;
  co_await sandbox->mount_packages(packages.directory);
  const RunResult result = co_await bench.run_in(*sandbox, kChange);
  EXPECT_TRUE(result.outcome.ok()) << result.err.text;
  const RunResult shown = co_await bench.run_in(*sandbox, kShow);
  EXPECT_EQ(shown.out.text, "patched\n(none)\nnew\n(none)\n");
  EXPECT_TRUE(packages.is_unchanged(bench));

  const auto other = co_await bench.create();
  co_await other->mount_packages(packages.directory);
  const RunResult fresh = co_await bench.run_in(*other, kShow);
  EXPECT_EQ(fresh.out.text, std::string{kText} + "\nold\n(none)\n(none)\n");
  co_await sandbox->destroy();
  co_await other->destroy();
}
TEST_P(DriverContract, LetsProgramsChangePackagesForThemselvesOnly) {
  check(changed);
}

Task<> stacked(Bench& bench) {
  const Packages base{{{"kept/index.js", "hidden"}, {"gone/index.js", "old"}}};
  const Packages top{{{"kept/index.js", kText}, {"second/index.js", "2"}}};
  const auto sandbox = co_await bench.create();
  co_await sandbox->mount_packages(top.over(base));
  const RunResult shown = co_await bench.run_in(*sandbox, kShow);
  EXPECT_EQ(shown.out.text, std::string{kText} + "\nold\n(none)\n2\n") << shown.err.text;
  if (are_the_programs_own(bench, *sandbox)) {
    const RunResult result = co_await bench.run_in(*sandbox, kChange);
    EXPECT_TRUE(result.outcome.ok()) << result.err.text;
    const RunResult after = co_await bench.run_in(*sandbox, kShow);
    EXPECT_EQ(after.out.text, "patched\n(none)\nnew\n2\n");
  }
  EXPECT_TRUE(base.is_unchanged(bench));
  EXPECT_TRUE(top.is_unchanged(bench));
  // What was one of two goes like any other.
  co_await sandbox->mount_packages(base.directory);
  const RunResult last = co_await bench.run_in(*sandbox, kShow);
  EXPECT_EQ(last.out.text, "hidden\nold\n(none)\n(none)\n");
  co_await sandbox->destroy();
}
TEST_P(DriverContract, ShowsOnePackageDirectoryOverAnother) {
  check(stacked);
}

Task<> replaced(Bench& bench) {
  const Packages first{kFirst};
  const Packages second{{{"kept/index.js", "newer"}, {"second/index.js", "2"}}};
  const auto sandbox = co_await bench.create();
  co_await sandbox->mount_packages(first.directory);
  co_await bench.run_in(*sandbox, kChange);
  co_await sandbox->mount_packages(second.directory);
  const RunResult shown = co_await bench.run_in(*sandbox, kShow);
  EXPECT_EQ(shown.out.text, "newer\n(none)\n(none)\n2\n");
  EXPECT_TRUE(first.is_unchanged(bench));
  EXPECT_TRUE(second.is_unchanged(bench));
  co_await sandbox->destroy();
}
TEST_P(DriverContract, PutsOtherPackagesInTheirPlace) {
  check(replaced);
}

Task<> while_one_runs(Bench& bench) {
  const Packages packages{kFirst};
  const auto sandbox = co_await bench.create();
  Sink sink;
  const auto process = co_await sandbox->start(bench.command(kAwaitPackages), sink);
  while (sink.out.empty()) co_await sleep_for(milliseconds{1});  // it says when it runs
  co_await sandbox->mount_packages(packages.directory);
  co_await bench.run_in(*sandbox, kMakeFlag);
  EXPECT_TRUE((co_await process->wait()).ok()) << sink.err;
  EXPECT_EQ(sink.out, "up\n" + std::string{kText} + "\n");
  co_await sandbox->destroy();
}
TEST_P(DriverContract, MountsPackagesWhileAProgramRuns) {
  check(while_one_runs);
}

Task<> in_the_way(Bench& bench) {
  const Packages packages{kFirst};
  for (const Program& program : {kMakeLink, kMakeFile}) {
    const auto sandbox = co_await bench.create();
    const RunResult result = co_await bench.run_in(*sandbox, program);
    EXPECT_TRUE(result.outcome.ok()) << result.err.text;
    EXPECT_EQ(co_await refusal_of(*sandbox, packages), Code::invalid);
    co_await sandbox->destroy();
  }
  EXPECT_TRUE(packages.is_unchanged(bench));
}
TEST_P(DriverContract, RefusesToMountPackagesOverWhatIsNoDirectory) {
  check(in_the_way);
}

Task<> no_sandbox(Bench& bench) {
  const Packages packages{kFirst};
  const auto sandbox = co_await bench.create();
  co_await sandbox->destroy();
  EXPECT_EQ(co_await refusal_of(*sandbox, packages), Code::not_found);
}
TEST_P(DriverContract, HasNoPackagesForASandboxThatIsGone) {
  check(no_sandbox);
}

Task<> mount_and_forget(Sandbox& sandbox, const Packages& packages, bool& ended) {
  try {
    co_await sandbox.mount_packages(packages.directory);
  } catch (const Error&) {  // it came too late
  }
  ended = true;
}

Task<> ended_meanwhile(Bench& bench) {
  const Packages packages{kFirst};
  TaskGroup group{co_await asio::this_coro::executor};
  const auto sandbox = co_await bench.create();
  bool ended = false;
  group.spawn("mount packages", mount_and_forget(*sandbox, packages, ended));
  co_await sleep_for(milliseconds{0});  // it has asked now
  co_await sandbox->destroy();
  while (!ended) co_await sleep_for(milliseconds{1});
  EXPECT_TRUE(packages.is_unchanged(bench));
  co_await group.stop();
}
TEST_P(DriverContract, AnswersWhoMountsPackagesInASandboxThatEnds) {
  check(ended_meanwhile);
}

}  // namespace
}  // namespace belljar::contract
