#include "packages/resolver.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <map>

#include "base/error.h"
#include "base/testing.h"

namespace belljar::packages {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A registry in memory, and what becomes of dependencies with it.
class Resolver : public testing::Test {
 protected:
  // Members of the manifest besides name, version and dist: `"dependencies":{"b":"1"}`.
  void add(const std::string& name, const std::string& version, const std::string& more = "") {
    Package& package = packages_[name];
    package.latest = version;
    package.versions += fmt::format(
        R"({}"{}":{{"name":"{}","version":"{}","dist":{{"integrity":"sha512-{}-{}"}}{}{}}})",
        package.versions.empty() ? "" : ",", version, name, version, name, version,
        more.empty() ? "" : ",", more);
  }
  void set_latest(const std::string& name, const std::string& version) {
    packages_[name].latest = version;
  }
  void add_document(const std::string& name, const std::string& text) {
    packages_[name].text = text;
  }

  Resolution resolve_all(const std::vector<Dependency>& dependencies) {
    request_.dependencies = dependencies;
    request_.node_version = "22.11.0";
    request_.platform.cpu = "x64";
    request_.documents = [this](const std::string& name) { return document(name); };
    return run(resolve(request_));
  }

  // "path version" of each package; or "not sure: …".
  std::vector<std::string> tree(const std::vector<Dependency>& dependencies) {
    const Resolution resolution = resolve_all(dependencies);
    if (!resolution.lockfile) return {"not sure: " + resolution.not_sure};
    std::vector<std::string> result;
    for (const LockedPackage& locked : resolution.lockfile->packages) {
      std::string path = locked.path;
      for (size_t at; (at = path.find("node_modules/")) != path.npos;) path.erase(at, 13);
      result.push_back(path + " " + locked.version);
    }
    return result;
  }

  json::object entry(const std::vector<Dependency>& dependencies, const std::string& path) {
    const Resolution resolution = resolve_all(dependencies);
    for (const LockedPackage& locked : resolution.lockfile.value().packages)
      if (locked.path == "node_modules/" + path) return locked.entry;
    return {};
  }

  std::string error_of(const std::vector<Dependency>& dependencies) {
    try {
      const Resolution resolution = resolve_all(dependencies);
      return "no error, " + resolution.not_sure;
    } catch (const Error& error) {
      code_ = error.code();
      return error.what();
    }
  }

  ResolveRequest request_;
  Code code_ = Code::internal;
  std::map<std::string, int> asked_;

 private:
  struct Package {
    std::string versions;
    std::string latest;
    std::string text;
  };

  Task<std::shared_ptr<const Document>> document(std::string name) {
    ++asked_[name];
    const auto at = packages_.find(name);
    if (at == packages_.end()) fail(Code::not_found, "the registry does not have {}", name);
    const Package& package = at->second;
    std::string text = package.text;
    if (text.empty())
      text = fmt::format(R"({{"name":"{}","dist-tags":{{"latest":"{}"}},"versions":{{{}}}}})", name,
                         package.latest, package.versions);
    co_return Document::parse(name, std::move(text));
  }

