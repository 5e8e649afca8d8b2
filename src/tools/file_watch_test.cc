#include "tools/file_watch.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "tools/file_resources_testing.h"

namespace belljar::tools {
namespace {

namespace fs = std::filesystem;

Task<json::object> subscribe(FilesWorld& world, std::string uri) {
  json::object params{{"uri", uri}};
  co_return co_await world.request("resources/subscribe", std::move(params));
}

Task<> updates(FilesWorld& world) {
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

Task<> list_changes(FilesWorld& world) {
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

Task<> modern_changes(FilesWorld& world) {
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

Task<> only_while_wanted(FilesWorld& world) {
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

Task<> ends_with_the_client(FilesWorld& world) {
  co_await world.shake_hands();
  co_await world.list();
  EXPECT_GT(instances(), 0);
  co_await world.connection().stop();
  while (instances() > 0) co_await mcp::let_run();
}
TEST(FileWatch, EndsWithTheLastClient) {
  check(ends_with_the_client);
}

Task<> same_size(FilesWorld& world) {
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
