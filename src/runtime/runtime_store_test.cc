#include "runtime/runtime_store.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "packages/testing.h"

namespace belljar::runtime {
namespace {

namespace fs = std::filesystem;
using packages::parse_version;

class RuntimeStoreTest : public testing::Test {
 protected:
  void put(const std::string& version) {
    directory_.write("runtimes/" + version + "/bin/node", "", 0755);
  }
  std::vector<std::string> names(RuntimeStore& store) {
    std::vector<std::string> result;
    for (const Installed& installed : store.list()) result.push_back(to_string(installed.version));
    return result;
  }

  packages::TestDirectory directory_;
  RuntimeStore store_{directory_.path() + "/runtimes"};
};

TEST_F(RuntimeStoreTest, IsEmptyBeforeItExists) {
  EXPECT_TRUE(store_.list().empty());
}

TEST_F(RuntimeStoreTest, ListsCompleteVersionsInOrder) {
  for (const char* version : {"24.9.0", "24.10.0", "20.1.0", ".tmp-0", "lost+found", "v22.0.0"})
    put(version);
  fs::create_directories(directory_.path() + "/runtimes/26.0.0");  // without bin/node
  EXPECT_THAT(names(store_), testing::ElementsAre("20.1.0", "24.9.0", "24.10.0"));
}

TEST_F(RuntimeStoreTest, NoticesWhatAnotherProcessDoes) {
  put("20.1.0");
  EXPECT_EQ(store_.list().size(), 1u);
  put("22.1.0");
  EXPECT_EQ(store_.list().size(), 2u);
  fs::remove_all(directory_.path() + "/runtimes/20.1.0");
  EXPECT_THAT(names(store_), testing::ElementsAre("22.1.0"));
}

TEST_F(RuntimeStoreTest, HasOneLock) {
  RuntimeStore other{store_.directory()};
  auto held = store_.try_lock();
  ASSERT_TRUE(held);
  EXPECT_FALSE(other.try_lock());
  EXPECT_FALSE(store_.try_lock());
  held.reset();
  EXPECT_TRUE(other.try_lock());
}

TEST_F(RuntimeStoreTest, PublishesATemporaryDirectoryAndTakesItAwayAgain) {
  const auto held = store_.try_lock();
  const std::string temporary = store_.make_temporary();
  fs::create_directory(temporary + "/bin");
  EXPECT_TRUE(store_.list().empty());
  directory_.write(fs::relative(temporary, directory_.path()).string() + "/bin/node", "", 0755);
  const auto version = parse_version("24.1.0").value();
  EXPECT_EQ(store_.publish(temporary, version).prefix, store_.directory() + "/24.1.0");
  EXPECT_NE(store_.find(version), nullptr);
  EXPECT_TRUE(store_.take_away(version));
  EXPECT_EQ(store_.find(version), nullptr);
  EXPECT_FALSE(store_.take_away(version));
}

TEST_F(RuntimeStoreTest, CleansUpAfterACrash) {
  put(".tmp-dead");
  put("24.1.0");
  const auto held = store_.try_lock();
  store_.clean();
  EXPECT_FALSE(fs::exists(store_.directory() + "/.tmp-dead"));
  EXPECT_TRUE(fs::exists(store_.directory() + "/24.1.0"));
}

}  // namespace
}  // namespace belljar::runtime