  std::map<std::string, Package> packages_;
};

TEST_F(Resolver, PutsEverythingAtTheTopThatCanBeThere) {
  add("a", "1.0.0", R"("dependencies":{"b":"^1.0.0"})");
  add("b", "1.0.0", R"("dependencies":{"@s/c":"*"})");
  add("b", "1.2.0", R"("dependencies":{"@s/c":"*"})");
  add("@s/c", "3.0.0");
  EXPECT_THAT(tree({{"a", "^1.0.0"}}), ElementsAre("@s/c 3.0.0", "a 1.0.0", "b 1.2.0"));
  EXPECT_THAT(asked_,
              ElementsAre(testing::Pair("@s/c", 1), testing::Pair("a", 1), testing::Pair("b", 1)));
}

TEST_F(Resolver, NestsWhatConflicts) {
  add("a", "1.0.0", R"("dependencies":{"c":"1"})");
  add("b", "1.0.0", R"("dependencies":{"c":"2","d":"1"})");
  add("d", "1.0.0", R"("dependencies":{"c":"2"})");
  add("c", "1.0.0");
  add("c", "2.0.0");
  EXPECT_THAT(tree({{"a", "1"}, {"b", "1"}}),
              ElementsAre("a 1.0.0", "b 1.0.0", "b/c 2.0.0", "c 1.0.0", "d 1.0.0", "d/c 2.0.0"));
  // The order in which they are given says nothing.
  EXPECT_THAT(tree({{"b", "1"}, {"a", "1"}}),
              ElementsAre("a 1.0.0", "b 1.0.0", "b/c 2.0.0", "c 1.0.0", "d 1.0.0", "d/c 2.0.0"));
}

TEST_F(Resolver, LetsWhatTheProjectWantsHaveTheTop) {
  add("a", "1.0.0", R"("dependencies":{"z":"1"})");
  add("z", "1.0.0");
  add("z", "2.0.0");
  EXPECT_THAT(tree({{"a", "1"}, {"z", "2"}}), ElementsAre("a 1.0.0", "a/z 1.0.0", "z 2.0.0"));
}

TEST_F(Resolver, BringsPeersAlongBesideTheirDependent) {
  add("plugin", "1.0.0", R"("peerDependencies":{"host":"^1.0.0"})");
  add("host", "1.5.0", R"("dependencies":{"x":"*"})");
  add("host", "2.0.0");
  add("x", "1.0.0");
  EXPECT_THAT(tree({{"plugin", "*"}}), ElementsAre("host 1.5.0", "plugin 1.0.0", "x 1.0.0"));
  EXPECT_EQ(entry({{"plugin", "*"}}, "host").at("peer"), true);
  // A broad range of the project gives way to what its plugin wants.
  EXPECT_THAT(tree({{"plugin", "*"}, {"host", ">=1"}}),
              ElementsAre("host 1.5.0", "plugin 1.0.0", "x 1.0.0"));
}

TEST_F(Resolver, KeepsPeersOfWhatIsNestedTogether) {
  add("a", "1.0.0", R"("dependencies":{"plugin":"1","host":"1"})");
  add("plugin", "1.0.0", R"("peerDependencies":{"host":"1"})");
  add("host", "1.0.0");
  add("host", "2.0.0");
  EXPECT_THAT(tree({{"a", "1"}, {"host", "2"}}),
              ElementsAre("a 1.0.0", "a/host 1.0.0", "a/plugin 1.0.0", "host 2.0.0"));
}

TEST_F(Resolver, IsNotSureOfPeersThatConflict) {
  add("plugin", "1.0.0", R"("peerDependencies":{"host":"1"})");
  add("host", "1.0.0");
  add("host", "2.0.0");
  EXPECT_THAT(tree({{"plugin", "1"}, {"host", "2"}}),
              ElementsAre(HasSubstr("not sure: peer dependencies conflict")));
}

TEST_F(Resolver, InstallsNoOptionalPeersForTheirOwnSake) {
  add("a", "1.0.0",
      R"("peerDependencies":{"b":"1","none":"*"},)"
      R"("peerDependenciesMeta":{"b":{"optional":true},"none":{"optional":true}})");
  add("b", "1.0.0");
  add("b", "2.0.0");
  EXPECT_THAT(tree({{"a", "1"}}), ElementsAre("a 1.0.0"));
  EXPECT_THAT(tree({{"a", "1"}, {"b", "1"}}), ElementsAre("a 1.0.0", "b 1.0.0"));
}

TEST_F(Resolver, ListsOptionalDependenciesForOtherPlatformsToo) {
  add("a", "1.0.0",
      R"("dependencies":{"win":"1"},"optionalDependencies":{"lin":"1","win":"1","gone":"1"})");
  add("lin", "1.0.0", R"("os":["linux"],"cpu":["x64"],"libc":["glibc"])");
  add("win", "1.0.0", R"("os":["win32"],"dependencies":{"x":"*"})");
  add("x", "1.0.0");
  EXPECT_THAT(tree({{"a", "1"}}), ElementsAre("a 1.0.0", "lin 1.0.0", "win 1.0.0", "x 1.0.0"));
  const json::object win = entry({{"a", "1"}}, "win");
  EXPECT_EQ(win.at("optional"), true);
  EXPECT_EQ(json::serialize(win.at("os")), R"(["win32"])");
  EXPECT_EQ(entry({{"a", "1"}}, "x").at("optional"), true);
  EXPECT_FALSE(entry({{"a", "1"}}, "a").contains("dependencies"));
}

TEST_F(Resolver, RefusesWhatIsNotForThisPlatform) {
  add("a", "1.0.0", R"("dependencies":{"win":"1"})");
  add("win", "1.0.0", R"("os":["win32","darwin"])");
  EXPECT_EQ(error_of({{"a", "1"}}),
            "win 1.0.0 is not for this platform (linux x64 glibc), but for win32/darwin; a 1.0.0 "
            "depends on it");
  EXPECT_EQ(code_, Code::invalid);
  request_.platform.os = "darwin";
  EXPECT_THAT(tree({{"a", "1"}}), ElementsAre("a 1.0.0", "win 1.0.0"));
}

TEST_F(Resolver, FollowsAliases) {
  add("a", "1.0.0", R"("dependencies":{"b-old":"npm:@s/b@^1","b":"npm:@s/b"})");
  add("@s/b", "1.0.0");
  add("@s/b", "2.0.0");
  EXPECT_THAT(tree({{"a", "1"}}), ElementsAre("a 1.0.0", "b 2.0.0", "b-old 1.0.0"));
  EXPECT_EQ(entry({{"a", "1"}}, "b-old").at("name"), "@s/b");
}

TEST_F(Resolver, EndsWithCircles) {
  add("a", "1.0.0", R"("dependencies":{"b":"*","a":"*"})");
  add("b", "1.0.0", R"("dependencies":{"a":"*"},"peerDependencies":{"c":"*"})");
  add("c", "1.0.0", R"("peerDependencies":{"b":"*"})");
  EXPECT_THAT(tree({{"a", "1"}}), ElementsAre("a 1.0.0", "b 1.0.0", "c 1.0.0"));
}

TEST_F(Resolver, IsNotSureOfCirclesThatNeverEnd) {
  add("a", "1.0.0", R"("dependencies":{"b":"1"})");
  add("a", "2.0.0", R"("dependencies":{"b":"2"})");
  add("b", "1.0.0", R"("dependencies":{"a":"2"})");
  add("b", "2.0.0", R"("dependencies":{"a":"1"})");
  EXPECT_THAT(tree({{"a", "1"}}), ElementsAre(HasSubstr("needs itself in a circle")));
}

TEST_F(Resolver, IsNotSureOfWhatOnlyNpmKnows) {
  add("bundle", "1.0.0", R"("bundleDependencies":["x"],"dependencies":{"x":"1"})");
  add("shrunk", "1.0.0", R"("_hasShrinkwrap":true)");
  add("git", "1.0.0", R"("dependencies":{"x":"github:u/r"})");
  add("words", "1.0.0", R"("dependencies":{"x":7})");
  add("unhashed", "1.0.0", R"("dist":{})");
  add("x", "1.0.0");
  for (const char* name : {"bundle", "shrunk", "git", "words", "unhashed"})
    EXPECT_THAT(tree({{name, "1"}}), ElementsAre(HasSubstr("not sure: "))) << name;
}

TEST_F(Resolver, SaysWhichPackageIsMissingAndWhoWantsIt) {
  add("a", "1.0.0", R"("dependencies":{"b":"^2.0.0","gone":"*"})");
  add("b", "1.0.0");
  add("b", "1.3.0");
  EXPECT_EQ(error_of({{"b", "^2.0.0"}}), "no version of b fits \"^2.0.0\"; the newest is 1.3.0");
  EXPECT_EQ(code_, Code::not_found);
  EXPECT_EQ(error_of({{"a", "1"}}),
            "no version of b fits \"^2.0.0\"; the newest is 1.3.0; a 1.0.0 depends on it");
  EXPECT_EQ(error_of({{"gone", "*"}}), "the registry does not have gone");
  EXPECT_EQ(code_, Code::not_found);
}

TEST_F(Resolver, SeesOnlyWhatIsOldEnough) {
  add_document("a", R"({"dist-tags":{"latest":"1.1.0"},"versions":{
    "1.0.0":{"dist":{"integrity":"sha512-1"}},"1.1.0":{"dist":{"integrity":"sha512-2"}}},
    "time":{"1.0.0":"2026-01-01T00:00:00.000Z","1.1.0":"2026-02-01T00:00:00.000Z"}})");
  request_.published_before = parse_time("2026-01-15T00:00:00.000Z");
  EXPECT_THAT(tree({{"a", "^1.0.0"}}), ElementsAre("a 1.0.0"));
  EXPECT_THAT(tree({{"a", "latest"}}), ElementsAre("a 1.0.0"));
  EXPECT_EQ(error_of({{"a", "1.1.0"}}),
            "no version of a fits \"1.1.0\" that is old enough: 1.1.0 was published later than "
            "2026-01-15 00:00");
  add("timeless", "1.0.0");
  EXPECT_THAT(tree({{"timeless", "1"}}), ElementsAre(HasSubstr("not sure: timeless")));
}

