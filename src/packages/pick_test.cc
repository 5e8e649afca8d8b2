#include "packages/pick.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "packages/json_scan.h"

namespace belljar::packages {
namespace {

using testing::HasSubstr;

constexpr const char* kDocument = R"({"name":"x",
  "dist-tags":{"latest":"2.0.0","next":"4.0.0-rc.1","lost":"9.9.9"},"versions":{
  "1.0.0":{"dist":{"integrity":"sha512-a"}},
  "1.1.0":{"dist":{"integrity":"sha512-b"},"deprecated":"do \"not\" {"},
  "1.2.0":{"dist":{"integrity":"sha512-c"},"engines":{"node":">=30"}},
  "2.0.0":{"dist":{"integrity":"sha512-d"}},
  "2.1.0":{"dist":{"integrity":"sha512-e"}},
  "3.0.0":{"dist":{"integrity":"sha512-f"},"deprecated":"no"},
  "4.0.0-rc.1":{"dist":{"integrity":"sha512-g"}}}})";

std::string picked(const std::string& document, const std::string& spec) {
  PickOptions options;
  options.node = *parse_version("22.0.0");
  options.npm = *parse_version("11.0.0");
  const Picked result =
      pick(*Document::parse("x", document), PackageSpec::parse("x", spec), options);
  if (!result.unsure.empty()) return "unsure";
  return result.manifest != nullptr ? result.manifest->version_text : "none";
}

TEST(Pick, TakesWhatNpmTakes) {
  const struct {
    const char* spec;
    const char* version;
  } cases[] = {
      {"*", "2.0.0"},  // latest, although there are higher ones
      {">=1.0.0", "2.0.0"},
      {">2.0.0", "2.1.0"},   // 3.0.0 is deprecated
      {">=3.0.0", "3.0.0"},  // but better than nothing
      {"^1.0.0", "1.0.0"},   // 1.1.0 is deprecated, 1.2.0 for another Node.js
      {">1.0.0 <2.0.0", "1.1.0"},
      {"~1.2.0", "1.2.0"},
      {"1.1.0", "1.1.0"},
      {"v2.1.0", "2.1.0"},
      {"latest", "2.0.0"},
      {"next", "4.0.0-rc.1"},
      {"^4.0.0-rc.0", "4.0.0-rc.1"},
      {"^4.0.0", "none"},
      {"lost", "none"},
      {"nothing", "none"},
      {"5.0.0", "none"},
      {"", "2.0.0"},
      {"npm:y@^1.0.0", "1.0.0"},
  };
  for (const auto& [spec, version] : cases) EXPECT_EQ(picked(kDocument, spec), version) << spec;
}

TEST(Pick, TakesAPrereleaseForAnythingIfItIsTheLatest) {
  const char* document =
      R"({"dist-tags":{"latest":"1.0.0-rc.1"},"versions":{"1.0.0-rc.1":{"dist":{}}}})";
  EXPECT_EQ(picked(document, "*"), "1.0.0-rc.1");
  EXPECT_EQ(picked(document, "x"), "none");
}

TEST(Pick, IsUnsureOfVersionsThatOnlyNpmCanRead) {
  const std::string with = R"({"versions":{"1.0.0":{"dist":{}},"01.2":{},"1.0.0rc1":{}}})";
  EXPECT_EQ(picked(with, "*"), "unsure");
  EXPECT_EQ(picked(with, "1.0.0"), "1.0.0");
  const std::string loose = R"({"versions":{"1.0.0":{"dist":{}},"1.0.0rc1":{}}})";
  EXPECT_EQ(picked(loose, "*"), "1.0.0");
  EXPECT_EQ(picked(loose, ">=1.0.0-rc0"), "unsure");
  EXPECT_EQ(picked(kDocument, "git://x"), "unsure");
  EXPECT_EQ(picked(R"({"policyRestrictions":{},"versions":{"1.0.0":{}}})", "*"), "unsure");
}

