#include "packages/types.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "base/testing.h"
#include "net/test_server.h"
#include "packages/testing.h"

namespace belljar::packages {
namespace {

using net::http_answer;
using net::TestRequest;
using net::TestServer;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

// A registry with the packages that the test puts in.
class TypesTest : public testing::Test {
 protected:
  TypesTest() : server_{[this](const TestRequest& request) { return answer(request.target); }} {
    host_.prefixes = {};
    host_.environment["TMPDIR"] = directory_.path();
    host_.environment["npm_config_registry"] = server_.url("/");
    registry_ = std::make_unique<Registry>(host_);
  }

  void publish(const std::string& name, const std::string& version,
               std::vector<TestEntry> entries) {
    const std::string tarball = make_tarball(entries);
    const std::string path = fmt::format("/tarballs/{}", answers_.size());
    answers_[path] = http_answer(200, tarball);
    std::string& versions = versions_[name];
    versions += fmt::format(R"({}"{}":{{"dist":{{"tarball":"{}","integrity":"{}"}}}})",
                            versions.empty() ? "" : ",", version, server_.url(path),
                            sha512_integrity(tarball));
    const std::string document =
        fmt::format(R"({{"dist-tags":{{"latest":"{}"}},"versions":{{{}}}}})", version, versions);
    answers_["/" + Registry::path_of(name)] = http_answer(200, document);
  }
  PackageTypes find(const std::string& name, const std::string& version = "") {
    TypesOptions options;
    options.text_limit = 2000;
    return run(find_types(*registry_, {{name, version}}, options)).at(0);
  }
  std::string answer(const std::string& target) const {
    const auto found = answers_.find(target);
    return found != answers_.end() ? found->second : http_answer(404, "{}");
  }

  TestDirectory directory_;
  Surroundings host_;
  std::map<std::string, std::string> answers_;
  std::map<std::string, std::string> versions_;
  TestServer server_;
  std::unique_ptr<Registry> registry_;
};

TEST_F(TypesTest, AreThePackagesOwnInTheVersionThatFits) {
  publish("a", "1.0.0", {{"p/package.json", "{}"}, {"p/index.d.ts", "one\n"}});
  publish("a", "2.0.0", {{"p/package.json", "{}"}, {"p/index.d.ts", "two\n"}});
  const PackageTypes latest = find("a");
  EXPECT_EQ(latest.error, "");
  EXPECT_EQ(latest.version, "2.0.0");
  EXPECT_EQ(latest.types, "// index.d.ts\ntwo\n");
  EXPECT_EQ(latest.types_package, "");
  EXPECT_EQ(find("a", "^1").types, "// index.d.ts\none\n");
}

TEST_F(TypesTest, ComeFromTheTypesPackageOfTheSameMajorAndMinor) {
  const auto types = [](const std::string& text) -> std::vector<TestEntry> {
    return {{"p/package.json", R"({"types":"index.d.ts"})"}, {"p/index.d.ts", text}};
  };
  publish("a", "1.2.3", {{"p/package.json", "{}"}});
  publish("a", "3.0.0", {{"p/package.json", "{}"}});
  publish("@types/a", "1.2.0", types("1.2.0"));
  publish("@types/a", "1.2.9", types("1.2.9"));
  publish("@types/a", "2.0.0", types("2.0.0"));
  EXPECT_EQ(find("a", "1").types_package, "@types/a@1.2.9");
  EXPECT_EQ(find("a", "1").types, "// index.d.ts\n1.2.9\n");
  EXPECT_EQ(find("a", "1").version, "1.2.3");
  EXPECT_EQ(find("a", "3").types_package, "@types/a@2.0.0");
}

TEST_F(TypesTest, MayBeAbsent) {
  publish("@s/a", "1.0.0", {{"p/package.json", "{}"}});
  const PackageTypes found = find("@s/a");
  EXPECT_EQ(found.error, "");
  EXPECT_FALSE(found.has_types());
  EXPECT_EQ(server_.requests().back().target, "/@types%2fs__a");
}

TEST_F(TypesTest, OfAPackageFromARegistryOfItsOwnAreNotAskedForElsewhere) {
  TestServer open{[](const TestRequest&) { return http_answer(404, "{}"); }};
  host_.environment["npm_config_registry"] = open.url("/");
  host_.environment["npm_config_@secret:registry"] = server_.url("/");
  registry_ = std::make_unique<Registry>(host_);
  publish("@secret/a", "1.0.0", {{"p/package.json", "{}"}});
  EXPECT_EQ(find("@secret/a").version, "1.0.0");
  EXPECT_THAT(open.requests(), testing::IsEmpty());
}

TEST_F(TypesTest, ThatCannotBeHadDoNotKeepOthersBack) {
  publish("good", "1.0.0", {{"p/package.json", "{}"}, {"p/index.d.ts", "good\n"}});
  publish("device", "1.0.0", {{"p/index.d.ts", "", 0644, S_IFCHR}});
  publish("broken", "1.0.0", {{"p/index.d.ts", "x"}});
  publish("changed", "1.0.0", {{"p/package.json", "{}"}});
  answers_["/tarballs/6"] = http_answer(200, "something else");
  const std::vector<Dependency> dependencies = {{"absent", ""},     {"device", ""},
                                                {"good", "latest"}, {"broken", "*"},
                                                {"changed", ""},    {"good", "^7"}};
  const auto found = run(find_types(*registry_, dependencies, {}));
  EXPECT_THAT(found[0].error, EndsWith("does not have the package absent"));
  EXPECT_THAT(found[1].error, HasSubstr("neither file nor directory"));
  EXPECT_EQ(found[2].types, "// index.d.ts\ngood\n");
  EXPECT_THAT(found[3].error, HasSubstr("no package.json"));
  EXPECT_THAT(found[4].error, HasSubstr("damaged or exchanged"));
  EXPECT_THAT(found[5].error, EndsWith("no version that fits \"^7\"; the latest is 1.0.0"));
}

TEST_F(TypesTest, OfAHugePackageAreCut) {
  publish("huge", "1.0.0",
          {{"p/package.json", "{}"}, {"p/index.d.ts", std::string(1u << 20, '\n')}});
  const PackageTypes found = find("huge");
  EXPECT_THAT(found.types, StartsWith("// index.d.ts\n"));
  EXPECT_THAT(found.types, EndsWith("the file has 1 MiB, the limit is 2.0 KiB.\n"));
  EXPECT_LT(found.types.size(), 2100u);
}

TEST_F(TypesTest, OfASilentRegistryAreGivenUp) {
  answers_["/a"] = net::kSilence;
  TypesOptions options;
  options.time_limit = std::chrono::milliseconds{50};
  const auto found = run(find_types(*registry_, {{"a", ""}}, options));
  EXPECT_EQ(found.at(0).error, "not finished after 50 ms");
}

TEST(TypesPackage, HasANameOfItsOwn) {
  EXPECT_EQ(types_package_of("lodash"), "@types/lodash");
  EXPECT_EQ(types_package_of("@scope/name"), "@types/scope__name");
  EXPECT_EQ(types_package_of("@types/node"), "");
}

}  // namespace
}  // namespace belljar::packages
