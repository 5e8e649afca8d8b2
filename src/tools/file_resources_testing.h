#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/posix.h"
#include "files/uri.h"
#include "mcp/testing.h"
#include "tools/file_resources.h"

// For the unit tests of the files in FILES_DIR only, as clients see them.
namespace belljar::tools {

// A shared directory and a client of a server that has it.
class FilesWorld {
 public:
  explicit FilesWorld(const asio::any_io_executor& executor)
      : parent_{make_parent()},
        arrived_{executor, std::chrono::steady_clock::time_point::max()},
        files_{share_files(root(), open_directory(root()).get())},
        watch_{executor, server_, files_, FileWatchOptions{milliseconds{1}, 0}},
        connection_{executor, server_, "", [this](const mcp::Outgoing& sent) { take(sent); }} {
    add_file_resources(server_, files_, watch_);
  }
  ~FilesWorld() { std::filesystem::remove_all(parent_); }

  std::string root() const { return parent_ + "/shared"; }
  std::string uri(const std::string& path) const { return files::to_file_uri(root() + "/" + path); }

  void write(const std::string& path, std::string_view content) {
    const std::filesystem::path target = root() + "/" + path;
    std::filesystem::create_directories(target.parent_path());
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
    std::filesystem::create_directory(path + "/shared");
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

inline Task<> in_world(Task<> (*body)(FilesWorld&)) {
  FilesWorld world{co_await asio::this_coro::executor};
  try {
    co_await body(world);
  } catch (const std::exception& e) {
    ADD_FAILURE() << e.what();
  }
  co_await world.end();
}

// Runs the coroutine in a world of its own.
inline void check(Task<> (*body)(FilesWorld&)) {
  run(in_world(body));
}

}  // namespace belljar::tools
