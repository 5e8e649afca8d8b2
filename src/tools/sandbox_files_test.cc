#include <gmock/gmock.h>

#include "base/bytes.h"
#include "files/testing.h"
#include "tools/testing.h"

namespace belljar::tools {
namespace {

using testing::HasSubstr;

std::string with(const std::string& id, const std::string& rest) {
  return "{\"container_id\":\"" + id + "\"" + rest + "}";
}

Task<> reads(World& world) {
  const std::string id = co_await world.initialize();
  const std::string code =
      R"(,"code":"save a/text.txt 0123456789\nsave files/p.png \u0089PNG\nsave e.txt x€y")";
  co_await world.call("run_js", with(id, code));
  const auto whole =
      co_await world.call("sandbox_read_file", with(id, R"(,"path":"./a//text.txt")"));
  EXPECT_EQ(World::text(whole, 0), "0123456789");
  EXPECT_EQ(whole.structured->at("path"), "a/text.txt");
  EXPECT_TRUE(whole.structured->at("complete").as_bool());
  const auto part = co_await world.call("sandbox_read_file",
                                        with(id, R"(,"path":"a/text.txt","offset":4,"length":3)"));
  EXPECT_EQ(World::text(part, 0), "456");
  EXPECT_FALSE(part.structured->at("complete").as_bool());
  const auto bytes = co_await world.call("sandbox_read_file",
                                         with(id, R"(,"path":"a/text.txt","encoding":"base64")"));
  EXPECT_EQ(World::text(bytes, 0), base64("0123456789"));
  const auto cut =
      co_await world.call("sandbox_read_file", with(id, R"(,"path":"e.txt","length":3)"));
  EXPECT_EQ(World::text(cut, 0), "x") << "a character is not cut in two";
  EXPECT_EQ(cut.structured->at("length").to_number<int>(), 1);
}
TEST(SandboxReadFile, ReturnsTextBytesAndParts) {
  check(reads);
}

Task<> refuses(World& world) {
  const std::string id = co_await world.initialize();
  co_await world.call("run_js", with(id, R"(,"code":"save a x")"));
  const std::pair<const char*, const char*> cases[] = {
      {R"(,"path":"../a")", "argument \"path\""},
      {R"(,"path":"/etc/passwd")", "argument \"path\""},
      {R"(,"path":"a\u0000b")", "argument \"path\""},
      {R"(,"path":"")", "argument \"path\""},
      {R"(,"path":"nope")", "nope"},
      {R"(,"path":".")", "directory"},
      {R"(,"path":"a","offset":-1)", "argument \"offset\" is -1"},
  };
  for (const auto& [arguments, text] : cases) {
    const std::string refusal = co_await world.refusal("sandbox_read_file", with(id, arguments));
    EXPECT_THAT(refusal, HasSubstr(text)) << arguments;
  }
}
TEST(SandboxReadFile, RefusesWhatIsNotAFileOfTheWorkspace) {
  check(refuses);
}

Task<> lists(World& world) {
  const std::string id = co_await world.initialize();
  co_await world.call(
      "run_js", with(id, R"(,"code":"save b/c.txt 123\nsave a x\nsave node_modules/m/i.js y")"));
  const auto all = co_await world.call("sandbox_list_files", with(id, ""));
  EXPECT_EQ(World::text(all, 0), "a  1 bytes\nb/\nb/c.txt  3 bytes\nfiles/\nnode_modules/\n");
  const auto modules =
      co_await world.call("sandbox_list_files", with(id, R"(,"path":"node_modules")"));
  EXPECT_EQ(World::text(modules, 0), "node_modules/m/\nnode_modules/m/i.js  1 bytes\n");
  const auto few = co_await world.call("sandbox_list_files", with(id, R"(,"maxEntries":2)"));
  EXPECT_THAT(World::text(few, 0), HasSubstr("… and 3 more"));
  EXPECT_EQ(few.structured->at("more").to_number<int>(), 3);
  const auto flat = co_await world.call("sandbox_list_files", with(id, R"(,"recursive":false)"));
  EXPECT_EQ(flat.structured->at("entries").as_array().size(), 4u);
}
TEST(SandboxListFiles, ListsWithSizesAndWithoutTheModules) {
  check(lists);
}

Task<> write_refusals(World& world) {
  const std::string id = co_await world.initialize();
  const std::pair<const char*, const char*> cases[] = {
      {R"(,"files":[])", "argument \"files\""},
      {R"(,"files":[{"path":"a"}])", "argument \"files[0].content\" is missing"},
      {R"(,"files":[{"path":"a","content":""},{"path":"../b","content":""}])",
       "argument \"files[1].path\""},
      {R"(,"files":[{"path":"/a","content":""}])", "argument \"files[0].path\""},
      {R"(,"files":[{"path":"./","content":""}])", "names a directory"},
      {R"(,"files":[{"path":"a","content":"?","encoding":"base64"}])", "is not base64"},
      {R"(,"files":[{"path":"a","content":"x","encoding":"latin1"}])", "encoding"},
  };
  for (const auto& [arguments, text] : cases) {
    const std::string refusal = co_await world.refusal("sandbox_write_files", with(id, arguments));
    EXPECT_THAT(refusal, HasSubstr(text)) << arguments;
  }
  EXPECT_TRUE(world.driver.commands().empty());
}
TEST(SandboxWriteFiles, RefusesBadInputBeforeAnythingIsWritten) {
  check(write_refusals);
}

}  // namespace
}  // namespace belljar::tools
