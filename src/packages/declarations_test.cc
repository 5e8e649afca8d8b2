#include "packages/declarations.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "base/utf8.h"
#include "packages/references.h"

namespace belljar::packages {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

PackageFiles package(const std::string& manifest, const std::vector<std::string>& paths) {
  PackageFiles files;
  files["package.json"] = {manifest, manifest.size()};
  for (const std::string& path : paths) files[path] = {"", 0};
  return files;
}

std::string entry(const std::string& manifest, const std::vector<std::string>& paths) {
  return find_declarations(package(manifest, paths));
}

TEST(Declarations, AreWhereTypesOrTypingsSay) {
  EXPECT_EQ(entry(R"({"types":"./lib/a.d.ts"})", {"lib/a.d.ts", "index.d.ts"}), "lib/a.d.ts");
  EXPECT_EQ(entry(R"({"typings":"lib/a"})", {"lib/a.d.ts"}), "lib/a.d.ts");
  EXPECT_EQ(entry(R"({"types":"lib"})", {"lib/index.d.ts"}), "lib/index.d.ts");
  EXPECT_EQ(entry(R"({"types":"gone.d.ts"})", {"index.d.ts"}), "index.d.ts");
}

TEST(Declarations, StandBesideTheMainFile) {
  EXPECT_EQ(entry(R"({"main":"dist/a.js"})", {"dist/a.d.ts"}), "dist/a.d.ts");
  EXPECT_EQ(entry(R"({"main":"a.mjs"})", {"a.d.ts", "a.d.mts"}), "a.d.mts");
  EXPECT_EQ(entry(R"({"main":"./a.cjs"})", {"a.d.cts"}), "a.d.cts");
  EXPECT_EQ(entry(R"({"main":"dist"})", {"dist/index.d.ts"}), "dist/index.d.ts");
  EXPECT_EQ(entry("{}", {"index.d.ts"}), "index.d.ts");
  EXPECT_EQ(entry("{}", {"lib/index.d.ts"}), "");
}

TEST(Declarations, AreFoundInExports) {
  const std::vector<std::string> paths = {"a.d.ts", "m.d.mts", "c.d.cts", "index.d.ts"};
  EXPECT_EQ(entry(R"({"exports":"./m.mjs"})", paths), "m.d.mts");
  EXPECT_EQ(entry(R"({"exports":{"types":"./a.d.ts","default":"./x.js"}})", paths), "a.d.ts");
  EXPECT_EQ(
      entry(R"({"exports":{"./sub":"./a.js",".":{"import":"./x.js","types":"./a.d.ts"}}})", paths),
      "a.d.ts");
  EXPECT_EQ(entry(R"({"exports":{".":{"require":{"types":"./c.d.cts"},
                                      "import":{"types":"./m.d.mts"}}}})",
                  paths),
            "m.d.mts");
  EXPECT_EQ(entry(R"({"exports":{".":{"browser":"./a.js",
                      "node":{"import":{"types":["./no.d.ts","./m.d.mts"]}}}}})",
                  paths),
            "m.d.mts");
  EXPECT_EQ(entry(R"({"exports":{".":[{"import":"./c.cjs"},"./a.js"]}})", paths), "c.d.cts");
  EXPECT_EQ(entry(R"({"exports":{"types":{"require":"./c.d.cts","default":"./a.d.ts"}}})", paths),
            "a.d.ts");
  EXPECT_EQ(entry(R"({"exports":{".":{"require":{"types":"./c.d.cts"}}}})", paths), "c.d.cts");
  // A package whose exports have no types may still say where they are.
  EXPECT_EQ(entry(R"({"types":"a.d.ts","exports":{"./sub":"./m.mjs"}})", paths), "a.d.ts");
}

TEST(Declarations, FollowTypesVersionsOfTheNewestTypeScript) {
  const std::vector<std::string> paths = {"index.d.ts", "ts5/index.d.ts", "ts4/index.d.ts"};
  EXPECT_EQ(entry(R"({"types":"index.d.ts","typesVersions":{"<=4.9":{"*":["ts4/*"]}}})", paths),
            "index.d.ts");
  EXPECT_EQ(entry(R"({"types":"./index.d.ts","typesVersions":{">=5.0":{"*":["ts5/*"]},
                      "*":{"*":["ts4/*"]}}})",
                  paths),
            "ts5/index.d.ts");
  EXPECT_EQ(entry(R"({"typesVersions":{"*":{"index.d.ts":["ts4/index.d.ts"]}}})", paths),
            "ts4/index.d.ts");
}

TEST(Declarations, NeverComeFromOutsideThePackage) {
  for (const char* path : {"../../etc/passwd", "/etc/passwd", "a/../../b.d.ts", "..", "file:///x",
                           "C:\\\\x", "https://host/x.d.ts", "x\\u0000.d.ts"}) {
    const std::string text = path;
    EXPECT_EQ(entry(R"({"types":")" + text + R"("})", {"lib/a.d.ts"}), "") << path;
    EXPECT_EQ(entry(R"({"exports":{"types":"./)" + text + R"("}})", {"lib/a.d.ts"}), "") << path;
    EXPECT_EQ(entry(R"({"typesVersions":{"*":{"*":[")" + text + R"("]}}})", {"lib/a.d.ts"}), "");
  }
}

TEST(Declarations, SurvivePackageJsonOfTheWrongKind) {
  for (const char* manifest :
       {R"({"types":7})", R"({"types":{}})", R"({"exports":7})", R"({"exports":[[[[]]]]})",
        R"({"exports":{".":null}})", R"({"typesVersions":{"*":7,">=1":{"*":"x"}}})", "{}"})
    EXPECT_EQ(entry(manifest, {"lib/a.d.ts"}), "") << manifest;
  const std::string deep = std::string(5000, '[') + std::string(5000, ']');
  for (const std::string& manifest : {std::string{"[]"}, std::string{"{"}, std::string{}, deep})
    EXPECT_THROW(entry(manifest, {"index.d.ts"}), Error) << manifest.substr(0, 10);
  EXPECT_THROW(find_declarations({}), Error);
}

TEST(References, AreTheRelativePathsOfImportsAndExports) {
  EXPECT_THAT(relative_references(R"(/// <reference path="globals.d.ts" />
/// <reference types="node" />
// import './in-a-comment'
/* export * from './in-a-comment' */
import a from './a';
import './b'
export * from"../c.js"
export { x } from 'other';
import d = require("./d");
type E = import('./e').E;
declare const from: "./not-a-path", x: './nor-this' | `from './nor-this'`;
const text = "it's from './nor-this'";
export type { F }
  from
  './f';
)"),
              ElementsAre("globals.d.ts", "./a", "./b", "../c.js", "./d", "./e", "./f"));
}

