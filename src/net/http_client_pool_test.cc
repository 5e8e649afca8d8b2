#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <sys/socket.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>

#include "base/error.h"
#include "base/testing.h"
#include "net/http_client.h"

namespace belljar::net {
namespace {

using asio::ip::tcp;
using namespace asio::experimental::awaitable_operators;

// A server that follows a script: the answers to give on each connection, which it then closes.
class ScriptedServer {
 public:
  using Script = std::vector<std::vector<std::string>>;

  explicit ScriptedServer(const asio::any_io_executor& executor)
      : acceptor_{executor, {asio::ip::address_v4::loopback(), 0}} {}

  Task<> serve(Script script) {
    for (const auto& answers : script) {
      tcp::socket socket = co_await acceptor_.async_accept(asio::use_awaitable);
      ++connections;
      for (const std::string& answer : answers) {
        std::string request;
        co_await asio::async_read_until(socket, asio::dynamic_buffer(request), "\r\n\r\n",
                                        asio::use_awaitable);
        co_await asio::async_write(socket, asio::buffer(answer), asio::use_awaitable);
      }
    }
    co_await sleep_for(std::chrono::hours{1});
  }

  HttpRequest request(ConnectionPool& pool) const {
    HttpRequest request;
    request.url =
        parse_url(fmt::format("http://127.0.0.1:{}/", acceptor_.local_endpoint().port())).value();
    request.connections = &pool;
    return request;
  }

  int connections = 0;

 private:
  tcp::acceptor acceptor_;
};

Task<std::string> ask(ScriptedServer& server, int times) {
  HttpClient client{{}};
  ConnectionPool pool;
  std::string bodies;
  for (int i = 0; i < times; ++i) {
    const HttpResponse response = co_await client.get(server.request(pool));
    bodies += response.body;
  }
  co_return bodies;
}

Task<> play(ScriptedServer::Script script, int times, std::string expected, int connections) {
  ScriptedServer server{co_await asio::this_coro::executor};
  const auto result = co_await (settle(ask(server, times)) || server.serve(std::move(script)));
  const Settled<std::string>& asked = std::get<0>(result);
  if (asked.error) std::rethrow_exception(asked.error);
  EXPECT_EQ(*asked.value, expected);
  EXPECT_EQ(server.connections, connections);
}

const std::string kA = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na";
const std::string kChunkedB =
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nb\r\n0\r\n\r\n";
const std::string kMissing = "HTTP/1.1 404 Not Found\r\nContent-Length: 1\r\n\r\nm";

TEST(HttpClientPool, UsesAConnectionAgain) {
  run(play({{kA, kChunkedB, kMissing, kA}}, 4, "abma", 1));
}

TEST(HttpClientPool, TakesAFreshConnectionWhenTheOldOneWasClosed) {
  run(play({{kA}, {kA, kA}}, 3, "aaa", 2));
}

TEST(HttpClientPool, KeepsNoConnectionThatTheServerEnds) {
  const std::string closing = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: close\r\n\r\nc";
  const std::string until_end = "HTTP/1.1 200 OK\r\n\r\nd";
  run(play({{closing}, {until_end}, {kA}}, 3, "cda", 3));
}

TEST(HttpClientPool, KeepsNoConnectionOnWhichMoreArrivedThanTheAnswer) {
  run(play({{kA + "HTTP/1.1 200 OK\r\n"}, {kA}}, 2, "aa", 2));
}

TEST(HttpClientPool, DoesNotRepeatARequestWhoseAnswerHadBegun) {
  EXPECT_THROW(run(play({{kA, "HTTP/1.1 200 OK\r\n"}, {kA}}, 2, "", 0)), Error);
}

}  // namespace
}  // namespace belljar::net
