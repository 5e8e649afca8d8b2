#include "drivers/docker/driver.h"

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <boost/asio/post.hpp>
#include <cstring>

#include "base/error.h"
#include "base/posix.h"
#include "base/testing.h"
#include "base/timeout.h"
#include "drivers/docker/agent/packet.h"
#include "drivers/docker/agent/protocol.h"
#include "drivers/docker/images.h"
#include "drivers/docker/testing.h"
#include "net/test_server.h"

namespace belljar::docker {
namespace {

using net::http_answer;
using testing::ElementsAre;
using testing::StartsWith;

std::string id_of(char letter) {
  return "sha256:" + std::string(64, letter);
}

constexpr const char* kVersion =
    R"({"Version":"20.10.24","ApiVersion":"1.41","Components":[{"Name":"runc","Version":"1.4.3"}]})";
constexpr const char* kInfo =
    R"({"OSType":"linux","DefaultRuntime":"runc","Runtimes":{"runc":{}},"MemoryLimit":true,)"
    R"("SwapLimit":true,"PidsLimit":true,"CpuCfsQuota":true,"SecurityOptions":["name=seccomp"]})";

// An engine with one image, node:24, in whose containers agents say hello and nothing else.
class OneImage {
 public:
  std::string answer(const FakeRequest& request) {
    const std::string& line = request.line;
    if (line.starts_with("GET /version")) return http_answer(200, kVersion);
    if (line.ends_with("/info HTTP/1.1")) return http_answer(200, kInfo);
    if (line.find("/images/") != std::string::npos) return describe_image();
    if (line.find("/containers/create") != std::string::npos) return create(request.body);
    if (line.find("/start ") != std::string::npos) return start();
    if (line.find("/containers/json") != std::string::npos) return list();
    if (line.starts_with("DELETE ")) forgotten = false;
    return http_answer(204, "");
  }

  std::atomic<char> letter{'a'};          // of the image's id
  std::atomic<bool> was_removed = false;  // the image, since it was looked up
  std::atomic<bool> forgotten = false;    // a container, until it is removed

 private:
  std::string list() const {
    if (!forgotten) return http_answer(200, "[]");
    const std::string id(64, 'c');
    return http_answer(500, R"({"message":"getting container from store \")" + id +
                                R"(\": container not known"})");
  }

  std::string describe_image() const {
    return http_answer(200, fmt::format(R"({{"Id":"{}","Config":{{"Env":["NODE_VERSION=24.1.0"],)"
                                        R"("Volumes":{{"/data":{{}}}}}}}})",
                                        id_of(letter)));
  }

  std::string create(const std::string& body) {
    if (was_removed) return http_answer(404, R"({"message":"No such image"})");
    const json::value spec = json::parse(body);
    directory_ = spec.at("HostConfig").at("Mounts").at(1).at("Source").as_string();
    return http_answer(201, R"({"Id":"abc"})");
  }

  std::string start() {
    Fd socket{sys(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), "make a socket")};
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = directory_ + "/" + agent::kSocketName;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    sys(::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), "connect");
    agent::Hello hello{};
    hello.version = agent::kVersion;
    const Fd workspace = open_directory(directory_);
    const int fds[] = {workspace.get()};
    agent::send_packet(socket.get(), &hello, sizeof hello, fds);
    agents_.push_back(std::move(socket));
    return http_answer(204, "");
  }

  std::string directory_;   // of the container that was made last
  std::vector<Fd> agents_;  // each lives as long as its connection
};

class DockerDriverTest : public testing::Test {
 protected:
  DockerSettings settings(size_t warm) {
    DockerSettings settings;
    settings.engine = std::make_unique<EngineHttp>(fake_.address());
    settings.containers = {"/agent", data_.path(), data_.path(), {::geteuid(), ::getegid()}, ""};
    settings.warm = warm;
    return settings;
  }

  // The requests whose line contains this.
  std::vector<FakeRequest> requests(std::string_view part) const {
    std::vector<FakeRequest> list;
    for (const FakeRequest& request : fake_.requests())
      if (request.line.find(part) != std::string::npos) list.push_back(request);
    return list;
  }

  // The images of which containers were made.
  std::vector<std::string> images() const {
    std::vector<std::string> list;
    for (const FakeRequest& request : requests("/containers/create"))
      list.emplace_back(json::parse(request.body).at("Image").as_string());
    return list;
  }