TEST(References, EndWithTheText) {
  for (const char* text : {"import '", "import './a", "import('./a", "/* from './a'", "`${", "//",
                           "/// <reference path=", "/// <reference path=\"a", "from \\", "'\\"})
    EXPECT_THAT(relative_references(text).size(), testing::Le(1u)) << text;
  EXPECT_THAT(relative_references(std::string(1u << 20, '\'')), IsEmpty());
  EXPECT_THAT(relative_references(std::string(1u << 20, '/')), IsEmpty());
}

TEST(References, StayInThePackage) {
  EXPECT_EQ(path_beneath("lib", "../a"), "a");
  EXPECT_EQ(path_beneath("lib/x", "./.././y//z"), "lib/y/z");
  EXPECT_EQ(path_beneath("", "."), "");
  for (const char* path : {"../a", "./../a", "a/../../b", "/a", "a\\b", "\xff"})
    EXPECT_EQ(path_beneath("", path), std::nullopt) << path;
  EXPECT_EQ(path_beneath("lib", "../../a"), std::nullopt);
}

PackageFiles with(const std::vector<std::pair<std::string, std::string>>& contents) {
  PackageFiles files;
  for (const auto& [path, content] : contents) files[path] = {content, content.size()};
  return files;
}

TEST(Declarations, AreCollectedBreadthFirstAndEachOnce) {
  const PackageFiles files =
      with({{"lib/index.d.ts", "export * from './b';\nexport * from './a.js';"},
            {"lib/a.d.ts", "import '../deep/index';\n"},
            {"lib/b.d.ts", "import './index'; import './a'; import './no';\n"},
            {"deep/index.d.ts", "import '../../../outside';\n"},
            {"unused.d.ts", "unused"}});
  EXPECT_EQ(collect_declarations(files, "lib/index.d.ts", 10'000),
            "// lib/index.d.ts\nexport * from './b';\nexport * from './a.js';\n"
            "// lib/b.d.ts\nimport './index'; import './a'; import './no';\n"
            "// lib/a.d.ts\nimport '../deep/index';\n"
            "// deep/index.d.ts\nimport '../../../outside';\n");
}

TEST(Declarations, SayHowManyFilesDidNotFit) {
  const std::string big = std::string(90, '/') + "\nimport './c';\n";
  const PackageFiles files = with({{"index.d.ts", "import './a'; import './b';\n"},
                                   {"a.d.ts", big},
                                   {"b.d.ts", "short\n"},
                                   {"c.d.ts", "short\n"}});
  const std::string text = collect_declarations(files, "index.d.ts", 100);
  EXPECT_THAT(text, StartsWith("// index.d.ts\nimport './a'; import './b';\n"));
  EXPECT_THAT(text, EndsWith("// 3 more files are left out: the limit is 100 bytes.\n"));
}

TEST(Declarations, AreCutWhereAFirstSmallFileLeadsToALargeOne) {
  const PackageFiles files =
      with({{"index.d.ts", "import './a';\n"}, {"a.d.ts", "line\n" + std::string(1000, '/')}});
  const std::string text = collect_declarations(files, "index.d.ts", 200);
  EXPECT_THAT(text, StartsWith("// index.d.ts\nimport './a';\n// a.d.ts\nline\n// … cut here"));
}

TEST(Declarations, ThatWereNotKeptAreCountedAndOthersFollow) {
  PackageFiles files = with({{"index.d.ts", "import './a'; import './b';\n"}, {"b.d.ts", "b\n"}});
  files["a.d.ts"] = {"", 5000};
  EXPECT_EQ(collect_declarations(files, "index.d.ts", 10'240),
            "// index.d.ts\nimport './a'; import './b';\n// b.d.ts\nb\n"
            "// 1 more file is left out: the limit is 10 KiB.\n");
}

TEST(Declarations, AreCutAtALineIfTheFirstFileIsTooLarge) {
  PackageFiles files = with({{"index.d.ts", "line 1\nline 2\nline \xff\xc3"}});
  files["index.d.ts"].size = 5u << 20;
  const std::string text = collect_declarations(files, "index.d.ts", 30);
  EXPECT_EQ(
      text,
      "// index.d.ts\nline 1\nline 2\n// … cut here: the file has 5 MiB, the limit is 30 bytes.\n");
  files["index.d.ts"].content = std::string(100, '\xc3');
  EXPECT_TRUE(is_utf8(collect_declarations(files, "index.d.ts", 31)));
}

}  // namespace
}  // namespace belljar::packages
