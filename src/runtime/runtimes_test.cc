#include "runtime/runtimes.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>

#include "base/error.h"
#include "base/posix.h"
#include "base/task_group.h"
#include "base/testing.h"
#include "net/test_server.h"
#include "packages/testing.h"
#include "runtime/linter.h"
#include "runtime/testing.h"

namespace belljar::runtime {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using namespace std::chrono;
using net::http_answer;
using net::TestRequest;
using net::TestServer;
using packages::make_tarball;
using packages::sha512_integrity;
using packages::TestEntry;
using testing::Contains;
using testing::HasSubstr;

std::string node_tarball(const std::string& program) {
  return make_tarball({{"package/bin/node", program, 0755},
                       {"package/LICENSE", "free"},
                       {"package/include/node/node.h", "left out"}});
}

std::string npm_tarball(const std::string& version) {
  return make_tarball({{"package/package.json", "{\"version\":\"" + version + "\"}"},
                       {"package/bin/npm-cli.js", "// npm", 0755},
                       {"package/bin/npx-cli.js", "// npx", 0755}});
}

std::string linter_tarball(const std::string& program) {
  return make_tarball({{"package/oxlint", program, 0755},
                       {"package/LICENSE", "free"},
                       {"package/oxc_language_server", "left out", 0755}});
}

// A registry with a few versions of Node.js and npm, and a host that uses it.
class RuntimesTest : public testing::Test {
 protected:
  RuntimesTest() {
    publish("node", "22.1.0", node_tarball(fake_program()), "");
    publish("node", "24.1.0", node_tarball(fake_program()), "");
    publish("node", "26.0.0", node_tarball(fake_program()), "");
    publish("node", "26.2.0", node_tarball(fake_program()), "");
    publish("node", "27.0.0-alpha.1", node_tarball(fake_program()), "");
    publish("oxlint", "1.16.0", linter_tarball(fake_program()), "");
    publish("npm", "11.0.0", npm_tarball("11.0.0"), "^20.17.0 || >=22.0.0");
    publish("npm", "12.0.0", npm_tarball("12.0.0"), ">=24.0.0");
    host_.home = directory_.path();
    host_.prefixes = {directory_.path() + "/usr"};
    host_.environment["npm_config_registry"] = server_.url("/");
    progress_ = [this](std::string_view message) { messages_.emplace_back(message); };
    restart();
  }

