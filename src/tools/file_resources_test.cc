#include "tools/file_resources.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "base/posix.h"
#include "files/uri.h"
#include "mcp/testing.h"

namespace belljar::tools {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

namespace fs = std::filesystem;

// A shared directory and a client of a server that has it.
class World {
 public:
  explicit World(const asio::any_io_executor& executor)
      : parent_{make_parent()},
        arrived_{executor, std::chrono::steady_clock::time_point::max()},
        files_{share_files(root(), open_directory(root()).get())},
        watch_{executor, server_, files_, FileWatchOptions{milliseconds{1}, 0}},
        connection_{executor, server_, "", [this](const mcp::Outgoing& sent) { take(sent); }} {
    add_file_resources(server_, files_, watch_);
  }
  ~World() { fs::remove_all(parent_); }

  std::string root() const { return parent_ + "/shared"; }
  std::string uri(const std::string& path) const { return files::to_file_uri(root() + "/" + path); }

  void write(const std::string& path, std::string_view content) {
    const fs::path target = root() + "/" + path;
    fs::create_directories(target.parent_path());
    std::ofstream{target} << content;
  }

  void say(const std::string& line) { connection_.handle(line); }

  Task<json::object> request(std::string method, json::object params) {
    const int64_t id = next_id_++;
    say(mcp::request(std::to_string(id), method, json::serialize(params)));
    return answer(id);
  }

  // The same for a modern client.
  Task<json::object> modern(std::string method, std::string members) {
    const int64_t id = next_id_++;
    say(mcp::modern(std::to_string(id), method, members));
    return answer(id);
  }

  Task<json::object> list() { return request("resources/list", json::object{}); }

  // The next notification of this method; what came before it is dropped.
  Task<json::object> told(std::string method) {
    return next([method](const json::object& message) {
      const json::string* got = find_string(message, "method");
      return got != nullptr && *got == method;
    });
  }

  Task<> shake_hands(std::string version = "2025-11-25") {
    say(mcp::initialize(version));
    say(mcp::notification("notifications/initialized"));
    co_return;
  }

  Task<json::object> read(std::string at) {
    json::object params{{"uri", at}};
    co_return co_await request("resources/read", std::move(params));
  }

  Task<> end() {
    co_await connection_.stop();
    co_await watch_.stop();
  }

  mcp::Server& server() { return server_; }
  mcp::Connection& connection() { return connection_; }

 private:
  static std::string make_parent() {
    std::string path = "/tmp/belljar-resources-XXXXXX";
    if (::mkdtemp(path.data()) == nullptr) fail_errno(errno, "make a directory");
    fs::create_directory(path + "/shared");
    std::ofstream{path + "/secret"} << "secret";
    return path;
  }

  void take(const mcp::Outgoing& sent) {
    received_.push_back(json::parse(sent.text).as_object());
    arrived_.cancel();
  }

  Task<json::object> answer(int64_t id) {
    return next([id](const json::object& message) {
      const json::value* got = find(message, "id");
      return got != nullptr && *got == json::value(id);
    });
  }

  Task<json::object> next(std::function<bool(const json::object&)> wanted) {
    while (true) {
      while (!received_.empty()) {
        json::object message = std::move(received_.front());
        received_.erase(received_.begin());
        if (wanted(message)) co_return message;
      }
      boost::system::error_code woken;
      co_await arrived_.async_wait(asio::redirect_error(asio::use_awaitable, woken));
    }
  }

