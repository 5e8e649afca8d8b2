#include "packages/owner_stores.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "base/testing.h"
#include "packages/testing.h"

namespace belljar::packages {
namespace {

namespace fs = std::filesystem;
using testing::MatchesRegex;

class OwnerStoresTest : public testing::Test {
 protected:
  // As if the owner had last come so many hours ago.
  void let_rest(const std::string& owner, int hours) const {
    const std::string path = directory_ + "/owners/" + OwnerStores::name_of(owner);
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours{hours});
  }

  TestDirectory home_;
  std::string directory_ = home_.path() + "/packages";
  OwnerStores stores_{directory_};
};

TEST_F(OwnerStoresTest, NamesOfDirectoriesAreShortPlainAndDifferent) {
  const std::vector<std::string> owners{"token:alice",
                                        "token:Alice",
                                        "oauth:alice",
                                        "oauth:../../etc/passwd",
                                        "oauth:" + std::string(5000, 'x'),
                                        "oauth:" + std::string(5001, 'x'),
                                        std::string{"oauth:\0a", 8},
                                        "oauth:\n\xff/.",
                                        ""};
  std::set<std::string> names;
  for (const std::string& owner : owners) {
    const std::string name = OwnerStores::name_of(owner);
    EXPECT_THAT(name, MatchesRegex("[a-z0-9-]{0,32}-[0-9a-f]{32}"));
    names.insert(name);
  }
  EXPECT_EQ(names.size(), owners.size());
  EXPECT_THAT(OwnerStores::name_of("token:alice"), MatchesRegex("token-alice-.*"));
}

TEST_F(OwnerStoresTest, AStoreIsTheOwnersAndStays) {
  EXPECT_FALSE(stores_.contains("token:a"));
  const std::string path = stores_.open("token:a").path;
  EXPECT_TRUE(fs::is_directory(path));
  EXPECT_TRUE(stores_.contains("token:a"));
  EXPECT_FALSE(stores_.contains("oauth:a"));
  EXPECT_NE(stores_.open("oauth:a").path, path);
  EXPECT_EQ(stores_.open("token:a").path, path);
  EXPECT_EQ(OwnerStores{directory_}.open("token:a").path, path);
}

TEST_F(OwnerStoresTest, TheOldestGoUnlessSomebodyHasThemOpen) {
  for (const char* owner : {"a", "b", "c", "d"}) stores_.open(owner);
  const fs::path file = fs::path{stores_.open("b").path} / "layers" / "file";
  fs::create_directories(file.parent_path());
  std::ofstream{file} << "content";
  let_rest("a", 4);
  let_rest("b", 3);
  let_rest("c", 2);
  OwnerStores other{directory_};  // another process has the oldest open
  const OwnerStore held = other.open("a");
  let_rest("a", 4);

  EXPECT_EQ(run(stores_.remove_oldest(4)), 0u);
  EXPECT_EQ(run(stores_.remove_oldest(3)), 1u);
  EXPECT_FALSE(stores_.contains("b"));
  EXPECT_FALSE(fs::exists(file));
  EXPECT_EQ(run(stores_.remove_oldest(0)), 2u);
  EXPECT_TRUE(stores_.contains("a"));

  // Whoever comes again has an empty one.
  EXPECT_TRUE(fs::is_empty(stores_.open("b").path));
}

TEST_F(OwnerStoresTest, WithoutStoresThereIsNothingToRemove) {
  EXPECT_EQ(run(stores_.remove_oldest(0)), 0u);
}

}  // namespace
}  // namespace belljar::packages
