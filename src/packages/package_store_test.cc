#include "packages/package_store.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mount.h>

#include <fstream>

#include "packages/parallel.h"
#include "packages/store_testing.h"

namespace belljar::packages {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

LockedPackage locked(const std::string& name, const std::string& integrity) {
  LockedPackage package;
  package.path = "node_modules/" + name;
  package.name = name;
  package.version = "1.0.0";
  package.integrity = integrity;
  return package;
}

class PackageStoreTest : public StoreTest {
 protected:
  void fetch(const std::vector<LockedPackage>& packages) {
    await(stores_->packages.fetch(packages, nullptr));
  }
  bool check(const std::string& integrity) {
    return await(stores_->packages.check(PackageStore::id_of(integrity)));
  }
  std::string content(const std::string& integrity, const std::string& file) const {
    return stores_->directory.content(PackageStore::id_of(integrity)) + "/files/" + file;
  }
  std::string why_not(const LockedPackage& package, Code code) {
    try {
      fetch({package});
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code) << error.what();
      return error.what();
    }
    return "";
  }
};

TEST_F(PackageStoreTest, KeepsPackagesUnpackedByTheirIntegrity) {
  const std::string a = publish(
      "a", "1.0.0", {{"p/lib/x.js", "one"}, {"p/cli", "two", 0755}, {"p/package.json", "{}"}});
  fetch({locked("a", a)});
  EXPECT_EQ(read_file(content(a, "lib/x.js")), "one");
  EXPECT_EQ(look_at(content(a, "lib/x.js")).st_mode & 07777, 0644u);
  EXPECT_EQ(look_at(content(a, "cli")).st_mode & 07777, 0755u);
  EXPECT_TRUE(check(a));
  EXPECT_EQ(PackageStore::id_of("sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk="),
            "sha1-da39a3ee5e6b4b0d3255bfef95601890afd80709");
  EXPECT_EQ(PackageStore::id_of(a).size(), 128u);
}

TEST_F(PackageStoreTest, OfFilesOfTheSameNameTheLastOneCounts) {
  const std::string a = publish("a", "1.0.0", {{"p/x", "one"}, {"p/y", ""}, {"p/x", "2"}});
  fetch({locked("a", a)});
  EXPECT_EQ(read_file(content(a, "x")), "2");
  restart();
  EXPECT_TRUE(check(a)) << "and is what the list of files says";
}

TEST_F(PackageStoreTest, DownloadsAPackageOnceWhoeverWantsIt) {
  const std::string a = publish_text("a", "text");
  std::vector<LockedPackage> both{locked("a", a), locked("a", a)};
  std::function<Task<>(size_t)> fetch_both = [&](size_t) {
    return stores_->packages.fetch(both, nullptr);
  };
  await(in_parallel(4, fetch_both));
  EXPECT_EQ(downloads(), 1u);
  restart();
  fetch(both);
  EXPECT_EQ(downloads(), 1u);
}

TEST_F(PackageStoreTest, ReportsHowFarItIs) {
  std::vector<LockedPackage> packages;
  for (int i = 0; i < 11; ++i) {
    const std::string name = fmt::format("p{}", i);
    packages.push_back(locked(name, publish_text(name, name)));
  }
  std::vector<std::string> messages;
  await(stores_->packages.fetch(
      packages, [&messages](std::string_view message) { messages.emplace_back(message); }));
  EXPECT_THAT(messages,
              testing::ElementsAre("downloading 11 packages", "downloaded 10 of 11 packages"));
}

TEST_F(PackageStoreTest, TakesOnlyWhatHasTheIntegrityOfTheLockfile) {
  publish_text("a", "what the registry has");
  LockedPackage package = locked("a", sha512_integrity("something else"));
  EXPECT_THAT(why_not(package, Code::denied), HasSubstr("another sha512 for it than the lockfile"));
  package.resolved = server_.url("/tarballs/0");
  EXPECT_THAT(why_not(package, Code::denied), HasSubstr("damaged or exchanged"));
  EXPECT_THAT(names_in(store_path() + "/contents"), IsEmpty());
  package.resolved = "";
  package.version = "2.0.0";
  EXPECT_THAT(why_not(package, Code::not_found), HasSubstr("does not have a 2.0.0"));
}

