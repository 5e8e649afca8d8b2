#include "network/name_servers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/id.h"
#include "base/posix.h"

namespace belljar::network {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

std::vector<std::string> addresses(const NameServerList& servers) {
  std::vector<std::string> texts;
  for (const auto& server : servers) {
    EXPECT_EQ(server.port(), 53);
    texts.push_back(server.address().to_string());
  }
  return texts;
}

std::vector<std::string> parse(std::string_view text) {
  return addresses(parse_name_servers(text));
}

TEST(NameServers, AreReadFromLines) {
  EXPECT_THAT(parse("nameserver 1.1.1.1\nsearch example.com\nnameserver\t2001:4860::8888 # two\n"),
              ElementsAre("1.1.1.1", "2001:4860::8888"));
  EXPECT_THAT(parse("nameserver 127.0.0.53"), ElementsAre("127.0.0.53")) << "no end of the line";
  EXPECT_THAT(parse("nameserver 9.9.9.9\r\n"), ElementsAre("9.9.9.9"));
}

TEST(NameServers, WhatIsNoneIsPassedOver) {
  EXPECT_THAT(parse("# nameserver 1.1.1.1\n;nameserver 1.1.1.2\nnameservers 1.1.1.3\n\n"
                    "nameserver\nnameserver example.com\nnameserver 1.1.1.4\n"),
              ElementsAre("1.1.1.4"));
}

TEST(NameServers, AreAtMostThree) {
  EXPECT_THAT(parse("nameserver 1.1.1.1\nnameserver 1.1.1.2\nnameserver 1.1.1.3\n"
                    "nameserver 1.1.1.4\n"),
              ElementsAre("1.1.1.1", "1.1.1.2", "1.1.1.3"));
}

TEST(NameServers, WithoutAnyItIsThisHost) {
  EXPECT_THAT(parse(""), ElementsAre("127.0.0.1"));
  EXPECT_THAT(parse("options edns0\n"), ElementsAre("127.0.0.1"));
}

class NameServersFile : public testing::Test {
 protected:
  ~NameServersFile() override { std::filesystem::remove(path_); }
  void write(const std::string& text) const { write_file_atomically(path_, text); }

  const std::string path_ = testing::TempDir() + "belljar-resolv-" + random_hex(8);
  const NameServers::Time start_{1000s};
};

TEST_F(NameServersFile, IsReadAgainWhenItHasChangedButNotTooOften) {
  write("nameserver 1.1.1.1\n");
  NameServers servers{path_};
  EXPECT_THAT(addresses(servers.at(start_)), ElementsAre("1.1.1.1"));
  write("nameserver 1.1.1.2\n");
  EXPECT_THAT(addresses(servers.at(start_ + 999ms)), ElementsAre("1.1.1.1"));
  EXPECT_THAT(addresses(servers.at(start_ + 1s)), ElementsAre("1.1.1.2"));
  EXPECT_THAT(addresses(servers.at(start_ + 5s)), ElementsAre("1.1.1.2"));
}

TEST_F(NameServersFile, MayComeAndGo) {
  NameServers servers{path_};
  EXPECT_THAT(addresses(servers.at(start_)), ElementsAre("127.0.0.1"));
  write("nameserver 1.1.1.1\n");
  EXPECT_THAT(addresses(servers.at(start_ + 1s)), ElementsAre("1.1.1.1"));
  std::filesystem::remove(path_);
  EXPECT_THAT(addresses(servers.at(start_ + 2s)), ElementsAre("127.0.0.1"));
}

TEST_F(NameServersFile, OneThatCannotBeReadIsLikeAnEmptyOne) {
  write(std::string(70'000, '#') + "\nnameserver 1.1.1.1\n");
  NameServers too_large{path_};
  EXPECT_THAT(addresses(too_large.at(start_)), ElementsAre("127.0.0.1"));
  NameServers directory{testing::TempDir()};
  EXPECT_THAT(addresses(directory.at(start_)), ElementsAre("127.0.0.1"));
}

}  // namespace
}  // namespace belljar::network
