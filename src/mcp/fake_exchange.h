#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/task.h"
#include "net/http_exchange.h"

// For unit tests only.
namespace belljar::mcp {

// A request that a test makes, and what came of it.
class FakeExchange final : public net::HttpExchange {
 public:
  FakeExchange(const asio::any_io_executor& executor, net::HttpServerRequest request,
               std::string body)
      : request_{std::move(request)}, body_{std::move(body)}, gone_{executor}, room_{executor} {}

  const net::HttpServerRequest& request() const override { return request_; }
  Task<std::string> read_body(size_t most) override {
    if (body_.size() > most) fail(Code::exhausted, "too long");
    read = true;
    co_return body_;
  }
  Task<> answer(net::HttpAnswer answer) override {
    status = answer.status;
    headers = std::move(answer.headers);
    headers.emplace_back("Content-Type", answer.type);
    sent = std::move(answer.body);
    finished = true;
    co_return;
  }
  Task<> begin(int code, net::HttpHeaders all) override {
    status = code;
    headers = std::move(all);
    co_return;
  }
  Task<> write(std::string_view bytes) override {
    const std::string kept{bytes};
    if (gone_.is_set()) throw boost::system::system_error{asio::error::broken_pipe};
    if (blocked) co_await room_.wait();
    sent += kept;
  }
  Task<> finish() override {
    finished = true;
    co_return;
  }
  Task<size_t> read_raw(std::span<char>) override { co_return 0; }
  Task<> until_gone() override { co_await gone_.wait(); }

  void hang_up() { gone_.set(); }
  void unblock() {
    blocked = false;
    room_.set();
  }

  std::string header(std::string_view name) const {
    for (const auto& [key, value] : headers)
      if (key == name) return value;
    return "";
  }
  bool is_stream() const { return header("Content-Type") == "text/event-stream"; }
  json::value json() const { return json::parse(sent); }

  // The blocks between blank lines.
  std::vector<std::string> blocks() const {
    std::vector<std::string> result;
    for (size_t at = 0; at < sent.size();) {
      const size_t end = std::min(sent.find("\n\n", at), sent.size());
      result.push_back(sent.substr(at, end - at));
      at = end + 2;
    }
    return result;
  }
  // A field of a block: field(0, "id").
  std::string field(size_t block, const std::string& name) const {
    const auto all = blocks();
    const std::string text = block < all.size() ? "\n" + all[block] + "\n" : "";
    const size_t at = text.find("\n" + name + ": ");
    if (at == std::string::npos) return "";
    const size_t begin = at + name.size() + 3;
    return text.substr(begin, text.find('\n', begin) - begin);
  }
  json::value event(size_t block) const { return json::parse(field(block, "data")); }

  int status = 0;  // 0: not answered yet
  net::HttpHeaders headers;
  std::string sent;
  bool finished = false;
  bool returned = false;  // handle() has
  bool read = false;
  bool blocked = false;  // the client does not read

 private:
  net::HttpServerRequest request_;
  std::string body_;
  Event gone_;
  Event room_;
};

}  // namespace belljar::mcp