TEST_F(PackageStoreTest, AsksForTheDocumentOnlyIfTheTarballIsNotAtItsUsualPlace) {
  const std::string a = publish_text("@s/a", "a");
  const std::string b = publish_text("b", "b");
  answers_["/@s/a/-/a-1.0.0.tgz"] = answers_.at("/tarballs/0");
  answers_["/b/-/b-1.0.0.tgz"] = net::http_answer(200, "<html>", kClose);
  fetch({locked("@s/a", a)});
  EXPECT_EQ(server_.requests().size(), 1u);
  fetch({locked("b", b)});
  EXPECT_EQ(server_.requests().back().target, "/tarballs/1");
  EXPECT_EQ(server_.requests().size(), 4u);
}

TEST_F(PackageStoreTest, LeavesNothingOfAHostilePackage) {
  const std::string a = publish("a", "1.0.0", {{"p/x", "1"}, {"p/../../y", "2"}});
  EXPECT_THAT(why_not(locked("a", a), Code::denied),
              HasSubstr("install a 1.0.0: the archive is not"));
  EXPECT_THAT(names_in(store_path() + "/contents"), IsEmpty());
  EXPECT_THAT(names_in(stores_->directory.own()), IsEmpty());
}

TEST_F(PackageStoreTest, FindsDamageAtTheFirstUseInAProcess) {
  const std::string a = publish_text("a", "text");
  fetch({locked("a", a)});
  std::ofstream{content(a, "index.js")} << "t3xt";
  EXPECT_TRUE(check(a));  // this process has written it
  restart();
  EXPECT_FALSE(check(a));
  EXPECT_FALSE(stores_->packages.has(PackageStore::id_of(a)));
  fetch({locked("a", a)});
  EXPECT_EQ(read_file(content(a, "index.js")), "text");
  EXPECT_EQ(downloads(), 2u);
}

TEST_F(PackageStoreTest, FindsATornFileList) {
  const std::string a = publish_text("a", "text");
  fetch({locked("a", a)});
  std::filesystem::resize_file(content(a, "../file-list"), 30);
  restart();
  EXPECT_FALSE(check(a));
}

TEST_F(PackageStoreTest, SaysThatTheDiskIsFull) {
  std::filesystem::create_directory(store_path());
  if (::mount("tmpfs", store_path().c_str(), "tmpfs", 0, "size=256k") != 0)
    GTEST_SKIP() << "only root can make a small file system";
  const std::string a = publish("a", "1.0.0", {{"p/large", std::string(1u << 20, 'x')}});
  const std::string why = why_not(locked("a", a), Code::exhausted);
  const auto left = names_in(stores_->directory.own());
  stop();
  EXPECT_EQ(::umount2(store_path().c_str(), MNT_DETACH), 0);
  EXPECT_THAT(why, HasSubstr("No space left on device; make room in " + store_path()));
  EXPECT_THAT(left, IsEmpty());
}

TEST(StoreDirectory, DeletesWhatAProcessThatIsGoneHasLeft) {
  TestDirectory temporary;
  StoreDirectory living{temporary.path() + "/store"};
  living.prepare();
  const std::string dead = temporary.write("store/tmp/0123456789abcdef/half/file", "x");
  StoreDirectory other{temporary.path() + "/store"};
  other.prepare();
  const std::string work = living.make_temporary();
  other.clean();
  EXPECT_NE(::access(dead.c_str(), F_OK), 0);
  EXPECT_EQ(::access(work.c_str(), F_OK), 0);
}

TEST(StoreDirectory, LocksAreSharedOrNotAndCanBeForgotten) {
  TestDirectory temporary;
  StoreDirectory one{temporary.path()};
  StoreDirectory two{temporary.path()};
  one.prepare();
  using Lock = StoreDirectory::Lock;
  auto shared = one.try_lock("x", Lock::shared);
  EXPECT_TRUE(two.try_lock("x", Lock::shared));
  EXPECT_FALSE(two.try_lock("x", Lock::exclusive));
  shared.reset();
  auto alone = two.try_lock("x", Lock::exclusive);
  ASSERT_TRUE(alone);
  EXPECT_FALSE(one.try_lock("x", Lock::shared));
  two.forget_lock("x");
  EXPECT_TRUE(one.try_lock("x", Lock::exclusive));
}

}  // namespace
}  // namespace belljar::packages
