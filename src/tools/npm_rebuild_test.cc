#include "tools/npm_rebuild.h"

#include <gmock/gmock.h>

#include "tools/npm_testing.h"
#include "tools/testing.h"

namespace belljar::tools {

namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

TEST(NpmRebuild, NamesPackagesByTheirPlace) {
  const Prefix prefix;
  const Command command =
      rebuild_command(prefix.image(), {{"a", "^1"}}, {"node_modules/a", "node_modules/@s/b"});
  const std::vector<std::string>& argv = command.argv;
  ASSERT_GT(argv.size(), 5u);
  EXPECT_EQ(argv[0], "/usr/local/bin/node");
  EXPECT_EQ(argv[2], "rebuild");
  EXPECT_EQ(argv[argv.size() - 3], "--");
  EXPECT_EQ(argv[argv.size() - 2], "./node_modules/a");
  EXPECT_EQ(argv[argv.size() - 1], "./node_modules/@s/b");
  EXPECT_THAT(argv, Contains("--rebuild-bundle=false"));
  EXPECT_THAT(argv, Contains("--userconfig=/dev/null"));
  EXPECT_THAT(argv, Contains("--offline"));
  EXPECT_THAT(argv, Not(Contains(HasSubstr("nodedir")))) << "it has no headers";
  EXPECT_TRUE(command.env.empty());
}

TEST(NpmRebuild, UsesTheHeadersOfTheImage) {
  const Prefix prefix;
  make_directories(prefix.image().prefix + "/include/node");
  write_file_atomically(prefix.image().prefix + "/include/node/node_version.h", "");
  EXPECT_THAT(rebuild_command(prefix.image(), {}, {}).argv, Contains("--nodedir=/usr/local"));
}

struct Scripts {
  explicit Scripts(World& world)
      : context{world.sandboxes, world.registry,      world.clock, "/tmp", "",
                SandboxSpec{},   milliseconds{10'000}} {
    context.spec.image = prefix.image();
    context.spec.network = Network::gated;
    context.spec.files = std::make_shared<const Fd>(open_directory("/tmp"));
    packages.write("index.js", "text");
    std::vector<Fd> directories;
    directories.push_back(open_directory(packages.path()));
    work.directories = std::make_shared<const std::vector<Fd>>(std::move(directories));
    work.collect = [this](int tree) {
      found = read_file(fmt::format("/proc/self/fd/{}/index.js", tree));
    };
  }

  Prefix prefix;
  NpmContext context;
  packages::TestDirectory packages;
  packages::ScriptWork work;
  std::string found;
};

// What the fake driver has for npm always fails.
Task<> run_an_optional_one(World& world) {
  Scripts scripts{world};
  scripts.work.plan.optional = {"node_modules/@a/b"};
  const packages::InstallProgress silent;
  const packages::ScriptOutcome outcome =
      co_await run_install_scripts(scripts.context, scripts.work, silent);
  EXPECT_THAT(outcome.output, HasSubstr("the install script of @a/b failed"));
  EXPECT_THAT(outcome.failed, testing::ElementsAre("node_modules/@a/b"));
  EXPECT_EQ(scripts.found, "text") << "what there is, is taken over";
  const SandboxSpec& used = world.driver.specs().at(0);
  EXPECT_EQ(used.network, Network::none);
  EXPECT_FALSE(used.files);
  EXPECT_EQ(world.driver.live_sandboxes(), 0u);
}

TEST(NpmRebuild, RunsScriptsInASandboxThatReachesNothing) {
  check(run_an_optional_one);
}

Task<> run_a_required_one(World& world) {
  Scripts scripts{world};
  scripts.work.plan.required = {"node_modules/a"};
  const packages::InstallProgress silent;
  std::string error;
  try {
    co_await run_install_scripts(scripts.context, scripts.work, silent);
  } catch (const Error& e) {
    error = e.what();
  }
  EXPECT_THAT(error, testing::StartsWith("the install script of a failed"));
  EXPECT_THAT(error, HasSubstr("packages-allow-scripts"));
  EXPECT_THAT(error, HasSubstr("\n\nfake: unknown order")) << "what was printed";
  EXPECT_EQ(scripts.found, "") << "nothing is taken over";
  EXPECT_EQ(world.driver.live_sandboxes(), 0u);
}

TEST(NpmRebuild, FailsWithTheLastLinesOfAScript) {
  check(run_a_required_one);
}

}  // namespace

}  // namespace belljar::tools
