#include "runtime/host_node.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "packages/testing.h"
#include "runtime/testing.h"

namespace belljar::runtime {
namespace {

class HostNodeTest : public testing::Test {
 protected:
  HostNodeTest() { host_.prefixes = {directory_.path() + "/usr"}; }
  void path(const std::string& value) { host_.environment["PATH"] = value; }
  std::optional<HostNode> find() { return find_host_node(host_); }

  packages::TestDirectory directory_;
  packages::Surroundings host_;
};

std::string release(const std::string& version) {
  return "https://x.invalid/v" + version + "/node-v" + version + "-headers.tar.gz";
}

TEST_F(HostNodeTest, IsFoundInPathAndKnownByTheTextInTheBinary) {
  const std::string program = directory_.write(
      "opt/bin/node", fake_program(std::string(3'000'000, 'x') + release("22.3.4")), 0755);
  path("relative/bin:" + directory_.path() + "/nothing:" + directory_.path() + "/opt/bin");
  const auto node = find();
  ASSERT_TRUE(node);
  EXPECT_EQ(to_string(node->version), "22.3.4");
  EXPECT_EQ(node->prefix, directory_.path() + "/opt");
  EXPECT_EQ(node->program, program);
}

TEST_F(HostNodeTest, FindsAVersionThatLiesAcrossTheBorderOfTwoReads) {
  for (const size_t shift : {0, 10, 40, 70, 100}) {
    const std::string padding((1u << 20) - sizeof(Elf64_Ehdr) - shift, 'x');
    directory_.write("usr/bin/node", fake_program(padding + release("21.0.1")), 0755);
    ASSERT_TRUE(find()) << shift;
    EXPECT_EQ(to_string(find()->version), "21.0.1");
  }
}

TEST_F(HostNodeTest, IsKnownByTheHeadersBesideItOtherwise) {
  directory_.write("usr/bin/node", fake_program(), 0755);
  EXPECT_FALSE(find());
  directory_.write("usr/include/node/node_version.h",
                   "#define NODE_MAJOR_VERSION 20\n#define NODE_MINOR_VERSION 5\n#define "
                   "NODE_PATCH_VERSION 1\n");
  ASSERT_TRUE(find());
  EXPECT_EQ(to_string(find()->version), "20.5.1");
}

TEST_F(HostNodeTest, PassesOverScriptsAndProgramsForOtherMachines) {
  directory_.write("shims/node", "#!/bin/sh\nexec something\n", 0755);
  directory_.write("arm/node", fake_program(release("24.0.0"), false), 0755);
  directory_.write("plain/node", fake_program(release("24.0.0")), 0644);
  directory_.write("usr/bin/node", fake_program(release("20.1.0")), 0755);
  const std::string& base = directory_.path();
  path(base + "/shims:" + base + "/arm:" + base + "/plain");
  ASSERT_TRUE(find());
  EXPECT_EQ(to_string(find()->version), "20.1.0");
}

TEST_F(HostNodeTest, ResolvesLinks) {
  directory_.write("versions/23/bin/node", fake_program(release("23.0.0")), 0755);
  std::filesystem::create_directories(directory_.path() + "/usr/bin");
  std::filesystem::create_symlink("../../versions/23/bin/node",
                                  directory_.path() + "/usr/bin/node");
  ASSERT_TRUE(find());
  EXPECT_EQ(find()->prefix, directory_.path() + "/versions/23");
}

}  // namespace
}  // namespace belljar::runtime