  void publish(const std::string& package, const std::string& version, const std::string& tarball,
               const std::string& engines) {
    const std::string path = "/" + package + "-" + version + ".tgz";
    files_[path] = tarball;
    documents_[package] += fmt::format(
        R"({}"{}":{{"engines":{{"node":"{}"}},"dist":{{"tarball":"{}","integrity":"{}"}}}})",
        documents_[package].empty() ? "" : ",", version, engines, server_.url(path),
        sha512_integrity(tarball));
  }
  std::string answer(const TestRequest& request) {
    if (!online_) return http_answer(503, "down");
    if (const auto file = files_.find(request.target); file != files_.end())
      return http_answer(200, file->second);
    std::string package = request.target.starts_with("/node-linux-") ? "node" : "npm";
    if (request.target.starts_with("/@oxlint")) package = "oxlint";
    return http_answer(200, "{\"versions\":{" + documents_[package] + "}}");
  }
  void restart() {
    registry_ = std::make_unique<packages::Registry>(host_);
    runtimes_ = std::make_unique<Runtimes>(directory_.path() + "/data", *registry_,
                                           [this] { return today_; });
  }
  Image resolve(const std::string& name) { return run(runtimes_->resolve(name, progress_)); }
  Installed install(const std::string& name) { return run(runtimes_->install(name, progress_)); }
  std::string error_of(const std::string& name) {
    try {
      resolve(name);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }
  void host_node(const std::string& version) {
    directory_.write("usr/bin/node", fake_program("/node-v" + version + "-headers.tar.gz"), 0755);
  }
  size_t leftovers() const {
    size_t count = 0;
    for (const auto& entry : fs::directory_iterator{directory_.path() + "/data/runtimes"})
      if (entry.path().filename().string().starts_with(".tmp-")) ++count;
    return count;
  }

  packages::TestDirectory directory_;
  std::map<std::string, std::string> documents_;
  std::map<std::string, std::string> files_;
  bool online_ = true;
  Date today_ = 2026y / November / 15;
  TestServer server_{[this](const TestRequest& request) { return answer(request); }};
  packages::Surroundings host_;
  std::unique_ptr<packages::Registry> registry_;
  std::unique_ptr<Runtimes> runtimes_;
  std::vector<std::string> messages_;
  Progress progress_;
};

TEST_F(RuntimesTest, InstallsAVersionLaidOutAsInTheOfficialImages) {
  const Installed installed = install("26");
  EXPECT_EQ(to_string(installed.version), "26.2.0");
  EXPECT_EQ(installed.prefix, directory_.path() + "/data/runtimes/26.2.0");
  EXPECT_EQ(read_file(installed.prefix + "/bin/npm"), "// npm");
  EXPECT_EQ(read_file(installed.prefix + "/bin/npx"), "// npx");
  EXPECT_EQ(fs::read_symlink(installed.prefix + "/bin/npm"),
            "../lib/node_modules/npm/bin/npm-cli.js");
  EXPECT_TRUE(fs::exists(installed.prefix + "/LICENSE"));
  EXPECT_FALSE(fs::exists(installed.prefix + "/include"));
  EXPECT_EQ(leftovers(), 0u);
  EXPECT_THAT(messages_, Contains("installing Node.js 26.2.0"));
}

TEST_F(RuntimesTest, InstallsTheLinterBesideNode) {
  const std::string prefix = install("26").prefix;
  EXPECT_TRUE(has_linter(prefix));
  EXPECT_TRUE(fs::exists(prefix + "/libexec/belljar/LICENSE"));
  EXPECT_FALSE(fs::exists(prefix + "/libexec/belljar/oxc_language_server"));
}

TEST_F(RuntimesTest, InstallsNodeWithoutTheLinterWhenThatIsMissingOrBad) {
  files_["/oxlint-1.16.0.tgz"] = "exchanged";
  EXPECT_FALSE(has_linter(install("24").prefix));
  documents_["oxlint"].clear();
  EXPECT_FALSE(has_linter(install("26").prefix));
  publish("oxlint", "1.16.0", linter_tarball(fake_program("", false)), "");  // another machine
  const std::string prefix = install("22").prefix;
  EXPECT_TRUE(fs::exists(prefix + "/bin/node"));
  EXPECT_FALSE(fs::exists(prefix + "/libexec"));
  EXPECT_FALSE(fs::exists(prefix + "/.tmp-libexec"));
}

TEST_F(RuntimesTest, AddsTheLinterToVersionsInstalledBefore) {
  // The very same one comes back: another would have another date in it, and so another sum.
  const auto linter = files_.at("/oxlint-1.16.0.tgz");
  files_.erase("/oxlint-1.16.0.tgz");
  const std::string first = install("24.1.0").prefix;
  const std::string second = install("26.2.0").prefix;
  directory_.write("data/runtimes/24.1.0/.tmp-libexec/belljar/oxlint", "of a crash");
  EXPECT_FALSE(has_linter(first));
  files_["/oxlint-1.16.0.tgz"] = linter;
  const size_t requests = server_.requests().size();
  EXPECT_EQ(resolve("node:24").prefix, first);  // does not wait for it
  EXPECT_EQ(server_.requests().size(), requests);
  run(runtimes_->add_linters());
  EXPECT_TRUE(has_linter(first));
  EXPECT_TRUE(has_linter(second));
}

TEST_F(RuntimesTest, TakesTheNewestNpmThatTheNodeCanRun) {
  EXPECT_EQ(npm_version(install("26")), "12.0.0");
  EXPECT_EQ(npm_version(install("22")), "11.0.0");
}

TEST_F(RuntimesTest, InstallsTheMissingVersionOnFirstUseOnly) {
  const Image image = resolve("node:lts-slim");
  EXPECT_EQ(image.name, "node:lts-slim");
  EXPECT_EQ(image.node_version, "26.2.0");
  const size_t requests = server_.requests().size();
  restart();
  EXPECT_EQ(resolve("node:lts-slim").prefix, image.prefix);
  EXPECT_EQ(resolve("node:26-bookworm").prefix, image.prefix);
  EXPECT_EQ(server_.requests().size(), requests);
}

TEST_F(RuntimesTest, FollowsTheNewLtsWhenItsTimeHasCome) {
  today_ = 2026y / October / 1;
  EXPECT_EQ(resolve("node:lts").node_version, "24.1.0");
  today_ = 2026y / November / 15;
  EXPECT_EQ(resolve("node:lts").node_version, "26.2.0");
}

TEST_F(RuntimesTest, TakesAnOlderLtsWhenTheRegistryHasNotGotTheNewOneAndAsksOnce) {
  today_ = 2027y / December / 1;
  EXPECT_EQ(resolve("node:lts").node_version, "26.2.0");
  const size_t requests = server_.requests().size();
  EXPECT_EQ(resolve("node:lts").node_version, "26.2.0");
  EXPECT_EQ(server_.requests().size(), requests);
}

TEST_F(RuntimesTest, UsesAnotherInstalledVersionThatTheNameAllowsWhenTheRegistryIsAway) {
  install("24");
  online_ = false;
  const Image image = resolve("node:lts-slim");
  EXPECT_EQ(image.node_version, "24.1.0");
  EXPECT_THAT(image.name, HasSubstr("installed Node.js 24.1.0"));
  EXPECT_THAT(messages_.back(), HasSubstr("status 503"));
}

TEST_F(RuntimesTest, UsesTheHostsNodeWhenThereIsNothingElseAndSaysSo) {
  host_node("20.1.0");
  online_ = false;
  restart();
  const Image image = resolve("node:lts-slim");
  EXPECT_EQ(image.node_version, "20.1.0");
  EXPECT_EQ(image.prefix, directory_.path() + "/usr");
  EXPECT_THAT(image.name, HasSubstr("the host's Node.js 20.1.0"));
  EXPECT_THAT(messages_.back(), HasSubstr("using the host's own Node.js 20.1.0"));
  // It is not what a client asked for by number.
  EXPECT_THAT(error_of("node:22"), HasSubstr("status 503"));
  // The registry is left alone for a while after a failure.
  const size_t requests = server_.requests().size();
  resolve("node:lts-slim");
  EXPECT_EQ(server_.requests().size(), requests);
}

TEST_F(RuntimesTest, DoesNotUseAHostNodeThatIsTooOld) {
  host_node("18.19.0");
  online_ = false;
  restart();
  EXPECT_THAT(error_of("node:lts-slim"), HasSubstr("status 503"));
}

TEST_F(RuntimesTest, ListsWhatThereIsForAnUnknownName) {
  install("24");
  EXPECT_THAT(error_of("ruby:3"), HasSubstr("Installed: 24.1.0"));
  EXPECT_THAT(error_of("node:99"), HasSubstr("the registry has no Node.js 99"));
  EXPECT_THAT(error_of("node:99"), HasSubstr("Installed: 24.1.0"));
}

TEST_F(RuntimesTest, RefusesATarballThatWasExchangedAndLeavesNothing) {
  files_["/node-26.2.0.tgz"] = node_tarball(fake_program("evil"));
  EXPECT_THAT(error_of("node:26"), HasSubstr("damaged or exchanged"));
  EXPECT_TRUE(runtimes_->list().empty());
  EXPECT_EQ(leftovers(), 0u);
}

TEST_F(RuntimesTest, RefusesAPackageForAnotherMachineAndLeavesNothing) {
  publish("node", "26.3.0", node_tarball(fake_program("", false)), "");
  EXPECT_THAT(error_of("node:26.3.0"), HasSubstr("another kind of machine"));
  EXPECT_TRUE(runtimes_->list().empty());
  EXPECT_EQ(leftovers(), 0u);
}

TEST_F(RuntimesTest, RemovesAVersion) {
  install("24");
  EXPECT_TRUE(run(runtimes_->remove("24.1.0")));
  EXPECT_TRUE(runtimes_->list().empty());
  EXPECT_EQ(leftovers(), 0u);
  EXPECT_FALSE(run(runtimes_->remove("24.1.0")));
  EXPECT_THROW(run(runtimes_->remove("../../etc")), Error);
  EXPECT_THROW(run(runtimes_->remove("24")), Error);
}

Task<int> install_twice_at_once(Runtimes& first, Runtimes& second, Progress progress) {
  using namespace asio::experimental::awaitable_operators;
  auto [a, b] = co_await (first.install("24", progress) && second.install("24", progress));
  co_return a.prefix == b.prefix ? 1 : 0;
}

TEST_F(RuntimesTest, WaitsForAnotherInstallationAndUsesItsResult) {
  Runtimes other{directory_.path() + "/data", *registry_, [this] { return today_; }};
  EXPECT_EQ(run(install_twice_at_once(*runtimes_, other, progress_)), 1);
  size_t downloads = 0;
  for (const TestRequest& request : server_.requests())
    downloads += request.target == "/node-24.1.0.tgz";
  EXPECT_EQ(downloads, 1u);
}

Task<> install_in_vain(Runtimes& runtimes, Progress progress) {
  co_await runtimes.install("24", std::move(progress));
}

Task<> cancel_as_soon_as_it_waits(Runtimes& runtimes) {
  const auto executor = co_await asio::this_coro::executor;
  Event waiting{executor};
  Progress progress = [&waiting](std::string_view message) {
    if (message == "waiting for another installation to finish") waiting.set();
  };
  TaskGroup group{executor};
  group.spawn("install", install_in_vain(runtimes, std::move(progress)));
  co_await waiting.wait();
  co_await group.stop();
}

TEST_F(RuntimesTest, CanBeCancelledWhileItWaits) {
  RuntimeStore store{directory_.path() + "/data/runtimes"};
  const auto held = store.try_lock();
  run(cancel_as_soon_as_it_waits(*runtimes_));
  EXPECT_TRUE(runtimes_->list().empty());
}

TEST_F(RuntimesTest, NeedsNoRegistryForAnExactVersionThatIsInstalled) {
  install("24.1.0");
  online_ = false;
  EXPECT_EQ(to_string(install("24.1.0").version), "24.1.0");
}

}  // namespace
}  // namespace belljar::runtime
