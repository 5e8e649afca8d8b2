#include "tools/file_resources.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <set>

#include "tools/file_resources_testing.h"

namespace belljar::tools {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

namespace fs = std::filesystem;

const json::array& listed(const json::object& answer) {
  return answer.at("result").at("resources").as_array();
}

Task<> lists(FilesWorld& world) {
  co_await world.shake_hands();
  world.write("b.json", "{}");
  world.write("a/ü 1.txt", "text");
  world.write("picture", std::string{"\x89PNG\r\n\x1a\n", 8});
  fs::create_symlink("../secret", world.root() + "/link");
  ::mkfifo((world.root() + "/fifo").c_str(), 0600);
  const json::object answer = co_await world.list();
  const json::array& list = listed(answer);
  EXPECT_THAT(list, SizeIs(3));
  if (list.size() != 3) co_return;
  EXPECT_EQ(list[0].at("uri").as_string(), world.uri("a/ü 1.txt"));
  EXPECT_THAT(std::string{list[0].at("uri").as_string()}, HasSubstr("a/%C3%BC%201.txt"));
  EXPECT_EQ(list[0].at("name").as_string(), "a/ü 1.txt");
  EXPECT_EQ(list[0].at("mimeType").as_string(), "text/plain");
  EXPECT_EQ(list[0].at("size").to_number<int>(), 4);
  EXPECT_THAT(std::string{list[0].at("annotations").at("lastModified").as_string()},
              testing::MatchesRegex("20..-..-..T..:..:..Z"));
  EXPECT_EQ(list[1].at("mimeType").as_string(), "application/json");
  EXPECT_EQ(list[2].at("mimeType").as_string(), "image/png");
}
TEST(FileResources, AreListedWithTypeSizeAndTime) {
  check(lists);
}

Task<> older_list(FilesWorld& world) {
  co_await world.shake_hands("2025-03-26");
  world.write("a", "");
  const json::object answer = co_await world.list();
  EXPECT_FALSE(listed(answer).at(0).as_object().contains("annotations"));
}
TEST(FileResources, HaveNoTimeInVersionsThatDoNotKnowIt) {
  check(older_list);
}

Task<> many(FilesWorld& world) {
  for (int i = 0; i < 1100; ++i) world.write(fmt::format("f{:04}", i), "");
  std::set<std::string> seen;
  json::object params;
  while (true) {
    const json::object answer = co_await world.request("resources/list", params);
    for (const json::value& entry : listed(answer)) {
      seen.emplace(std::string_view{entry.at("uri").as_string()});
    }
    const json::value* next = find(answer.at("result").as_object(), "nextCursor");
    if (next == nullptr) break;
    params["cursor"] = *next;
  }
  EXPECT_THAT(seen, SizeIs(1000));
  EXPECT_TRUE(seen.contains(world.uri("f0999")));
}
TEST(FileResources, AreListedInPagesUpToAThousand) {
  check(many);
}

Task<> reads(FilesWorld& world) {
  world.write("t.txt", "grüße\n");
  world.write("b.bin", std::string{"\0\xff", 2});
  world.write("empty", "");
  const json::object text = co_await world.read(world.uri("t.txt"));
  EXPECT_EQ(json::serialize(text.at("result").at("contents")),
            json::serialize(json::array{json::object{
                {"uri", world.uri("t.txt")}, {"mimeType", "text/plain"}, {"text", "grüße\n"}}}));
  const json::object blob = co_await world.read(world.uri("b.bin"));
  EXPECT_EQ(blob.at("result").at("contents").at(0).at("blob").as_string(), "AP8=");
  const json::object empty = co_await world.read(world.uri("empty"));
  EXPECT_EQ(empty.at("result").at("contents").at(0).at("text").as_string(), "");
}
TEST(FileResources, AreReadAsTextOrBase64) {
  check(reads);
}

Task<> large(FilesWorld& world) {
  world.write("big", "");
  fs::resize_file(world.root() + "/big", (10u << 20) + 1);
  const json::object answer = co_await world.read(world.uri("big"));
  EXPECT_EQ(answer.at("error").at("code").to_number<int>(), -32602);
  const std::string words{answer.at("error").at("message").as_string()};
  EXPECT_THAT(words, HasSubstr("big is larger than 10 MiB"));
  EXPECT_THAT(words, HasSubstr("sandbox_read_file"));
}
TEST(FileResources, LargerThanTheLimitAreRefusedWithAdvice) {
  check(large);
}

Task<> elsewhere(FilesWorld& world) {
  world.write("a", "x");
  fs::create_symlink("../secret", world.root() + "/link");
  fs::create_symlink("/", world.root() + "/top");
  fs::create_directory(world.root() + "/folder");
  ::mkfifo((world.root() + "/fifo").c_str(), 0600);
  const std::string base = files::to_file_uri(world.root());
  const std::vector<std::string> uris = {base + "/none",
                                         base + "/link",
                                         base + "/top/etc/passwd",
                                         base + "/folder",
                                         base + "/fifo",
                                         base + "/../secret",
                                         base + "/%2e%2e/secret",
                                         base + "/..%2Fsecret",
                                         base + "/a%00b",
                                         base + "/a/b",
                                         base + "/a?x",
                                         base + "/a#x",
                                         base,
                                         base + "/",
                                         base + "/.",
                                         base + "x/a",
                                         "file:///etc/passwd",
                                         "file://other/etc/passwd",
                                         "file:///proc/self/environ",
                                         "http://" + base.substr(7) + "/a",
                                         "a",
                                         "",
                                         "file://",
                                         base + "/" + std::string(300, 'n'),
                                         base + "/" + std::string(5000, 'n')};
  for (const std::string& uri : uris) {
    const json::object answer = co_await world.read(uri);
    const json::object expected{
        {"code", -32002}, {"message", "Resource not found"}, {"data", {{"uri", uri}}}};
    EXPECT_TRUE(answer.contains("error")) << uri;
    if (answer.contains("error")) {
      EXPECT_EQ(answer.at("error"), json::value(expected)) << uri;
    }
    const std::string member = "\"uri\":" + json::serialize(json::value(uri));
    const json::object modern = co_await world.modern("resources/read", member);
    EXPECT_EQ(modern.at("error").at("code").to_number<int>(), -32602) << uri;
  }
}
TEST(FileResources, ElsewhereAreAllNotFoundAlike) {
  check(elsewhere);
}

Task<json::array> proposals(FilesWorld& world, std::string value,
                            std::string argument = "filepath") {
  json::object params;
  params["ref"] = json::object{{"type", "ref/resource"}, {"uri", "file://{+filepath}"}};
  params["argument"] = json::object{{"name", argument}, {"value", value}};
  const json::object answer = co_await world.request("completion/complete", std::move(params));
  co_return answer.at("result").at("completion").at("values").as_array();
}

std::string join(const json::array& values) {
  std::string text;
  for (const json::value& value : values) text += std::string{value.as_string()} + "\n";
  return text;
}

Task<> completes(FilesWorld& world) {
  world.write("report.txt", "");
  world.write("results/one", "");
  world.write("results/odd\nname", "");
  world.write("other", "");
  fs::create_symlink("/etc", world.root() + "/rlink");
  const std::string root = world.root();
  const std::string all = fmt::format("{0}/other\n{0}/report.txt\n{0}/results/\n", root);
  const std::string re = fmt::format("{0}/report.txt\n{0}/results/\n", root);
  for (const std::string& value : {std::string{}, std::string{"/"}, std::string{"/tm"}, root}) {
    const json::array values = co_await proposals(world, value);
    EXPECT_EQ(join(values), all) << value;
  }
  const json::array absolute = co_await proposals(world, root + "/re");
  EXPECT_EQ(join(absolute), re);
  const json::array relative = co_await proposals(world, "re");
  EXPECT_EQ(join(relative), re);
  const json::array inside = co_await proposals(world, root + "/results/");
  EXPECT_EQ(join(inside), root + "/results/one\n");
  for (const std::string& value : {std::string{"/etc/"}, root + "/../", root + "/rlink/",
                                   root + "/none/", root + "x", std::string{"zzz"}}) {
    const json::array none = co_await proposals(world, value);
    EXPECT_THAT(none, IsEmpty()) << value;
  }
  const json::array other = co_await proposals(world, "", "name");
  EXPECT_THAT(other, IsEmpty());
}
TEST(FileResources, AreProposedByTheBeginningOfTheirPath) {
  check(completes);
}

Task<> many_proposals(FilesWorld& world) {
  for (int i = 0; i < 150; ++i) world.write(fmt::format("f{:03}", i), "");
  json::object params;
  params["ref"] = json::object{{"type", "ref/resource"}, {"uri", "file://{+filepath}"}};
  params["argument"] = json::object{{"name", "filepath"}, {"value", "f"}};
  const json::object answer = co_await world.request("completion/complete", std::move(params));
  const json::object& completion = answer.at("result").at("completion").as_object();
  EXPECT_EQ(completion.at("values").as_array().size(), 100u);
  EXPECT_EQ(completion.at("total").to_number<int>(), 150);
  EXPECT_TRUE(completion.at("hasMore").as_bool());
}
TEST(FileResources, AreProposedAHundredAtATime) {
  check(many_proposals);
}

}  // namespace
}  // namespace belljar::tools
