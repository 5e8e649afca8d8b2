#include "packages/package_sets.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <atomic>
#include <filesystem>
#include <fstream>

#include "base/testing.h"
#include "net/test_server.h"
#include "packages/testing.h"

namespace belljar::packages {
namespace {

namespace fs = std::filesystem;
using net::http_answer;
using net::TestRequest;
using net::TestServer;
using testing::HasSubstr;

const std::string kClose = "Connection: close\r\n";  // the server takes one after the other

Task<Lockfile> no_npm(const WantedSet&, InstallProgress) {
  fail(Code::unavailable, "npm was asked");
}

// A registry with one package, "x" 1.0.0, and sets in a directory of their own.
class PackageSetsTest : public testing::Test {
 protected:
  PackageSetsTest() : server_{[this](const TestRequest& request) { return answer(request); }} {
    host_.home = directory_.path();
    host_.prefixes = {};
    host_.environment["npm_config_registry"] = server_.url("/");
  }

  std::string answer(const TestRequest& request) {
    ++asked_;
    if (request.target == "/x.tgz") return http_answer(200, tarball_, kClose);
    if (request.target != "/x") return http_answer(404, "{}", kClose);
    return http_answer(
        200,
        fmt::format(R"({{"name":"x","dist-tags":{{"latest":"1.0.0"}},"versions":{{"1.0.0":)"
                    R"({{"name":"x","version":"1.0.0","hasInstallScript":true,)"
                    R"("dist":{{"tarball":"{}","integrity":"{}"}}}}}}}})",
                    server_.url("/x.tgz"), sha512_integrity(tarball_)),
        kClose);
  }

  // Does something with sets as a fresh process would have them.
  template <class Function>
  void with_sets(Function function) {
    run(start(function));
  }
  template <class Function>
  Task<> start(Function& function) {
    Registry registry{host_};
    PackageSets sets{co_await asio::this_coro::executor, registry, clock_, store_, rules_, {}};
    auto settled = co_await settle(finish(function, sets));
    co_await sets.stop();
    if (settled.error) std::rethrow_exception(settled.error);
  }
  template <class Function>
  static Task<bool> finish(Function& function, PackageSets& sets) {
    co_await function(sets);
    co_return true;
  }
  static Task<FoundSet> get(PackageSets& sets, std::string name = "x") {
    WantedSet wanted{{{std::move(name), "1"}}, nullptr, "24.1.0"};
    return get(sets, std::move(wanted));
  }
  static Task<FoundSet> get(PackageSets& sets, WantedSet wanted) {
    PackageSets::Npm npm{no_npm, nullptr};
    InstallProgress silent;
    co_return co_await sets.get(std::move(wanted), std::move(npm), std::move(silent));
  }
  std::string file_of_layer(const std::string& name) const {
    for (const auto& entry : fs::recursive_directory_iterator{store_ + "/layers"})
      if (entry.path().filename() == name) return entry.path().string();
    return "";
  }

