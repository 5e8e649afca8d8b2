#include "packages/lockfile.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/error.h"
#include "packages/npm_json.h"
#include "packages/platform.h"

namespace belljar::packages {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// What npm 11 wrote with --omit-lockfile-registry-resolved, without the line with the root's name:
// a scope, an alias, a nested tree, a command and an optional package of another system.
const std::string kByNpm = R"json({
  "lockfileVersion": 3,
  "requires": true,
  "packages": {
    "": {
      "dependencies": {
        "@isaacs/balanced-match": "^4.0.1",
        "semver": "7.6.3",
        "string-width-cjs": "npm:string-width@4.2.0",
        "strip-ansi": "^7"
      },
      "optionalDependencies": {
        "fsevents": "2.3.3"
      }
    },
    "node_modules/@isaacs/balanced-match": {
      "version": "4.0.1",
      "integrity": "sha512-yzMTt9lEb8Gv7zRioUilSglI0c0smZ9k5D65677DLWLtWJaXIS3CqcGyUFByYKlnUj6TkjLVs54fBl6+TiGQDQ==",
      "license": "MIT",
      "engines": {
        "node": "20 || >=22"
      }
    },
    "node_modules/ansi-regex": {
      "version": "6.6.0",
      "integrity": "sha512-XZ5apbzreCbXSKwPjJstu8R0zOi247w3XYwWxtwBXgpZrCyc1Ka7p9/xY0A9/diMewmHbEKz+FIraWaEWjlN5g==",
      "license": "MIT",
      "engines": {
        "node": ">=12"
      },
      "funding": {
        "url": "https://github.com/chalk/ansi-regex?sponsor=1"
      }
    },
    "node_modules/emoji-regex": {
      "version": "8.0.0",
      "integrity": "sha512-MSjYzcWNOA0ewAHpz0MxpYFvwg6yjy1NG3xteoqz644VCo/RPgnr1/GGt+ic3iJTzQ8Eu3TdM14SawnVUmGE6A==",
      "license": "MIT"
    },
    "node_modules/fsevents": {
      "version": "2.3.3",
      "integrity": "sha512-5xoDfX+fL7faATnagmWPpbFtwh/R77WmMMqqHGS65C3vvB0YHrgF+B1YmZ3441tMj5n63k0212XNoJwzlhffQw==",
      "license": "MIT",
      "optional": true,
      "os": [
        "darwin"
      ],
      "engines": {
        "node": "^8.16.0 || ^10.6.0 || >=11.0.0"
      }
    },
    "node_modules/is-fullwidth-code-point": {
      "version": "3.0.0",
      "integrity": "sha512-zymm5+u+sCsSWyD9qNaejV3DFvhCKclKdizYaJUuHA83RLjb7nSuGnddCHGv0hk+KY7BMAlsWeK4Ueg6EV6XQg==",
      "license": "MIT",
      "engines": {
        "node": ">=8"
      }
    },
    "node_modules/semver": {
      "version": "7.6.3",
      "integrity": "sha512-oVekP1cKtI+CTDvHWYFUcMtsK/00wmAEfyqKfNdARm8u1wNVhSgaX7A8d4UuIlUI5e84iEwOhs7ZPYRmzU9U6A==",
      "license": "ISC",
      "bin": {
        "semver": "bin/semver.js"
      },
      "engines": {
        "node": ">=10"
      }
    },
    "node_modules/string-width-cjs": {
      "name": "string-width",
      "version": "4.2.0",
      "integrity": "sha512-zUz5JD+tgqtuDjMhwIg5uFVV3dtqZ9yQJlZVfq4I01/K5Paj5UHj7VyrQOJvzawSVlKpObApbfD0Ed6yJc+1eg==",
      "license": "MIT",
      "dependencies": {
        "emoji-regex": "^8.0.0",
        "is-fullwidth-code-point": "^3.0.0",
        "strip-ansi": "^6.0.0"
      },
      "engines": {
        "node": ">=8"
      }
    },
    "node_modules/string-width-cjs/node_modules/ansi-regex": {
      "version": "5.0.1",
      "integrity": "sha512-quJQXlTSUGL2LH9SUXo8VwsY4soanhgo6LNSm84E1LBcE8s3O0wpdiRzyR9z/ZZJMlMWv37qOOb9pdJlMUEKFQ==",
      "license": "MIT",
      "engines": {
        "node": ">=8"
      }
    },
    "node_modules/string-width-cjs/node_modules/strip-ansi": {
      "version": "6.0.1",
      "integrity": "sha512-Y38VPSHcqkFrCpFnQ9vuSXmquuv5oXOKpGeT6aGrr3o3Gc9AlVa6JBfUSOCnbxGGZF+/0ooI7KrPuUSztUdU5A==",
      "license": "MIT",
      "dependencies": {
        "ansi-regex": "^5.0.1"
      },
      "engines": {
        "node": ">=8"
      }
    },
    "node_modules/strip-ansi": {
      "version": "7.2.0",
      "integrity": "sha512-yDPMNjp4WyfYBkHnjIRLfca1i6KMyGCtsVgoKe/z1+6vukgaENdgGBZt+ZmKPc4gavvEZ5OgHfHdrazhgNyG7w==",
      "license": "MIT",
      "dependencies": {
        "ansi-regex": "^6.2.2"
      },
      "engines": {
        "node": ">=12"
      },
      "funding": {
        "url": "https://github.com/chalk/strip-ansi?sponsor=1"
      }
    }
  }
}
)json";

