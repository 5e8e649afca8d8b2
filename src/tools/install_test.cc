#include "tools/install.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "base/json.h"
#include "base/posix.h"
#include "tools/testing.h"

namespace belljar::tools {

namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

// A directory that looks like an installed Node.js with npm, deleted afterwards.
class Prefix {
 public:
  Prefix() {
    sys(::mkdtemp(path_.data()) == nullptr ? -1 : 0, "make a directory");
    make_directories(path_ + "/lib/node_modules/npm/bin");
    write_file_atomically(path_ + "/lib/node_modules/npm/bin/npm-cli.js", "");
  }
  ~Prefix() { std::filesystem::remove_all(path_); }
  Prefix(const Prefix&) = delete;
  Prefix& operator=(const Prefix&) = delete;

  Image image() const { return Image{"node:lts-slim", "24.1.0", path_}; }

 private:
  std::string path_ = "/tmp/belljar-prefix-XXXXXX";
};

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

Task<> install_where_nothing_can_listen(World& world) {
  const Prefix prefix;
  packages::Registry registry{packages::Surroundings{}};
  SandboxSpec spec;
  spec.image = prefix.image();
  spec.limits.memory = 64u << 20;
  Lease target = co_await world.sandboxes.create_ephemeral("", spec);
  const InstallContext context{world.sandboxes, registry, world.clock, "/tmp", {}};
  InstallRequest request;
  request.dependencies = {{"lodash", "^4"}};
  std::string error;
  try {
    co_await install_dependencies(context, request, target);
  } catch (const Error& e) {
    error = e.what();
  }
  EXPECT_NE(error, "");
  EXPECT_EQ(world.driver.live_sandboxes(), 1u);  // the target
  const SandboxSpec& used = world.driver.specs().at(1);
  EXPECT_EQ(used.limits.memory, 1u << 30);
  EXPECT_EQ(used.limits.disk, spec.limits.disk);
  EXPECT_EQ(used.network, Network::none);
  EXPECT_FALSE(used.files);
}

TEST(Install, LeavesNoSandboxBehindWhenItFails) {
  check(install_where_nothing_can_listen);
}

}  // namespace

}  // namespace belljar::tools
