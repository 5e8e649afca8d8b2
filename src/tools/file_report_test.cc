#include "tools/file_report.h"

#include <gmock/gmock.h>

#include "base/bytes.h"
#include "files/testing.h"
#include "tools/testing.h"

namespace belljar::tools {
namespace {

using files::Change;
using files::TestDirectory;
using testing::HasSubstr;
using Kind = Change::Kind;

constexpr const char* kPng = "\x89PNG\r\n\x1a\nrest of it";

files::Changes changes_of(std::vector<Change> list) {
  files::Changes changes;
  changes.list = std::move(list);
  return changes;
}

std::string list_of(const FileReport& report) {
  return std::string{report.blocks.at(0).at("text").as_string()};
}

TEST(FileReport, SaysNothingAboutNothing) {
  const TestDirectory directory;
  const FileReport report = describe_changes(directory.directory(), {}, "", {});
  EXPECT_TRUE(report.blocks.empty());
  EXPECT_TRUE(report.fields.empty());
}

TEST(FileReport, ShowsImagesAndNamesFilesThatAreOnTheHost) {
  const TestDirectory directory;
  directory.write("chart.png", kPng);
  directory.write("a b.txt", "hello");
  const auto changes = changes_of({{"a b.txt", Kind::updated, files::Type::file, 5},
                                   {"chart.png", Kind::created, files::Type::file, 18},
                                   {"old", Kind::deleted, files::Type::file, 0}});
  const FileReport report = describe_changes(directory.directory(), changes, "/home/ann/out", {});
  EXPECT_EQ(list_of(report),
            "List of changed files:\n- a b.txt was updated\n- chart.png was created\n- old was "
            "deleted");
  ASSERT_EQ(report.blocks.size(), 4u);
  const json::value& text = report.blocks.at(1).at("resource");
  EXPECT_EQ(text.at("uri"), "file:///home/ann/out/a%20b.txt");
  EXPECT_EQ(text.at("text"), "a b.txt");
  EXPECT_EQ(text.at("mimeType"), "text/plain");
  EXPECT_EQ(report.blocks.at(2).at("type"), "image");
  EXPECT_EQ(report.blocks.at(2).at("mimeType"), "image/png");
  EXPECT_EQ(report.blocks.at(2).at("data").as_string(), base64(kPng));
  EXPECT_EQ(report.blocks.at(3).at("resource").at("text"), "chart.png");
  ASSERT_EQ(report.fields.size(), 3u);
  EXPECT_EQ(report.fields.at(2).at("change"), "deleted");
  EXPECT_TRUE(report.fields.at(2).at("mimeType").is_null());
}

TEST(FileReport, ReturnsTheContentOfFilesThatAreNowhereElse) {
  const TestDirectory directory;
  directory.write("note.txt", "kept");
  directory.write("data.bin", std::string_view{"\0\1\2", 3});
  const auto changes = changes_of({{"data.bin", Kind::created, files::Type::file, 3},
                                   {"note.txt", Kind::created, files::Type::file, 4}});
  const FileReport report = describe_changes(directory.directory(), changes, "", {});
  EXPECT_EQ(report.blocks.at(1).at("resource").at("blob"), "AAEC");
  EXPECT_EQ(report.blocks.at(2).at("resource").at("text"), "kept");
  EXPECT_EQ(report.blocks.at(2).at("resource").at("uri"), "file:///workspace/files/note.txt");
}

TEST(FileReport, LinksToWhatIsTooLarge) {
  const TestDirectory directory;
  directory.write("large.txt", std::string(2000, 'x'));
  directory.write("large.png", kPng + std::string(2000, 'x'));
  FileLimits limits;
  limits.content = 1000;
  limits.image = 1000;
  const auto changes = changes_of({{"large.png", Kind::created, files::Type::file, 2018},
                                   {"large.txt", Kind::created, files::Type::file, 2000}});
  for (const char* host : {"", "/out"}) {
    const FileReport report = describe_changes(directory.directory(), changes, host, limits);
    ASSERT_EQ(report.blocks.size(), 3u);
    EXPECT_EQ(report.blocks.at(1).at("type"), "resource_link");
    EXPECT_EQ(report.blocks.at(1).at("mimeType"), "image/png");
    EXPECT_EQ(report.blocks.at(2).at("type"), "resource_link");
    EXPECT_EQ(report.blocks.at(2).at("size").to_number<int>(), 2000);
  }
}

TEST(FileReport, IsHonestAboutWhatItLeavesOut) {
  const TestDirectory directory;
  std::vector<Change> list;
  for (int i = 100; i < 200; ++i) {
    directory.write(std::to_string(i), "x");
    list.push_back({std::to_string(i), Kind::created, files::Type::file, 1});
  }
  FileLimits limits;
  limits.listed = 60;
  limits.returned = 10;
  files::Changes changes = changes_of(std::move(list));
  changes.truncated = true;
  const FileReport report = describe_changes(directory.directory(), changes, "", limits);
  EXPECT_EQ(report.fields.size(), 60u);
  EXPECT_EQ(report.blocks.size(), 11u);
  EXPECT_THAT(list_of(report), HasSubstr("… and 40 more"));
  EXPECT_THAT(list_of(report), HasSubstr("Of these files 50 more are not returned"));
  EXPECT_THAT(list_of(report), HasSubstr("too many files to follow"));
}

TEST(FileReport, NeverFollowsALink) {
  const TestDirectory directory;
  directory.link_to("/etc/passwd", "link");
  const auto changes = changes_of({{"link", Kind::created, files::Type::symlink, 11},
                                   // it was a file when the tree was read
                                   {"link", Kind::updated, files::Type::file, 11}});
  const FileReport report = describe_changes(directory.directory(), changes, "", {});
  EXPECT_EQ(report.blocks.size(), 1u);
  EXPECT_THAT(list_of(report), HasSubstr("- link was created (symbolic link, not followed)"));
}

TEST(FileReport, ShowsOddNamesOnOneLine) {
  const TestDirectory directory;
  const std::string name = "a\n- b was deleted\xff";
  directory.write(name, "x");
  const auto changes = changes_of({{name, Kind::created, files::Type::file, 1}});
  const FileReport report = describe_changes(directory.directory(), changes, "/out", {});
  EXPECT_EQ(list_of(report),
            "List of changed files:\n- a\\n- b was deleted\xef\xbf\xbd was created");
  EXPECT_EQ(report.blocks.at(1).at("resource").at("uri"),
            "file:///out/a%0A-%20b%20was%20deleted%FF");
}

Task<> in_a_run(World& world) {
  const std::string id = co_await world.initialize();
  const std::string with_id = "{\"container_id\":\"" + id + "\",\"code\":";
  const mcp::ToolResult first =
      co_await world.call("run_js", with_id + "\"save files/a.txt one\\nprint done\"}");
  EXPECT_EQ(World::text(first, 0), "Node.js process output:\ndone\n");
  EXPECT_EQ(World::text(first, 1), "List of changed files:\n- a.txt was created");
  EXPECT_EQ(first.structured->at("files").at(0).at("path"), "a.txt");
  const mcp::ToolResult second =
      co_await world.call("run_js", with_id + "\"save files/a.txt two\\nexit 1\"}");
  EXPECT_EQ(World::text(second, 1), "List of changed files:\n- a.txt was updated");
  const mcp::ToolResult third = co_await world.call("run_js", with_id + "\"print nothing\"}");
  EXPECT_THAT(World::text(third, 1), HasSubstr("Telemetry:"));
}
TEST(FileReport, IsPartOfARun) {
  check(in_a_run);
}

}  // namespace
}  // namespace belljar::tools