const std::string kHash =
    "sha512-yzMTt9lEb8Gv7zRioUilSglI0c0smZ9k5D65677DLWLtWJaXIS3CqcGyUFByYKlnUj6TkjLVs54fBl6+TiGQDQ="
    "=";

// A lockfile with one more entry, which has a version and an integrity unless `entry` says so.
std::string with_entry(const std::string& path, const std::string& entry) {
  return fmt::format(
      R"({{"lockfileVersion":3,"packages":{{"":{{"dependencies":{{"a":"1"}}}},
          "node_modules/a":{{"version":"1.0.0","integrity":"{0}"}},
          "{1}":{{{2}}}}}}})",
      kHash, path, fmt::format(fmt::runtime(entry), fmt::arg("hash", kHash)));
}

const std::string kProper = R"("version":"1.0.0","integrity":"{hash}")";

std::string why_not(const std::string& text) {
  try {
    Lockfile::parse(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::invalid);
    return error.what();
  }
  return "";
}

const LockedPackage& package_at(const Lockfile& lockfile, std::string_view path) {
  for (const LockedPackage& package : lockfile.packages)
    if (package.path == path) return package;
  fail(Code::not_found, "no {}", path);
}

TEST(Lockfile, IsWrittenAsNpmWritesIt) {
  EXPECT_EQ(Lockfile::parse(kByNpm).serialize(), kByNpm);
}

TEST(Lockfile, HasTheDependenciesOfTheRootAndEveryPackage) {
  const Lockfile lockfile = Lockfile::parse(kByNpm);
  ASSERT_EQ(lockfile.dependencies.size(), 4u);
  EXPECT_EQ(lockfile.dependencies[2].name, "string-width-cjs");
  EXPECT_EQ(lockfile.dependencies[2].version, "npm:string-width@4.2.0");
  EXPECT_EQ(lockfile.packages.size(), 10u);
  const LockedPackage& semver = package_at(lockfile, "node_modules/semver");
  EXPECT_EQ(semver.version, "7.6.3");
  EXPECT_EQ(semver.bin.at("semver"), "bin/semver.js");
  EXPECT_FALSE(semver.optional);
  EXPECT_EQ(package_at(lockfile, "node_modules/string-width-cjs").name, "string-width");
  const LockedPackage& events = package_at(lockfile, "node_modules/fsevents");
  EXPECT_TRUE(events.optional);
  EXPECT_THAT(events.os, ElementsAre("darwin"));
}

TEST(Lockfile, KnowsWhoHasInstallScripts) {
  const Lockfile lockfile =
      Lockfile::parse(with_entry("node_modules/b", kProper + R"(,"hasInstallScript":true)"));
  EXPECT_TRUE(package_at(lockfile, "node_modules/b").has_install_script);
  EXPECT_FALSE(package_at(lockfile, "node_modules/a").has_install_script);
}

