#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <memory>

#include "base/posix.h"
#include "net/test_server.h"
#include "packages/layer_store.h"
#include "packages/testing.h"

// For unit tests only.
namespace belljar::packages {

inline const std::string kClose = "Connection: close\r\n";  // the server takes one after the other
inline const LayerTarget kTestTarget{22, {"linux", "x64", "glibc"}};

// What one process has of the store.
struct TestStores {
  TestStores(const std::string& path, Registry& registry, const asio::any_io_executor& executor)
      : directory{path},
        packages{directory, registry, executor},
        layers{directory, packages, executor} {}
  StoreDirectory directory;
  PackageStore packages;
  LayerStore layers;
};

// A registry with the packages that the test publishes, and one process that uses a store.
class StoreTest : public testing::Test {
 protected:
  StoreTest()
      : server_{[this](const net::TestRequest& request) { return answer(request.target); }} {
    host_.prefixes = {};
    host_.environment["npm_config_registry"] = server_.url("/");
    registry_ = std::make_unique<Registry>(host_);
    restart();
  }
  ~StoreTest() override { stop(); }

  void restart() {  // as if the process had ended and another one had begun
    stop();
    stores_ = another_process();
  }
  std::unique_ptr<TestStores> another_process() {
    return std::make_unique<TestStores>(store_path(), *registry_, loop_.get_executor());
  }
  void stop(TestStores& stores) {
    await(stores.layers.stop());
    await(stores.packages.stop());
  }
  void stop() {
    if (stores_) stop(*stores_);
    stores_.reset();
  }

  template <class T>
  T await(Task<T> task) {
    std::exception_ptr error;
    loop_.restart();
    if constexpr (std::is_void_v<T>) {
      asio::co_spawn(loop_, std::move(task), [&error](const std::exception_ptr& e) { error = e; });
      loop_.run();
      if (error) std::rethrow_exception(error);
    } else {
      std::optional<T> result;
      asio::co_spawn(loop_, std::move(task), [&](const std::exception_ptr& e, T value) {
        error = e;
        if (!e) result.emplace(std::move(value));
      });
      loop_.run();
      if (error) std::rethrow_exception(error);
      return std::move(*result);
    }
  }

  // Publishes a package and returns its integrity.
  std::string publish(const std::string& name, const std::string& version,
                      const std::vector<TestEntry>& entries) {
    const std::string tarball = make_tarball(entries);
    const std::string path = fmt::format("/tarballs/{}", tarballs_++);
    const std::string integrity = sha512_integrity(tarball);
    answers_[path] = net::http_answer(200, tarball, kClose);
    std::string& versions = versions_[name];
    versions += fmt::format(R"({}"{}":{{"dist":{{"tarball":"{}","integrity":"{}"}}}})",
                            versions.empty() ? "" : ",", version, server_.url(path), integrity);
    answers_["/" + Registry::path_of(name)] = net::http_answer(
        200,
        fmt::format(R"({{"dist-tags":{{"latest":"{}"}},"versions":{{{}}}}})", version, versions),
        kClose);
    return integrity;
  }

  std::string publish_text(const std::string& name, const std::string& text) {  // index.js
    return publish(name, "1.0.0", {{"package/index.js", text}});
  }

  // Adds version 1.0.0 of a published package to a lockfile.
  static void lock(Lockfile& lockfile, const std::string& path, const std::string& integrity,
                   const std::string& more = "") {
    json::value whole = json::parse(lockfile.serialize());
    whole.at("packages").as_object()[path] =
        json::parse(fmt::format(R"({{"version":"1.0.0","integrity":"{}"{}}})", integrity, more));
    lockfile = Lockfile::parse(json::serialize(whole));
  }
  static LayerRecipe recipe_of(const Lockfile& lockfile, int64_t resolved_at = 1000) {
    return LayerRecipe{lockfile, {{"a", "^1"}}, kTestTarget, resolved_at};
  }
  static std::string key(char digit) { return std::string(64, digit); }

  std::string store_path() const { return temporary_.path() + "/store"; }
  std::string layer_path(char digit) const {
    return store_path() + "/layers/" + key(digit) + "/node_modules/";
  }
  size_t downloads() const {
    size_t count = 0;
    for (const auto& request : server_.requests())
      count += request.target.starts_with("/tarballs/");
    return count;
  }
  static struct stat look_at(const std::string& path) {
    struct stat status {};
    EXPECT_EQ(::lstat(path.c_str(), &status), 0) << path;
    return status;
  }
  static std::vector<std::string> names_in(const std::string& path) {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator{path})
      names.push_back(entry.path().filename().string());
    return names;
  }
  std::string answer(const std::string& target) const {
    return answers_.contains(target) ? answers_.at(target) : net::http_answer(404, "{}", kClose);
  }

  TestDirectory temporary_;
  Surroundings host_;
  std::map<std::string, std::string> answers_;
  std::map<std::string, std::string> versions_;
  size_t tarballs_ = 0;
  net::TestServer server_;
  asio::io_context loop_{1};
  std::unique_ptr<Registry> registry_;
  std::unique_ptr<TestStores> stores_;
};

}  // namespace belljar::packages