TEST_F(Resolver, RefusesWhatIsDenied) {
  add("a", "1.0.0", R"("dependencies":{"b":"1"})");
  add("b", "1.0.0");
  request_.denied = {"b"};
  EXPECT_EQ(error_of({{"a", "1"}}),
            "the package b must not be installed here; a 1.0.0 depends on it");
  EXPECT_EQ(code_, Code::denied);
}

TEST_F(Resolver, WarnsOfPackagesForAnotherNode) {
  add("a", "1.0.0", R"("engines":{"node":">=30"})");
  const Resolution resolution = resolve_all({{"a", "1"}});
  EXPECT_THAT(resolution.warnings, ElementsAre("a 1.0.0 wants Node.js >=30, this is 22.11.0"));
  EXPECT_TRUE(resolution.lockfile);
}

TEST_F(Resolver, WritesEntriesAsNpmDoes) {
  add("@s/a", "1.0.0",
      R"("bin":"./cli.js","license":{"type":"MIT"},"funding":"https://f.example",)"
      R"("scripts":{"postinstall":"x","test":"y"},"engines":{"node":">=18"},"deprecated":"no",)"
      R"("os":[],"main":"x.js","peerDependencies":{})");
  const json::object expected =
      json::parse(R"({"version":"1.0.0","integrity":"sha512-@s/a-1.0.0","bin":{"a":"cli.js"},
        "license":"MIT","funding":{"url":"https://f.example"},"hasInstallScript":true,
        "engines":{"node":">=18"},"deprecated":"no"})")
          .get_object();
  EXPECT_EQ(entry({{"@s/a", "1"}}, "@s/a"), expected);
}