TEST(Lockfile, DropsAddressesAndTheNameOfTheRoot) {
  const Lockfile lockfile = Lockfile::parse(
      with_entry("node_modules/b", kProper + R"(,"resolved":"https://host/b.tgz")"));
  EXPECT_EQ(package_at(lockfile, "node_modules/b").resolved, "");
  EXPECT_THAT(lockfile.serialize(), Not(HasSubstr("https:")));
  const Lockfile named = Lockfile::parse(
      R"({"name":"x","version":"1.0.0","lockfileVersion":3,"packages":{"":{"name":"x"}}})");
  EXPECT_EQ(named.serialize(),
            "{\n  \"lockfileVersion\": 3,\n  \"requires\": true,\n  \"packages\": {}\n}\n");
}

TEST(Lockfile, NormalizesCommandsAsNpmDoes) {
  const Lockfile lockfile = Lockfile::parse(with_entry(
      "node_modules/@s/b",
      kProper +
          R"(,"bin":{{"../../x":"../../etc/passwd","..":"a","y":"./c\\d.js","z":7,"":"e"}})"));
  const LockedPackage& package = package_at(lockfile, "node_modules/@s/b");
  EXPECT_EQ(package.bin, (decltype(package.bin){{"x", "etc/passwd"}, {"y", "c/d.js"}}));
  const Lockfile one =
      Lockfile::parse(with_entry("node_modules/@s/b", kProper + R"(,"bin":"m.js")"));
  EXPECT_EQ(package_at(one, "node_modules/@s/b").bin.at("b"), "m.js");
}

TEST(Lockfile, RefusesPathsThatAreNotThoseOfPackages) {
  for (const char* path :
       {"../a", "/node_modules/a", "node_modules/../a", "node_modules/a/../b", "packages/a", "a",
        "node_modules/", "node_modules/.bin", "node_modules/a/b", "node_modules/a/",
        "node_modules//b", "node_modules/@s", "node_modules/node_modules",
        "node_modules/a/node_modules", "node_modules/b\\u0000c", "node_modules/a\\nb"})
    EXPECT_THAT(why_not(with_entry(path, kProper)), HasSubstr("is not the path of a package"))
        << path;
  EXPECT_THAT(why_not(with_entry("node_modules/b/node_modules/c", kProper)),
              HasSubstr("inside of a package that the lockfile does not have"));
}

TEST(Lockfile, RefusesWhatDoesNotComeFromARegistry) {
  const auto refusal = [](const std::string& entry) {
    return why_not(with_entry("node_modules/b", entry));
  };
  EXPECT_THAT(refusal(R"("resolved":"packages/b","link":true)"), HasSubstr("is a link"));
  EXPECT_THAT(refusal(R"("version":"1.0.0","resolved":"git+ssh://git@host/b.git#123")"),
              HasSubstr("none from git or files"));
  EXPECT_THAT(refusal(kProper + R"(,"resolved":"file:b.tgz")"),
              HasSubstr("none from git or files"));
  EXPECT_THAT(refusal(R"("version":"1.0.0","resolved":"https://host/b.tgz")"),
              HasSubstr("has no \"integrity\""));
  EXPECT_THAT(refusal(R"("version":"1.0.0","integrity":"md5-aaaa")"), HasSubstr("that is none"));
  EXPECT_THAT(refusal(R"("version":7,"integrity":"{hash}")"), HasSubstr("no text"));
  EXPECT_THAT(refusal(R"("version":"latest","integrity":"{hash}")"), HasSubstr("\"version\""));
  EXPECT_THAT(refusal(kProper + R"(,"name":"../x")"), HasSubstr("no package can have"));
  EXPECT_THAT(refusal(R"("version":"1.0.0","inBundle":true)"), HasSubstr("in no other package"));
  EXPECT_THAT(
      why_not(R"({"lockfileVersion":3,"packages":{"":{"dependencies":{"a":"file:../a"}}}})"),
      HasSubstr("no registry serves"));
  EXPECT_THAT(why_not(R"({"lockfileVersion":3,"packages":{"":{"workspaces":["a"]}}})"),
              HasSubstr("workspaces"));
}

TEST(Lockfile, TakesWhatIsInABundleWithoutIntegrity) {
  const Lockfile lockfile = Lockfile::parse(
      with_entry("node_modules/a/node_modules/b", R"("version":"1.0.0","inBundle":true)"));
  EXPECT_TRUE(package_at(lockfile, "node_modules/a/node_modules/b").in_bundle);
}

TEST(Lockfile, RefusesWhatIsNoLockfile) {
  EXPECT_THAT(why_not("[]"), HasSubstr("not JSON"));
  EXPECT_THAT(why_not("{"), HasSubstr("not JSON"));
  EXPECT_THAT(why_not(std::string(200, '[')), HasSubstr("not JSON"));
  EXPECT_THAT(why_not(R"({"lockfileVersion":1,"dependencies":{}})"), HasSubstr("npm 7"));
  EXPECT_THAT(why_not(R"({"lockfileVersion":3})"), HasSubstr("no \"packages\""));
  EXPECT_THAT(why_not(R"({"lockfileVersion":3,"packages":{"node_modules/a":7}})"),
              HasSubstr("not described"));
  EXPECT_THAT(why_not(std::string(Lockfile::kMaxText + 1, ' ')), HasSubstr("larger than 16 MiB"));
}

TEST(Lockfile, RefusesMorePackagesThanTheLimit) {
  json::object packages;
  for (size_t i = 0; i <= Lockfile::kMaxPackages + 1; ++i)
    packages[fmt::format("node_modules/p{}", i)] = json::object{};
  json::object whole{{"lockfileVersion", 3}, {"packages", std::move(packages)}};
  EXPECT_THAT(why_not(json::serialize(whole)), HasSubstr("5000 is the limit"));
}

TEST(NpmJson, SortsKeysAsNpmDoes) {
  json::object from{{"b", 1},
                    {"B", 1},
                    {"a_b", 1},
                    {"a-b", 1},
                    {"a/b", 1},
                    {"10", 1},
                    {"9", 1},
                    {"@a", 1},
                    {"requires", 1},
                    {"name", 1},
                    {"a", 1},
                    {"09", 1},
                    {"aa", json::array{}},
                    {"0", json::object{}}};
  std::string keys;
  const std::string text = npm_json(from);
  for (size_t at = text.find('"'); at != text.npos; at = text.find('"', text.find('\n', at)))
    keys += text.substr(at + 1, text.find('"', at + 1) - at - 1) + " ";
  // From node: json-stringify-nice of the same object.
  EXPECT_EQ(keys, "0 9 10 name requires @a 09 a a_b a-b a/b aa b B ");
}

TEST(NpmJson, WritesTextsAndNumbersAsJavaScriptDoes) {
  json::array from{"a\"\\/\n\x01\x7fé", 1.0, 0.5, -3, true, nullptr, json::array{}, json::object{}};
  EXPECT_EQ(npm_json(from),
            "[\n  \"a\\\"\\\\/\\n\\u0001\x7fé\",\n  1,\n  0.5,\n  -3,\n  true,\n  null,\n  [],\n  "
            "{}\n]\n");
}

std::vector<std::string> wanted_paths(const std::string& text, const Platform& platform) {
  const Lockfile lockfile = Lockfile::parse(text);
  std::vector<std::string> paths;
  for (const LockedPackage* package : wanted_packages(lockfile, platform))
    paths.push_back(package->path);
  return paths;
}

TEST(Platform, LeavesOutOptionalPackagesOfOthers) {
  const Platform linux{"linux", "x64", "glibc"};
  const Platform mac{"darwin", "arm64", ""};
  EXPECT_EQ(wanted_paths(kByNpm, linux).size(), 9u);
  EXPECT_EQ(wanted_paths(kByNpm, mac).size(), 10u);
}

TEST(Platform, LeavesOutWhatOnlyTheyNeedAndWhoeverNeedsThem) {
  const auto entry = [](const std::string& path, const std::string& more) {
    return fmt::format(R"("node_modules/{}":{{"version":"1.0.0","integrity":"{}"{}}},)", path,
                       kHash, more);
  };
  // top -?> chain -> foreign -> only; top -> shared; foreign -> shared; foreign holds inner.
  const std::string text =
      R"({"lockfileVersion":3,"packages":{)" +
      entry("top", R"(,"dependencies":{"shared":"1"},"optionalDependencies":{"chain":"1"})") +
      entry("chain", R"(,"optional":true,"dependencies":{"foreign":"1"})") +
      entry("foreign",
            R"(,"optional":true,"os":["win32"],"dependencies":{"only":"1","shared":"1"})") +
      entry("foreign-not", R"(,"optional":true,"os":["!win32"])") +
      entry("foreign/node_modules/inner", R"(,"optional":true)") +
      entry("only", R"(,"optional":true)") + entry("shared", "") +
      R"("":{"dependencies":{"top":"1"}}}})";
  EXPECT_THAT(wanted_paths(text, {"linux", "x64", "glibc"}),
              ElementsAre("node_modules/foreign-not", "node_modules/shared", "node_modules/top"));
}

TEST(Platform, RefusesATreeThatNeedsAPackageOfAnother) {
  const std::string text =
      with_entry("node_modules/b", kProper + R"(,"os":["win32"],"cpu":["x64"])");
  try {
    wanted_paths(text, {"linux", "x64", "glibc"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "b 1.0.0 is only for os win32, cpu x64; this is os linux, cpu x64, libc glibc");
  }
}

TEST(Platform, ReadsListsAsNpmDoes) {
  const auto suits_list = [](std::vector<std::string> cpu) {
    LockedPackage package;
    package.cpu = std::move(cpu);
    return suits(package, {"linux", "x64", "glibc"});
  };
  EXPECT_TRUE(suits_list({}));
  EXPECT_TRUE(suits_list({"any"}));
  EXPECT_FALSE(suits_list({"any", "arm64"}));
  EXPECT_TRUE(suits_list({"arm64", "x64"}));
  EXPECT_TRUE(suits_list({"!arm64"}));
  EXPECT_FALSE(suits_list({"!x64", "x64"}));
  EXPECT_FALSE(suits_list({"!arm64", "ia32"}));
}

}  // namespace
}  // namespace belljar::packages