  TestDirectory directory_;
  std::string store_ = directory_.path() + "/packages";
  std::string tarball_ = make_tarball({{"p/package.json", R"({"name":"x"})"}, {"p/index.js", "1"}});
  std::atomic<int> asked_ = 0;
  TestServer server_;
  Surroundings host_;
  SystemClock clock_;
  PackageRules rules_;
};

TEST_F(PackageSetsTest, AreMadeOnce) {
  const auto check = [](PackageSets& sets) -> Task<> {
    const FoundSet found = co_await get(sets);
    EXPECT_EQ(found.layer->info->package_count, 1u);
    const FoundSet again = co_await get(sets);
    EXPECT_TRUE(again.cached);
  };
  with_sets(check);
  EXPECT_EQ(asked_, 2) << "the document and the tarball";
  with_sets(check);
  EXPECT_EQ(asked_, 2);
}

TEST_F(PackageSetsTest, OfAnotherRegistryAreOthers) {
  const auto check = [](PackageSets& sets) -> Task<> {
    const FoundSet found = co_await get(sets);
    EXPECT_FALSE(found.cached);
  };
  with_sets(check);
  host_.environment["npm_config_@scope:registry"] = "http://127.0.0.1:9/";
  with_sets(check);
  rules_.denied = {"y"};
  with_sets(check);
}

TEST_F(PackageSetsTest, OfAnotherCLibraryAreOthers) {
  const auto check = [](PackageSets& sets) -> Task<> {
    const FoundSet usual = co_await get(sets);
    WantedSet other{{{"x", "1"}}, nullptr, "24.1.0"};
    other.libc = "musl";
    const FoundSet musl = co_await get(sets, std::move(other));
    EXPECT_FALSE(musl.cached);
    EXPECT_EQ(musl.layer->info->target.platform.libc, "musl");
    WantedSet image{{{"x", "1"}}, nullptr, "24.1.0"};
    image.image = "sha256:1";
    const FoundSet shared = co_await get(sets, std::move(image));
    EXPECT_TRUE(shared.cached) << "no script was run: nothing in it is an image's";
  };
  with_sets(check);
}

TEST_F(PackageSetsTest, SayWhoseScriptsDidNotRun) {
  const auto check = [](PackageSets& sets) -> Task<> {
    const FoundSet found = co_await get(sets);
    EXPECT_THAT(found.warnings, testing::ElementsAre(HasSubstr("packages-allow-scripts=x")));
  };
  with_sets(check);
}

TEST_F(PackageSetsTest, WithScriptsThatAreAllowedAreOthers) {
  std::shared_ptr<const Lockfile> lockfile;
  const auto make = [&lockfile](PackageSets& sets) -> Task<> {
    const FoundSet found = co_await get(sets);
    EXPECT_FALSE(found.cached);
    lockfile = std::make_shared<const Lockfile>(Lockfile::parse(*found.layer->lockfile));
  };
  const auto is_cached = [&lockfile](PackageSets& sets) -> Task<bool> {
    WantedSet wanted{{}, lockfile, "24.1.0"};
    PackageSets::Npm npm{no_npm, nullptr};
    InstallProgress silent;
    const FoundSet found = co_await sets.get(std::move(wanted), std::move(npm), std::move(silent));
    co_return found.cached;
  };
  const auto expect = [&is_cached](bool cached) {
    return [&is_cached, cached](PackageSets& sets) -> Task<> {
      const bool is = co_await is_cached(sets);
      EXPECT_EQ(is, cached);
    };
  };
  with_sets(make);
  with_sets(expect(false));
  with_sets(expect(true));
  rules_.allow_scripts = {"unrelated"};
  with_sets(expect(true));
  rules_.allow_scripts = {"unrelated", "x"};
  with_sets(make);
  with_sets(expect(false));
  rules_.allow_scripts = {"x"};
  with_sets(expect(true));
}

TEST_F(PackageSetsTest, GiveTheirLockfilesBackWhenTheyAreForgotten) {
  const auto check = [this](PackageSets& sets) -> Task<> {
    const FoundSet found = co_await get(sets);
    const std::string sha256 = found.layer->info->lockfile_sha256;
    const auto kept = co_await sets.lockfile(sha256);
    EXPECT_EQ(kept, *found.layer->lockfile);
    fs::remove_all(store_ + "/lockfiles");
    const auto of_layer = co_await sets.lockfile(sha256);
    EXPECT_EQ(of_layer, *found.layer->lockfile);
    const auto unknown = co_await sets.lockfile(std::string(64, '0'));
    EXPECT_FALSE(unknown);
    const auto path = co_await sets.lockfile("../../etc/passwd");
    EXPECT_FALSE(path);
  };
  with_sets(check);
}

TEST_F(PackageSetsTest, AreReadAgainOneByOne) {
  const auto check = [this](PackageSets& sets) -> Task<> {
    co_await sets.scrub_next();  // there is none
    co_await get(sets);
    co_await sets.scrub_next();
    EXPECT_NE(file_of_layer("index.js"), "");
    std::ofstream{file_of_layer("index.js")} << "2";
    co_await sets.scrub_next();
    EXPECT_EQ(file_of_layer("index.js"), "") << "a damaged one is taken away";
    const FoundSet again = co_await get(sets);
    EXPECT_FALSE(again.cached);
    std::ifstream file{file_of_layer("index.js")};
    EXPECT_EQ(file.get(), '1');
  };
  with_sets(check);
}

TEST_F(PackageSetsTest, NameAPackageThatDoesNotExist) {
  const auto check = [](PackageSets& sets) -> Task<> { co_await get(sets, "y"); };
  std::string error;
  try {
    with_sets(check);
  } catch (const Error& e) {
    error = e.what();
  }
  EXPECT_THAT(error, HasSubstr("no package \"y\" in the registry; check its spelling"));
}

}  // namespace
}  // namespace belljar::packages
