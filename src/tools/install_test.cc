#include "tools/install.h"

#include <gmock/gmock.h>

#include "base/json.h"
#include "tools/npm_resolve.h"
#include "tools/npm_testing.h"
#include "tools/testing.h"

namespace belljar::tools {

namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

TEST(Install, GivesNpmNoneOfTheClientsWordsAsArguments) {
  const Prefix prefix;
  const std::vector<packages::Dependency> dependencies{{"lodash", "^4.17.0"}, {"@a/b", "latest"}};
  const Command command = npm_command(prefix.image(), dependencies, "http://127.0.0.1:4000/");
  EXPECT_EQ(command.argv.at(0), "/usr/local/bin/node");
  EXPECT_EQ(command.argv.at(1), "/usr/local/lib/node_modules/npm/bin/npm-cli.js");
  EXPECT_THAT(command.argv, Contains("--ignore-scripts"));
  EXPECT_THAT(command.argv, Contains("--registry=http://127.0.0.1:4000/"));
  EXPECT_THAT(command.argv, Contains("--userconfig=/dev/null"));
  EXPECT_THAT(command.argv, Not(Contains(HasSubstr("lodash"))));
  EXPECT_EQ(command.source->path, "/workspace/package.json");
  EXPECT_EQ(command.source->content,
            R"({"type":"module","dependencies":{"lodash":"^4.17.0","@a/b":"latest"}})");
  EXPECT_TRUE(command.env.empty());
}

TEST(Install, SaysThatAnImageHasNoNpm) {
  const Image image{"node:odd", "24.1.0", "/nonexistent"};
  EXPECT_THAT(error_of([&] { npm_program(image); }), HasSubstr("node:odd has no npm"));
}

Task<> resolve_where_nothing_can_listen(World& world) {
  const Prefix prefix;
  SandboxSpec spec;
  spec.image = prefix.image();
  spec.limits.memory = 64u << 20;
  NpmContext context{world.sandboxes,   world.registry, world.clock, "/tmp", "", spec,
                     milliseconds{1000}};
  packages::WantedSet wanted;
  wanted.dependencies = {{"lodash", "^4"}};
  packages::InstallProgress silent;
  std::string error;
  try {
    co_await resolve_with_npm(std::move(context), std::move(wanted), std::move(silent));
  } catch (const Error& e) {
    error = e.what();
  }
  EXPECT_NE(error, "");
  EXPECT_EQ(world.driver.live_sandboxes(), 0u);
  const SandboxSpec& used = world.driver.specs().at(0);
  EXPECT_EQ(used.limits.memory, 1u << 30);
  EXPECT_EQ(used.limits.disk, spec.limits.disk);
  EXPECT_EQ(used.network, Network::none);
  EXPECT_FALSE(used.files);
}

TEST(Install, LeavesNoSandboxOfNpmBehindWhenItFails) {
  check(resolve_where_nothing_can_listen);
}

Task<> install_without_a_registry(World& world) {
  SandboxSpec spec;
  spec.image.node_version = "24.1.0";
  Lease target = co_await world.sandboxes.create_ephemeral("", spec);
  const InstallContext context{world.sandboxes, world.registry, world.packages, world.clock,
                               "/tmp"};
  InstallRequest request;
  request.dependencies = {{"lodash", "^4"}};
  std::string error;
  try {
    co_await install_dependencies(context, std::move(request), target);
  } catch (const Error& e) {
    error = e.what();
  }
  EXPECT_THAT(error, HasSubstr("127.0.0.1:9"));
  EXPECT_TRUE(world.driver.packages().empty());
  EXPECT_EQ(world.driver.live_sandboxes(), 1u) << "the target";
}

TEST(Install, NamesARegistryThatIsNotThere) {
  check(install_without_a_registry);
}

}  // namespace

}  // namespace belljar::tools