TEST(PackageSpec, KnowsWhatIsMeant) {
  using Kind = PackageSpec::Kind;
  const struct {
    const char* text;
    Kind kind;
    const char* name;
  } cases[] = {
      {"1.2.3", Kind::version, "x"},
      {"=1.2.3", Kind::version, "x"},
      {"^1", Kind::range, "x"},
      {" 1.x || 2 ", Kind::range, "x"},
      {"next-14", Kind::tag, "x"},
      {"npm:@s/y@^1", Kind::range, "@s/y"},
      {"npm:y", Kind::range, "y"},
      {"NPM:y@beta", Kind::tag, "y"},
      {"file:../y", Kind::other, "x"},
      {"u/r", Kind::other, "x"},
      {"https://h/x.tgz", Kind::other, "x"},
      {"x.tgz", Kind::other, "x"},
      {"workspace:*", Kind::other, "x"},
      {"npm:npm:y", Kind::other, "x"},
      {"1.0.0beta", Kind::other, "x"},
      {"v1beta", Kind::other, "x"},
      {"a b", Kind::other, "x"},
      {"npm:../y@1", Kind::other, "../y"},
  };
  for (const auto& [text, kind, name] : cases) {
    const PackageSpec spec = PackageSpec::parse("x", text);
    EXPECT_EQ(spec.kind, kind) << text;
    EXPECT_EQ(spec.name, name) << text;
  }
}

TEST(PackageSpec, OrdersNamesAsNpmDoes) {
  const char* ordered[] = {"_a",  "-a",  ".a", "@a/b", "@ab", "0",  "9",   "a",   "A", "a_b", "a-b",
                           "a.b", "a/b", "a~", "a0",   "ab",  "aB", "abc", "Abd", "b", "B"};
  for (size_t i = 0; i < std::size(ordered); ++i)
    for (size_t j = 0; j < std::size(ordered); ++j)
      EXPECT_EQ(compare_as_english(ordered[i], ordered[j]), i < j   ? -1
                                                            : i > j ? 1
                                                                    : 0)
          << ordered[i] << " " << ordered[j];
}

TEST(ObjectScan, FindsMembersAndTheirEnds) {
  ObjectScan scan{R"( {"a" : "x\"}", "b":[{"c":"]"},2] ,"d\"":-1.5e3,"e":{}, "f":null} )"};
  const std::pair<const char*, const char*> expected[] = {{"a", R"("x\"}")"},
                                                          {"b", R"([{"c":"]"},2])"},
                                                          {R"(d\")", "-1.5e3"},
                                                          {"e", "{}"},
                                                          {"f", "null"}};
  for (const auto& [key, value] : expected) {
    const auto member = scan.next();
    ASSERT_TRUE(member);
    EXPECT_EQ(member->key, key);
    EXPECT_EQ(member->value, value);
  }
  EXPECT_FALSE(scan.next());
  EXPECT_FALSE(scan.failed());
}

TEST(ObjectScan, EndsWithAnyText) {
  const std::string text = R"({"a":{"b":["c\\",1]},"d":"e"})";
  for (size_t length = 0; length < text.size(); ++length) {
    ObjectScan scan{std::string_view{text}.substr(0, length)};
    while (scan.next()) continue;
    EXPECT_TRUE(scan.failed()) << length;
  }
  for (const char* bad :
       {"", "[]", "{1:2}", R"({"a" 1})", R"({"a":})", R"({"a":1 "b":2})", "{,}"}) {
    ObjectScan scan{bad};
    while (scan.next()) continue;
    EXPECT_TRUE(scan.failed()) << bad;
  }
}

TEST(ParseTime, ReadsWhatRegistriesWrite) {
  using namespace std::chrono;
  EXPECT_EQ(parse_time("1970-01-02T00:00:01.500Z"),
            Document::Time{} + hours{24} + milliseconds{1500});
  EXPECT_EQ(parse_time("1970-01-01T00:01:00Z"), Document::Time{} + minutes{1});
  for (const char* text : {"", "now", "2026-13-01T00:00:00Z", "2026-01-01 00:00:00Z",
                           "2026-01-01T00:00:00", "2026-01-01T00:00:00.xZ"})
    EXPECT_FALSE(parse_time(text)) << text;
}

}  // namespace
}  // namespace belljar::packages
