#include "net/http_server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <sys/socket.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include "base/error.h"
#include "base/posix.h"
#include "base/testing.h"
#include "net/http_client.h"

namespace belljar::net {
namespace {

using asio::ip::tcp;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

Fd listen_on_loopback() {
  Fd fd{sys(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "socket")};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  sys(::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), "bind");
  sys(::listen(fd.get(), 16), "listen");
  return fd;
}

// Answers by target; "/file" by a file of 1 MB.
Task<HttpAnswer> answer(HttpServerRequest request) {
  HttpAnswer answer;
  if (request.target == "/fail") fail(Code::denied, "not \"you\"");
  if (request.target == "/hang") co_await sleep_for(std::chrono::hours{1});
  if (request.target == "/file") {
    answer.file = make_memory_file("test", std::string(1u << 20, 'f'));
    answer.size = 1u << 20;
    answer.type = "application/octet-stream";
  }
  answer.body = request.method + " " + request.target + " " + std::string{request.header("x-test")};
  co_return answer;
}

// Runs a test beside a server at a port.
void with_server(Task<> (*body)(uint16_t port), HttpServerLimits limits = {}) {
  Fd listener = listen_on_loopback();
  const uint16_t port = listening_port(listener.get());
  using namespace asio::experimental::awaitable_operators;
  run(ended(body(port)) || serve_http(std::move(listener), answer, limits));
}

HttpRequest request_to(uint16_t port, const std::string& target) {
  HttpRequest request;
  request.url = parse_url(fmt::format("http://127.0.0.1:{}{}", port, target)).value();
  return request;
}

// Everything that the server sends in answer to these bytes until it ends the connection.
Task<std::string> talk(uint16_t port, std::string bytes) {
  tcp::socket socket{co_await asio::this_coro::executor};
  const tcp::endpoint endpoint{asio::ip::address_v4::loopback(), port};
  co_await socket.async_connect(endpoint, asio::use_awaitable);
  co_await asio::async_write(socket, asio::buffer(bytes), asio::use_awaitable);
  std::string answer;
  boost::system::error_code end;
  co_await asio::async_read(socket, asio::dynamic_buffer(answer),
                            asio::redirect_error(asio::use_awaitable, end));
  co_return answer;
}

Task<> ask_for_text(uint16_t port) {
  HttpClient client{{}};
  HttpRequest request = request_to(port, "/a?b=c");
  request.headers.emplace_back("X-Test", "yes");
  const HttpResponse response = co_await client.get(std::move(request));
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "GET /a?b=c yes");
}

TEST(HttpServer, AnswersARequest) {
  with_server(ask_for_text);
}

Task<> ask_for_file(uint16_t port) {
  HttpClient client{{}};
  const HttpResponse response = co_await client.get(request_to(port, "/file"));
  EXPECT_EQ(response.body, std::string(1u << 20, 'f'));
}

TEST(HttpServer, SendsAFile) {
  with_server(ask_for_file);
}

Task<> ask_for_failure(uint16_t port) {
  HttpClient client{{}};
  const HttpResponse response = co_await client.get(request_to(port, "/fail"));
  EXPECT_EQ(response.status, 403);
  EXPECT_EQ(response.body, R"({"error":"not \"you\""})");
}

TEST(HttpServer, TurnsAnErrorIntoAnAnswer) {
  with_server(ask_for_failure);
}

Task<> ask_twice(uint16_t port) {
  const std::string answers = co_await talk(port,
                                            "GET /1 HTTP/1.1\r\nHost: x\r\n\r\n"
                                            "HEAD /2 HTTP/1.1\r\n\r\n"
                                            "GET /3 HTTP/1.1\r\nConnection: close\r\n\r\n"
                                            "GET /4 HTTP/1.1\r\n\r\n");
  EXPECT_THAT(answers, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answers, HasSubstr("Connection: keep-alive\r\n\r\nGET /1 HTTP"));
  EXPECT_THAT(answers, HasSubstr("Content-Length: 8\r\n"));
  EXPECT_THAT(answers, HasSubstr("Connection: keep-alive\r\n\r\nHTTP"));
  EXPECT_THAT(answers, EndsWith("Connection: close\r\n\r\nGET /3 "));
}

TEST(HttpServer, KeepsAConnectionUntilAskedToCloseIt) {
  with_server(ask_twice);
}

Task<> send_garbage(uint16_t port) {
  const std::string long_name(20'000, 'x');
  const std::vector<std::string> cases{
      "SSH-2.0-OpenSSH\r\n\r\n",
      "GET /\r\n\r\n",
      "GET / HTTP/1.1\nHost: x\n\n",
      "GET /a b HTTP/1.1\r\n\r\n",
      "GET / HTTP/1.1\r\nX : y\r\n\r\n",
      "GET / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello",
      "GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
      "GET / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
  };
  for (const std::string& bytes : cases) {
    const std::string answer = co_await talk(port, bytes);
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 400 Bad Request\r\n")) << bytes.substr(0, 60);
    EXPECT_THAT(answer, HasSubstr("Connection: close")) << bytes.substr(0, 60);
  }
  for (const std::string& bytes : {"GET /" + long_name + " HTTP/1.1\r\n\r\n",
                                   "GET / HTTP/1.1\r\nX: " + long_name + "\r\n\r\n"}) {
    const std::string answer = co_await talk(port, bytes);
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 431 "));
    EXPECT_THAT(answer, HasSubstr("Connection: close"));
  }
}

TEST(HttpServer, RefusesWhatIsNoProperRequest) {
  with_server(send_garbage);
}

Task<> send_half(uint16_t port) {
  EXPECT_EQ(co_await talk(port, ""), "");
  EXPECT_THAT(co_await talk(port, "GET / HT"), StartsWith("HTTP/1.1 408 "));
}

TEST(HttpServer, ClosesAConnectionThatSendsNothingOrHalfARequest) {
  HttpServerLimits limits;
  limits.idle = milliseconds{20};
  with_server(send_half, limits);
}

Task<> come_too_many(uint16_t port) {
  const auto executor = co_await asio::this_coro::executor;
  const tcp::endpoint endpoint{asio::ip::address_v4::loopback(), port};
  tcp::socket first{executor};
  co_await first.async_connect(endpoint, asio::use_awaitable);
  EXPECT_EQ(co_await talk(port, ""), "");
}

TEST(HttpServer, HasOnlySoManyConnectionsAtOnce) {
  HttpServerLimits limits;
  limits.connections = 1;
  with_server(come_too_many, limits);
}

Task<> leave_a_request_behind(uint16_t port) {
  HttpClient client{{}};
  const bool ended =
      (co_await with_timeout(milliseconds{20}, client.get(request_to(port, "/hang")))).has_value();
  EXPECT_FALSE(ended);
}

TEST(HttpServer, EndsItsConnectionsWhenItIsCancelled) {
  with_server(leave_a_request_behind);  // would wait for an hour, or abort in ~TaskGroup
}

}  // namespace
}  // namespace belljar::net
