#include "drivers/docker/image_reference.h"

#include <gtest/gtest.h>

namespace belljar::docker {
namespace {

const std::string kDigest = "sha256:" + std::string(64, 'a');

TEST(ImageReference, IsTakenApart) {
  const auto full = parse_image_reference("Localhost:5000/tools/node:24-slim@" + kDigest);
  ASSERT_TRUE(full);
  EXPECT_EQ(full->registry, "Localhost:5000");
  EXPECT_EQ(full->path, "tools/node");
  EXPECT_EQ(full->tag, "24-slim");
  EXPECT_EQ(full->digest, kDigest);
  EXPECT_EQ(full->repository(), "Localhost:5000/tools/node");
  const auto plain = parse_image_reference("node");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->repository(), "node");
  EXPECT_EQ(plain->tag, "");
}

TEST(ImageReference, HasARegistryOnlyIfItsFirstPartLooksLikeAHost) {
  EXPECT_EQ(parse_image_reference("library/node")->registry, "");
  EXPECT_EQ(parse_image_reference("localhost/node")->registry, "localhost");
  EXPECT_EQ(parse_image_reference("registry.example/node")->registry, "registry.example");
  EXPECT_EQ(parse_image_reference("host:80/node")->registry, "host:80");
}

TEST(ImageReference, KnowsTheDefaultRegistryByAllItsNames) {
  for (const char* text : {"node", "acme/node", "docker.io/node", "Index.Docker.io/library/node"})
    EXPECT_EQ(parse_image_reference(text)->home(), "docker.io") << text;
  EXPECT_EQ(parse_image_reference("Registry.Example:5000/node")->home(), "registry.example:5000");
  // Not one whose name only looks like it.
  EXPECT_EQ(parse_image_reference("docker.io.example/node")->home(), "docker.io.example");
}

TEST(ImageReference, HasAFullNameThatNoEngineLooksForElsewhere) {
  EXPECT_EQ(parse_image_reference("node:24")->full_repository(), "docker.io/library/node");
  EXPECT_EQ(parse_image_reference("acme/node")->full_repository(), "docker.io/acme/node");
  EXPECT_EQ(parse_image_reference("docker.io/node")->full_repository(), "docker.io/library/node");
  EXPECT_EQ(parse_image_reference("host:80/node")->full_repository(), "host:80/node");
}

TEST(ImageReference, TakesAllSeparatorsOfTheGrammar) {
  for (const char* text : {"a.b", "a_b", "a__b", "a---b", "a/b/c:_1.2-3", "0"})
    EXPECT_TRUE(parse_image_reference(text)) << text;
}

// Attacks IJ04 and IJ05.
TEST(ImageReference, IsNothingThatMeansMoreToSomebodyElse) {
  const std::string with_zero{"node\0x", 6};
  for (const std::string& text : {std::string{},
                                  std::string{"--privileged"},
                                  std::string{"-v/:/h"},
                                  std::string{"a b"},
                                  std::string{"../../images"},
                                  std::string{"a/../b"},
                                  std::string{"a//b"},
                                  std::string{"/a"},
                                  std::string{"a/"},
                                  std::string{"%2e%2e%2f"},
                                  std::string{"a?x=1"},
                                  std::string{"a#b"},
                                  std::string{"a\r\nHost: x"},
                                  std::string{"node:"},
                                  std::string{":24"},
                                  std::string{"node:-24"},
                                  std::string{"node:24:1"},
                                  std::string{"Node"},
                                  std::string{"a._b"},
                                  std::string{"a___b"},
                                  std::string{"a..b"},
                                  std::string{"a-"},
                                  std::string{"x@sha256:abc"},
                                  "x@" + kDigest + "0",
                                  std::string{"x@md5:aaaa"},
                                  std::string{"host:port/x"},
                                  std::string{"host:/x"},
                                  std::string{"host:123456/x"},
                                  std::string{"-h.example/x"},
                                  std::string{"h..example/x"},
                                  std::string{"user@host.example/x"},
                                  std::string{"h.example:80/"},
                                  with_zero,
                                  std::string(256, 'a'),
                                  "a:" + std::string(129, 'b'),
                                  std::string{"caf\xc3\xa9"}})
    EXPECT_FALSE(parse_image_reference(text)) << text;
}

TEST(ImageReference, DigestsAreExact) {
  EXPECT_TRUE(is_digest(kDigest));
  EXPECT_FALSE(is_digest(kDigest + "a"));
  EXPECT_FALSE(is_digest("sha256:" + std::string(64, 'A')));
  EXPECT_FALSE(is_digest(std::string(71, 'a')));
}

TEST(ImageReference, NamesOfContainersAreOneWord) {
  EXPECT_TRUE(is_container_name("belljar-7_a.b"));
  EXPECT_TRUE(is_container_name(std::string(64, 'f')));
  for (const char* text : {"", "..", ".a", "-a", "a/b", "a%2f", "a?b", "a b", "a\n"})
    EXPECT_FALSE(is_container_name(text)) << text;
  EXPECT_FALSE(is_container_name(std::string(129, 'a')));
}

}  // namespace
}  // namespace belljar::docker