  Task<> use_once(DockerDriver& driver);
  Task<> make_one(size_t warm);
  Task<> make_one_by_name();
  Task<> replace_the_image();
  Task<> recover();

  TemporaryDirectory data_;
  OneImage engine_;
  FakeEngine fake_{[this](const FakeRequest& request) { return engine_.answer(request); }};
};

Task<> DockerDriverTest::use_once(DockerDriver& driver) {
  DockerImages images{driver, {}};
  SandboxSpec spec;
  spec.image = co_await images.resolve("node:24", nullptr);
  const auto sandbox = co_await driver.create(std::move(spec));
  co_await sandbox->destroy();
}

Task<> DockerDriverTest::make_one(size_t warm) {
  DockerDriver driver{co_await asio::this_coro::executor, settings(warm)};
  std::exception_ptr failure;
  try {
    co_await use_once(driver);
  } catch (const Error&) {
    failure = std::current_exception();
  }
  co_await driver.shut_down();
  if (failure) std::rethrow_exception(failure);
}

TEST_F(DockerDriverTest, LooksAtTheImageOfAContainerOnce) {
  run(make_one(0));
  EXPECT_EQ(requests("/images/").size(), 1u);
  ASSERT_THAT(images(), ElementsAre(id_of('a')));
  const json::value made = json::parse(requests("/containers/create").at(0).body);
  EXPECT_TRUE(made.at("HostConfig").at("Tmpfs").as_object().contains("/data"))
      << "volumes of the image are covered";
}

Task<> DockerDriverTest::make_one_by_name() {
  DockerDriver driver{co_await asio::this_coro::executor, settings(0)};
  SandboxSpec spec;
  spec.image.name = "node:24";
  const auto sandbox = co_await driver.create(std::move(spec));
  co_await sandbox->destroy();
  co_await driver.shut_down();
}

TEST_F(DockerDriverTest, MakesContainersByIdEvenIfOnlyTheNameIsKnown) {
  run(make_one_by_name());
  EXPECT_EQ(requests("/images/").size(), 1u);
  EXPECT_THAT(images(), ElementsAre(id_of('a')));
}

TEST_F(DockerDriverTest, SaysWhichImageWasRemovedMeanwhile) {
  engine_.was_removed = true;
  try {
    run(make_one(0));
    ADD_FAILURE() << "a container was made";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::not_found);
    EXPECT_THAT(e.what(), StartsWith("the engine does not have the image \"node:24\" any more"));
  }
}

Task<> DockerDriverTest::recover() {
  DockerDriver driver{co_await asio::this_coro::executor, settings(0)};
  co_await driver.recover();
  co_await driver.shut_down();
}

TEST_F(DockerDriverTest, RemovesWhatAnEngineHasForgottenToRemove) {
  engine_.forgotten = true;
  run(recover());
  ASSERT_EQ(requests("DELETE").size(), 1u);
  EXPECT_THAT(requests("DELETE")[0].line,
              testing::HasSubstr("/containers/" + std::string(64, 'c')));
}

Task<> wait_for_warm(DockerDriver& driver, size_t count) {
  while (driver.warm() != count) co_await asio::post(asio::use_awaitable);
}

Task<> DockerDriverTest::replace_the_image() {
  constexpr std::chrono::seconds kLongest{10};
  DockerDriver driver{co_await asio::this_coro::executor, settings(1)};
  size_t kinds = 0;
  for (const char letter : {'a', 'b'}) {
    engine_.letter = letter;
    ++kinds;
    co_await use_once(driver);
    EXPECT_TRUE(co_await with_timeout(kLongest, wait_for_warm(driver, kinds)));
    co_await use_once(driver);  // by the one that waits
    EXPECT_TRUE(co_await with_timeout(kLongest, wait_for_warm(driver, kinds)));
  }
  co_await driver.shut_down();
}

TEST_F(DockerDriverTest, ServesNoWarmContainerOfAnImageThatWasReplaced) {
  run(replace_the_image());
  EXPECT_EQ(requests("/images/").size(), 4u) << "one for each caller, none for those made ahead";
  EXPECT_THAT(images(),
              ElementsAre(id_of('a'), id_of('a'), id_of('a'), id_of('b'), id_of('b'), id_of('b')));
}

}  // namespace
}  // namespace belljar::docker
