// Bytes of an HTTP client, in two pieces → requests → the endpoint of both eras, against a server
// with one feature of each kind. "$S" in them is the id of a session that has a stream to resume.
#include "base/log.h"
#include "fuzz.h"
#include "mcp/http_endpoint.h"
#include "mcp/http_guard.h"
#include "net/http_connection.h"
#include "small_server.h"

namespace belljar::mcp {
namespace {

using fuzz::expect;

// A connection of which everything is there from the beginning, and what was written to it.
class MemoryStream final : public net::Stream {
 public:
  MemoryStream(std::string_view input, std::string& output) : input_{input}, output_{output} {}

  Task<size_t> read_some(std::span<char> buffer) override {
    const size_t piece = read_ == 0 ? input_.size() / 2 : input_.size() - read_;
    const size_t count = input_.substr(read_).copy(buffer.data(), std::min(buffer.size(), piece));
    read_ += count;
    co_return count;
  }
  Task<> write(std::string_view bytes) override {
    output_ += bytes;
    co_return;
  }
  Task<> end() override { co_return; }

 private:
  std::string_view input_;
  std::string& output_;
  size_t read_ = 0;
};

struct Place {
  explicit Place(asio::io_context& context)
      : endpoint{context.get_executor(), server(), "me", options()} {}
  static HttpEndpointOptions options() {
    HttpEndpointOptions options;
    options.max_body = 4096;
    options.max_sessions = 2;
    options.streams.max_queued = 300;
    options.streams.kept = 1;
    return options;
  }

  Task<> handle(net::HttpExchange& exchange) {
    were_heads.push_back(exchange.request().method == "HEAD");
    if (auto refused = refuse_foreign(exchange.request(), AllowedHosts())) {
      co_await exchange.answer(std::move(*refused));
    } else {
      co_await endpoint.handle(exchange);
    }
  }

  Task<> serve(std::string_view input, std::string& output) {
    const net::ExchangeHandler handler = [this](net::HttpExchange& exchange) {
      return handle(exchange);
    };
    const net::HttpListenerLimits limits{.head = 2048};
    net::HttpConnection connection{co_await asio::this_coro::executor,
                                   std::make_unique<MemoryStream>(input, output),
                                   -1,
                                   "127.0.0.1",
                                   handler,
                                   limits};
    try {
      co_await connection.serve();
    } catch (const boost::system::system_error&) {
      co_return;  // the client has hung up in the middle of something
    }
  }

  HttpEndpoint endpoint;
  std::vector<bool> were_heads;  // of each request: whether its answer has no body
};

std::string post(std::string_view session, std::string_view body) {
  return fmt::format(
      "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "Mcp-Session-Id: {}\r\nContent-Length: {}\r\n\r\n{}",
      session, body.size(), body);
}

// Not until the loop has nothing to do: calls and sessions go on.
void run_on(asio::io_context& context, Task<> task) {
  bool ended = false;
  asio::co_spawn(context, std::move(task), [&ended](const std::exception_ptr& error) {
    if (error) std::rethrow_exception(error);
    ended = true;
  });
  context.restart();
  while (!ended) context.run_one();
}

// The id of a session with a complete stream, 2.
std::string prepare(asio::io_context& context, Place& place) {
  std::string output;
  const std::string hello = post("", initialize("2025-11-25"));
  run_on(context, place.serve(hello, output));
  constexpr std::string_view kName = "Mcp-Session-Id: ";
  const size_t at = output.find(kName);
  expect(at != std::string::npos, "a handshake makes a session");
  const std::string id = output.substr(at + kName.size(), 32);
  const std::string call =
      post(id, request("1", "tools/call", R"({"name":"talk","_meta":{"progressToken":1}})"));
  run_on(context, place.serve(call, output));
  return id;
}

std::string with_session(std::string_view input, const std::string& id) {
  std::string result{input};
  for (size_t at = 0; (at = result.find("$S", at)) != std::string::npos; at += id.size())
    result.replace(at, 2, id);
  return result;
}

// How many bytes an answer with a body has whose head ends there; all of it if it is a part.
size_t length_of(std::string_view output, size_t end) {
  constexpr std::string_view kLength = "\r\nContent-Length: ";
  const size_t at = output.substr(0, end).find(kLength);
  if (at != std::string_view::npos)
    return end + std::strtoull(output.data() + at + kLength.size(), nullptr, 10);
  const size_t last = output.find("\r\n0\r\n\r\n", end - 2);
  return last != std::string_view::npos ? last + 7 : output.size();
}

void check_output(std::string_view output, const std::vector<bool>& were_heads) {
  size_t answers = 0;
  while (!output.empty()) {
    expect(output.starts_with("HTTP/1.1 "), "what is sent is HTTP");
    const size_t end = output.find("\r\n\r\n");
    expect(end != std::string_view::npos, "a head has an end");
    bool has_body = false;
    if (!output.starts_with("HTTP/1.1 100 ")) {
      if (answers == were_heads.size()) {  // to what is no request
        expect(output.find("HTTP/1.1 ", end) == std::string_view::npos, "then nothing follows");
        return;
      }
      has_body = !were_heads[answers++];
    }
    const size_t length = has_body ? length_of(output, end + 4) : end + 4;
    expect(length <= output.size(), "a body has its length");
    output.remove_prefix(length);
  }
}

void serve(std::string_view input) {
  asio::io_context context{1};
  Place place{context};
  const bool resumes = input.find("$S") != std::string_view::npos;
  const std::string bytes =
      resumes ? with_session(input, prepare(context, place)) : std::string{input};
  std::string output;
  place.were_heads.clear();
  run_on(context, place.serve(bytes, output));
  check_output(output, place.were_heads);
  expect(place.endpoint.requests() == 0, "nothing is being answered after the end");
  run_on(context, place.endpoint.stop());
  expect(place.endpoint.sessions() == 0, "no session outlives the endpoint");
}

}  // namespace
}  // namespace belljar::mcp

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  belljar::log::configure(belljar::log::Level::off, belljar::log::Format::text);
  belljar::mcp::serve(belljar::fuzz::text_of(data, size));
  return 0;
}
