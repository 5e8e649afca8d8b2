#include "drivers/docker/run_directory.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "base/testing.h"

namespace belljar::docker {
namespace {

class RunDirectoryTest : public testing::Test {
 protected:
  TemporaryDirectory data_;
  std::string root() const { return data_.path() + "/docker"; }
};

TEST_F(RunDirectoryTest, IsOutOfReachOfOthersButOpenToItsContainer) {
  RunDirectory directory{data_.path()};
  const auto place = directory.make_place();
  struct stat info {};
  ASSERT_EQ(::stat(root().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
  ASSERT_EQ(::fstatat(place.handle(), "", &info, AT_EMPTY_PATH), 0);
  EXPECT_EQ(info.st_mode & 0777, 0755u);
}

TEST_F(RunDirectoryTest, LeavesNothing) {
  {
    RunDirectory directory{data_.path()};
    {
      const auto place = directory.make_place();
      std::ofstream{place.path() + "/file"} << "content";
      EXPECT_TRUE(std::filesystem::exists(place.path()));
    }
    EXPECT_FALSE(std::filesystem::exists(root() + "/" + directory.run() + "/1"));
  }
  for (const auto& entry : std::filesystem::directory_iterator{root()})
    EXPECT_EQ(entry.path().filename(), "lock");
}

TEST_F(RunDirectoryTest, KnowsTheLivingFromTheDead) {
  RunDirectory directory{data_.path()};
  const std::string dead = "0123456789abcdef";
  std::filesystem::create_directories(root() + "/" + dead + "/1/packages");
  std::ofstream{root() + "/" + dead + "/lock"};
  std::optional<RunDirectory> other;
  other.emplace(data_.path());
  EXPECT_TRUE(directory.is_alive(directory.run()));
  EXPECT_TRUE(directory.is_alive(other->run()));
  EXPECT_FALSE(directory.is_alive(dead));
  EXPECT_FALSE(directory.is_alive("../../../etc"));
  directory.remove_dead();
  EXPECT_FALSE(std::filesystem::exists(root() + "/" + dead));
  EXPECT_TRUE(std::filesystem::exists(root() + "/" + other->run()));
}

TEST_F(RunDirectoryTest, TellsDataDirectoriesApart) {
  TemporaryDirectory elsewhere;
  RunDirectory one{data_.path()};
  RunDirectory same{data_.path()};
  RunDirectory other{elsewhere.path()};
  EXPECT_EQ(one.data_label(), same.data_label());
  EXPECT_NE(one.data_label(), other.data_label());
  EXPECT_NE(one.run(), same.run());
}

}  // namespace
}  // namespace belljar::docker