  std::string parent_;
  mcp::Server server_{mcp::demo(), mcp::ServerOptions{.page_size = 400}};
  std::vector<json::object> received_;
  asio::steady_timer arrived_;
  std::shared_ptr<const SharedFiles> files_;
  FileWatch watch_;
  mcp::Connection connection_;
  int64_t next_id_ = 100;
};

Task<> in_world(Task<> (*body)(World&)) {
  World world{co_await asio::this_coro::executor};
  try {
    co_await body(world);
  } catch (const std::exception& e) {
    ADD_FAILURE() << e.what();
  }
  co_await world.end();
}

void check(Task<> (*body)(World&)) {
  run(in_world(body));
}

const json::array& listed(const json::object& answer) {
  return answer.at("result").at("resources").as_array();
}

Task<> lists(World& world) {
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

Task<> older_list(World& world) {
  co_await world.shake_hands("2025-03-26");
  world.write("a", "");
  const json::object answer = co_await world.list();
  EXPECT_FALSE(listed(answer).at(0).as_object().contains("annotations"));
}
TEST(FileResources, HaveNoTimeInVersionsThatDoNotKnowIt) {
  check(older_list);
}

Task<> many(World& world) {
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

Task<> reads(World& world) {
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

Task<> large(World& world) {
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

Task<> elsewhere(World& world) {
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
    if (answer.contains("error")) EXPECT_EQ(answer.at("error"), json::value(expected)) << uri;
    const std::string member = "\"uri\":" + json::serialize(json::value(uri));
    const json::object modern = co_await world.modern("resources/read", member);
    EXPECT_EQ(modern.at("error").at("code").to_number<int>(), -32602) << uri;
  }
}
TEST(FileResources, ElsewhereAreAllNotFoundAlike) {
  check(elsewhere);
}

Task<json::array> proposals(World& world, std::string value, std::string argument = "filepath") {
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

Task<> completes(World& world) {
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

Task<> many_proposals(World& world) {
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

Task<json::object> subscribe(World& world, std::string uri) {
  json::object params{{"uri", uri}};
  co_return co_await world.request("resources/subscribe", std::move(params));
}

Task<> updates(World& world) {
  co_await world.shake_hands();
  world.write("deep/er/a", "1");
  co_await subscribe(world, world.uri("deep/er/a"));
  co_await subscribe(world, world.uri("not/yet"));
  world.write("deep/er/a", "2");
  const json::object changed = co_await world.told("notifications/resources/updated");
  EXPECT_EQ(changed.at("params").at("uri").as_string(), world.uri("deep/er/a"));
  world.write("not/yet", "now");
  const json::object made = co_await world.told("notifications/resources/updated");
  EXPECT_EQ(made.at("params").at("uri").as_string(), world.uri("not/yet"));
  fs::remove(world.root() + "/not/yet");
  const json::object gone = co_await world.told("notifications/resources/updated");
  EXPECT_EQ(gone.at("params").at("uri").as_string(), world.uri("not/yet"));
}
TEST(FileWatch, TellsALegacySubscriberOfChangesCreationAndDeletion) {
  check(updates);
}

Task<> list_changes(World& world) {
  co_await world.shake_hands();
  world.write("a", "1");
  co_await world.list();
  world.write("folder/b", "2");
  co_await world.told("notifications/resources/list_changed");
  fs::rename(world.root() + "/folder", world.root() + "/moved");
  co_await world.told("notifications/resources/list_changed");
  world.write("moved/c", "3");
  co_await world.told("notifications/resources/list_changed");
  fs::remove_all(world.root() + "/moved");
  co_await world.told("notifications/resources/list_changed");
}
TEST(FileWatch, TellsALegacyClientThatHasSeenTheListOfChangesToIt) {
  check(list_changes);
}

Task<> modern_changes(World& world) {
  world.write("a", "1");
  world.say(mcp::modern("7", "subscriptions/listen",
                        fmt::format(R"("notifications":{{"resourcesListChanged":true,)"
                                    R"("resourceSubscriptions":["{}"]}})",
                                    world.uri("a"))));
  co_await world.told("notifications/subscriptions/acknowledged");
  world.write("a", "2");
  const json::object updated = co_await world.told("notifications/resources/updated");
  EXPECT_EQ(updated.at("params").at("uri").as_string(), world.uri("a"));
  EXPECT_EQ(updated.at("params").at("_meta").at("io.modelcontextprotocol/subscriptionId"),
            json::value(7));
  world.write("b", "3");
  co_await world.told("notifications/resources/list_changed");
}
TEST(FileWatch, TellsAModernSubscriber) {
  check(modern_changes);
}

// How many inotify instances this process has.
int instances() {
  int count = 0;
  for (const auto& entry : fs::directory_iterator{"/proc/self/fd"}) {
    std::error_code gone;
    count += fs::read_symlink(entry.path(), gone) == "anon_inode:inotify" ? 1 : 0;
  }
  return count;
}

Task<> only_while_wanted(World& world) {
  co_await world.shake_hands();
  world.write("a", "1");
  co_await world.read(world.uri("a"));
  EXPECT_EQ(instances(), 0);
  co_await subscribe(world, world.uri("a"));
  EXPECT_GT(instances(), 0);
  json::object params{{"uri", world.uri("a")}};
  co_await world.request("resources/unsubscribe", std::move(params));
  while (instances() > 0) co_await mcp::let_run();
  co_await world.modern("resources/list", "");
  EXPECT_EQ(instances(), 0);
}
TEST(FileWatch, WatchesOnlyWhileSomebodyWantsToKnow) {
  check(only_while_wanted);
}

Task<> ends_with_the_client(World& world) {
  co_await world.shake_hands();
  co_await world.list();
  EXPECT_GT(instances(), 0);
  co_await world.connection().stop();
  while (instances() > 0) co_await mcp::let_run();
}
TEST(FileWatch, EndsWithTheLastClient) {
  check(ends_with_the_client);
}

Task<> same_size(World& world) {
  co_await world.shake_hands();
  world.write("a", "1");
  co_await subscribe(world, world.uri("a"));
  for (int round = 0; round < 3; ++round) {
    const Fd file{::open((world.root() + "/a").c_str(), O_WRONLY | O_CLOEXEC)};
    EXPECT_EQ(::pwrite(file.get(), "x", 1, 0), 1);
    const timespec old[2] = {{1, 0}, {1, 0}};
    ::futimens(file.get(), old);
    co_await world.told("notifications/resources/updated");
  }
}
TEST(FileWatch, NoticesAnEditThatKeepsSizeAndTime) {
  check(same_size);
}

}  // namespace
}  // namespace belljar::tools