TEST_F(Resolver, EndsSoonWhateverTheRegistrySays) {
  std::string many;
  for (int i = 0; i < 100'000; ++i) many += fmt::format(R"({}"d{}":"*")", i == 0 ? "" : ",", i);
  add("many", "1.0.0", R"("dependencies":{)" + many + "}");
  add("names", "1.0.0", R"("dependencies":{"../../etc":"*"})");
  add("ranges", "1.0.0", R"("dependencies":{"x":")" + std::string(100'000, '>') + R"("})");
  for (const char* name : {"many", "names", "ranges"})
    EXPECT_THAT(tree({{name, "1"}}), ElementsAre(HasSubstr("not sure: "))) << name;
  add_document("text", "<html>");
  EXPECT_THAT(error_of({{"text", "1"}}), HasSubstr("is not a package document"));
  add_document("empty", "{}");
  EXPECT_EQ(error_of({{"empty", "1"}}), "the registry has no version of empty any more");
}

// Each has all others as its peers: the ways through them are as many as their orders.
TEST_F(Resolver, IsNotSureOfPeersThatAllWantEachOther) {
  constexpr int kCount = 14;
  for (int i = 0; i < kCount; ++i) {
    std::string peers;
    for (int j = 0; j < kCount; ++j)
      if (i != j) peers += fmt::format(R"({}"p{}":"*")", peers.empty() ? "" : ",", j);
    add(fmt::format("p{}", i), "1.0.0", R"("peerDependencies":{)" + peers + "}");
  }
  EXPECT_THAT(tree({{"p0", "1"}}), ElementsAre(HasSubstr("in too many ways")));
}

// Every package wants a new one, without end.
TEST_F(Resolver, FollowsNoEndlessChain) {
  for (int i = 0; i < 150; ++i)
    add(fmt::format("c{}", i), "1.0.0", fmt::format(R"("dependencies":{{"c{}":"*"}})", i + 1));
  EXPECT_THAT(tree({{"c0", "1"}}), ElementsAre(HasSubstr("too often")));
}

}  // namespace
}  // namespace belljar::packages
