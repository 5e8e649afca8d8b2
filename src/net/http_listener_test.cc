#include "net/http_listener.h"

#include <gmock/gmock.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/write.hpp>

#include "base/error.h"
#include "base/testing.h"
#include "net/certificate_authority.h"
#include "net/http_client.h"
#include "net/tls.h"

namespace belljar::net {
namespace {

using asio::ip::tcp;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using namespace asio::experimental::awaitable_operators;

// What a handler of these tests does, by target; and what it saw.
struct Bench {
  explicit Bench(const asio::any_io_executor& executor, HttpListenerLimits limits = {},
                 std::shared_ptr<asio::ssl::context> tls = nullptr)
      : left{executor},
        go{executor},
        listener{executor, listen_on("127.0.0.1", 0),
                 [this](HttpExchange& exchange) { return handle(exchange); }, limits,
                 std::move(tls)},
        tasks{executor} {
    tasks.spawn("listener", serve());
  }

  Task<> serve() {
    co_await listener.run();
    ended = true;
  }

  Task<> handle(HttpExchange& exchange) {
    const std::string& target = exchange.request().target;
    ++begun;
    if (target == "/stream") co_return co_await stream(exchange);
    if (target == "/flood") co_return co_await flood(exchange);
    if (target == "/gone") co_return co_await wait_for_end(exchange);
    if (target == "/nothing") co_return;
    if (target == "/late") co_await go.wait();
    if (target == "/watched") co_await (exchange.until_gone() || go.wait());
    HttpAnswer answer;
    answer.type = "text/plain";
    answer.headers.emplace_back("X-Peer", exchange.request().peer);
    if (target != "/unread") answer.body = co_await exchange.read_body(100'000);
    answer.body = fmt::format("<{}>", answer.body);
    co_await exchange.answer(std::move(answer));
  }

  Task<> stream(HttpExchange& exchange) {
    HttpHeaders headers{{"Content-Type", "text/event-stream"}, {"Cache-Control", "no-cache"}};
    co_await exchange.begin(200, std::move(headers));
    co_await exchange.write("one\n");
    co_await exchange.write("");
    co_await exchange.write("two\n");
    co_await exchange.finish();
  }

  Task<> flood(HttpExchange& exchange) {
    const std::string piece(1u << 20, 'x');
    try {
      co_await exchange.begin(200, HttpHeaders());
      while (true) co_await exchange.write(piece);
    } catch (const boost::system::system_error&) {
      left.set();
    }
  }

  Task<> wait_for_end(HttpExchange& exchange) {
    co_await exchange.until_gone();
    left.set();
  }

  Task<> stop() { co_await tasks.stop(); }

  int begun = 0;
  bool ended = false;
  Event left;
  Event go;
  HttpListener listener;
  TaskGroup tasks;
};

class Client {
 public:
  explicit Client(const asio::any_io_executor& executor) : socket_{executor} {}

  Task<> connect(uint16_t port) {
    const tcp::endpoint endpoint{asio::ip::address_v4::loopback(), port};
    co_await socket_.async_connect(endpoint, asio::use_awaitable);
  }
  Task<> send(std::string bytes) {
    boost::system::error_code gone;  // the server may have hung up
    co_await asio::async_write(socket_, asio::buffer(bytes),
                               asio::redirect_error(asio::use_awaitable, gone));
  }
  // Everything up to this text.
  Task<std::string> receive(std::string text) {
    const size_t size = co_await asio::async_read_until(socket_, asio::dynamic_buffer(received_),
                                                        text, asio::use_awaitable);
    std::string result = received_.substr(0, size);
    received_.erase(0, size);
    co_return result;
  }
  // Everything until the server hangs up, and how it did.
  Task<std::string> receive_all() {
    co_await asio::async_read(socket_, asio::dynamic_buffer(received_),
                              asio::redirect_error(asio::use_awaitable, end));
    co_return received_;
  }
  void end_sending() { socket_.shutdown(tcp::socket::shutdown_send); }
  void close() { socket_.close(); }

  boost::system::error_code end;

 private:
  tcp::socket socket_;
  std::string received_;
};

using Scenario = Task<> (*)(Bench&);

Task<> run_scenario(Scenario scenario, HttpListenerLimits limits) {
  Bench bench{co_await asio::this_coro::executor, limits};
  co_await scenario(bench);
  co_await bench.stop();
}

void with_listener(Scenario scenario, HttpListenerLimits limits = {}) {
  run(run_scenario(scenario, limits));
}

// Everything that the server sends in answer to these bytes until it ends the connection.
Task<std::string> talk_to(Bench& bench, std::string bytes,
                          boost::system::error_code* end = nullptr) {
  Client client{co_await asio::this_coro::executor};
  co_await client.connect(bench.listener.port());
  co_await client.send(std::move(bytes));
  std::string answer = co_await client.receive_all();
  if (end != nullptr) *end = client.end;
  co_return answer;
}

Task<std::string> talk(Bench& bench, std::string bytes) {
  boost::system::error_code end;
  std::string answer = co_await talk_to(bench, std::move(bytes), &end);
  EXPECT_EQ(end, asio::error::eof);  // and not a reset, which would take the answer along
  co_return answer;
}

Task<> post_bodies(Bench& bench) {
  const std::string answers =
      co_await talk(bench,
                    "POST /1 HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello"
                    "POST /2 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
                    "GET /3 HTTP/1.1\r\nConnection: close\r\n\r\nGET /4 HTTP/1.1\r\n\r\n");
  EXPECT_THAT(answers, HasSubstr("\r\nConnection: keep-alive\r\n\r\n<hello>HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answers, HasSubstr("\r\n\r\n<abc>HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answers, HasSubstr("X-Peer: 127.0.0.1\r\n"));
  EXPECT_THAT(answers, EndsWith("\r\n\r\n<>"));
  EXPECT_EQ(bench.begun, 3);
}

TEST(HttpListener, TakesBodiesAndRequestsSentAhead) {
  with_listener(post_bodies);
}

Task<> leave_bodies_unread(Bench& bench) {
  const std::string answers =
      co_await talk(bench,
                    "POST /unread HTTP/1.1\r\nContent-Length: 6\r\n\r\nsecret"
                    "POST /2 HTTP/1.1\r\nContent-Length: 4\r\nConnection: close\r\n\r\nmine");
  EXPECT_EQ(bench.begun, 2);
  EXPECT_THAT(answers, EndsWith("\r\n\r\n<mine>"));
}

TEST(HttpListener, ABodyThatNobodyReadIsNotPartOfTheNextRequest) {
  with_listener(leave_bodies_unread);
}

Task<> ask_for_stream(Bench& bench) {
  const std::string chunked = co_await talk(
      bench, "GET /stream HTTP/1.1\r\n\r\nGET /stream HTTP/1.1\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(chunked, HasSubstr("\r\nConnection: keep-alive\r\n\r\n"
                                 "4\r\none\n\r\n4\r\ntwo\n\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(chunked, HasSubstr("Cache-Control: no-cache\r\n"));
  EXPECT_THAT(chunked, Not(HasSubstr("no-store")));
  const std::string plain = co_await talk(bench, "GET /stream HTTP/1.0\r\n\r\n");
  EXPECT_THAT(plain, EndsWith("\r\n\r\none\ntwo\n"));
  EXPECT_THAT(plain, Not(HasSubstr("chunked")));
}

TEST(HttpListener, StreamsAnswers) {
  with_listener(ask_for_stream);
}

Task<> wait_for_leave(Bench& bench) {
  Client client{co_await asio::this_coro::executor};
  co_await client.connect(bench.listener.port());
  co_await client.send(
      "POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(co_await client.receive("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  co_await client.send("ok");
  EXPECT_THAT(co_await client.receive_all(), EndsWith("<ok>"));
  const std::string refused = co_await talk(
      bench, "POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 100001\r\n\r\n");
  EXPECT_THAT(refused, StartsWith("HTTP/1.1 429 "));
}

TEST(HttpListener, GivesLeaveToSendABody) {
  with_listener(wait_for_leave);
}

Task<> send_too_much(Bench& bench) {
  // The whole of it is on its way when the answer comes: it must arrive all the same.
  const std::string body(3u << 20, 'x');
  const std::string announced = co_await talk(
      bench, fmt::format("POST / HTTP/1.1\r\nContent-Length: {}\r\n\r\n{}", body.size(), body));
  EXPECT_THAT(announced, HasSubstr("more than 97.7 KiB"));
  const std::string chunked = co_await talk(
      bench, fmt::format("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{}",
                         body.size(), body));
  EXPECT_THAT(chunked, HasSubstr("Connection: close"));
  const std::string unread = co_await talk(
      bench,
      fmt::format("POST /unread HTTP/1.1\r\nContent-Length: {}\r\n\r\n{}", body.size(), body));
  EXPECT_THAT(unread, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(unread, HasSubstr("Connection: close"));
}

TEST(HttpListener, RefusesBodiesThatAreTooLong) {
  with_listener(send_too_much);
}

Task<> smuggle(Bench& bench) {
  const std::vector<std::string> cases{
      "POST / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "POST / HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
      "POST / HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
      "POST / HTTP/1.1\r\nContent-Length: +5\r\n\r\nhello",
      "POST / HTTP/1.1\r\nContent-Length: 5, 5\r\n\r\nhello",
      "POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
      "POST / HTTP/1.1\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
      "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
      "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "GET / HTTP/1.1\r\nX: a\r\n b\r\n\r\n",
      "GET / HTTP/1.1\nHost: x\n\n",
      "GET / HTTP/1.1\r\nX: a\nY: b\r\n\r\n",
      "GET /a%00b HTTP/1.1\r\n\r\n",
      "GET http://evil/ HTTP/1.1\r\n\r\n",
      "CONNECT evil:80 HTTP/1.1\r\n\r\n",
      "GET / HTTP/2.0\r\n\r\n",
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
      "\x16\x03\x01",
      std::string("GET /\0 HTTP/1.1\r\n\r\n", 19),
  };
  for (const std::string& bytes : cases) {
    const std::string answer = co_await talk(bench, bytes);
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 400 Bad Request\r\n")) << bytes;
    EXPECT_THAT(answer, HasSubstr("Connection: close")) << bytes;
  }
  EXPECT_EQ(bench.begun, 0);
}

TEST(HttpListener, RefusesWhatTwoReadersCouldReadDifferently) {
  with_listener(smuggle);
}

Task<> be_slow(Bench& bench) {
  EXPECT_THAT(co_await talk(bench, "GET / HTTP/1.1\r\nX: "), StartsWith("HTTP/1.1 408 "));
  EXPECT_THAT(co_await talk(bench, "POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nhal"),
              StartsWith("HTTP/1.1 408 "));
  EXPECT_EQ(co_await talk(bench, ""), "");
  const std::string kept = co_await talk(bench, "GET / HTTP/1.1\r\n\r\n");
  EXPECT_THAT(kept, EndsWith("Connection: keep-alive\r\n\r\n<>"));
}

TEST(HttpListener, EndsWhatTakesTooLong) {
  HttpListenerLimits limits;
  limits.head_time = limits.idle = limits.body_time = milliseconds{20};
  with_listener(be_slow, limits);
}

// Byte by byte, never idle for long: what counts is the time since the first byte.
Task<> trickle(Bench& bench) {
  Client client{co_await asio::this_coro::executor};
  co_await client.connect(bench.listener.port());
  co_await client.send("GET / HTTP/1.1\r\n");
  while (bench.listener.connections() > 0) {
    co_await client.send("X: y\r\n");
  }
  EXPECT_EQ(bench.begun, 0);
}

TEST(HttpListener, EndsAHeadThatNeverEnds) {
  HttpListenerLimits limits;
  limits.head_time = milliseconds{20};
  limits.head = 1u << 30;
  with_listener(trickle, limits);
}

Task<> do_not_read(Bench& bench) {
  Client slow{co_await asio::this_coro::executor};
  co_await slow.connect(bench.listener.port());
  co_await slow.send("GET /flood HTTP/1.1\r\n\r\n");
  // Nobody else waits for that one.
  EXPECT_THAT(co_await talk(bench, "GET / HTTP/1.1\r\nConnection: close\r\n\r\n"), EndsWith("<>"));
  co_await bench.left.wait();
}

TEST(HttpListener, CutsOffClientsThatDoNotRead) {
  HttpListenerLimits limits;
  limits.stall = milliseconds{20};
  with_listener(do_not_read, limits);
}

Task<> hang_up(Bench& bench) {
  Client client{co_await asio::this_coro::executor};
  co_await client.connect(bench.listener.port());
  co_await client.send("GET /gone HTTP/1.1\r\n\r\nGET /ahead HTTP/1.1\r\n\r\n");
  client.close();
  co_await bench.left.wait();
}

TEST(HttpListener, NoticesThatAClientHangsUp) {
  with_listener(hang_up);
}

Task<> half_close(Bench& bench) {
  Client client{co_await asio::this_coro::executor};
  co_await client.connect(bench.listener.port());
  co_await client.send("POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\nok");
  client.end_sending();
  EXPECT_THAT(co_await client.receive_all(), EndsWith("<ok>"));
  Client half{co_await asio::this_coro::executor};
  co_await half.connect(bench.listener.port());
  co_await half.send("POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nok");
  half.end_sending();
  EXPECT_EQ(co_await half.receive_all(), "");
}

TEST(HttpListener, AnswersClientsThatHaveClosedTheirSide) {
  with_listener(half_close);
}

Task<> send_ahead(Bench& bench) {
  std::string bytes;
  for (int i = 0; i < 2000; ++i) bytes += "GET / HTTP/1.1\r\n\r\n";
  const std::string answers =
      co_await talk(bench, bytes + "GET / HTTP/1.1\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(bench.begun, 2001);
  EXPECT_THAT(answers, EndsWith("<>"));
}

TEST(HttpListener, RequestsSentAheadWaitTheirTurn) {
  with_listener(send_ahead);
}

// What the watcher read of the next request is that request's, although the watcher reads on.
Task<> send_while_watched(Bench& bench) {
  Client client{co_await asio::this_coro::executor};
  co_await client.connect(bench.listener.port());
  co_await client.send("GET /watched HTTP/1.1\r\n\r\n");
  while (bench.begun == 0) co_await sleep_for(milliseconds{0});
  co_await client.send("GET / HTTP/1.1\r\nConnection: close\r\n\r\n");
  for (int i = 0; i < 50; ++i) co_await sleep_for(milliseconds{0});  // it is read meanwhile
  bench.go.set();
  co_await client.receive_all();
  EXPECT_EQ(bench.begun, 2);
}

TEST(HttpListener, RequestsThatComeWhileAClientIsWatchedAreServed) {
  with_listener(send_while_watched);
}

Task<> leave_unanswered(Bench& bench) {
  EXPECT_EQ(co_await talk(bench, "GET /nothing HTTP/1.1\r\n\r\n"), "");
}

TEST(HttpListener, AnExchangeWithoutAnAnswerEndsTheConnection) {
  with_listener(leave_unanswered);
}

Task<> come_too_many(Bench& bench) {
  const auto executor = co_await asio::this_coro::executor;
  Client first{executor};
  co_await first.connect(bench.listener.port());
  co_await first.send("GET / HTTP/1.1\r\n\r\n");
  co_await first.receive("<>");
  EXPECT_EQ(bench.listener.connections(), 1u);
  Client second{executor};
  co_await second.connect(bench.listener.port());
  EXPECT_EQ(co_await second.receive_all(), "");
  first.close();
  while (bench.listener.connections() > 0) co_await asio::post(executor, asio::use_awaitable);
  EXPECT_THAT(co_await talk(bench, "GET / HTTP/1.1\r\nConnection: close\r\n\r\n"), EndsWith("<>"));
}

TEST(HttpListener, HasOnlySoManyConnectionsOfOnePeer) {
  HttpListenerLimits limits;
  limits.connections_per_peer = 1;
  with_listener(come_too_many, limits);
}

Task<> drain(Bench& bench) {
  const auto executor = co_await asio::this_coro::executor;
  Client idle{executor};
  co_await idle.connect(bench.listener.port());
  co_await idle.send("GET / HTTP/1.1\r\n\r\n");
  co_await idle.receive("<>");
  Client busy{executor};
  co_await busy.connect(bench.listener.port());
  co_await busy.send("GET /late HTTP/1.1\r\n\r\n");
  while (bench.begun < 2) co_await asio::post(executor, asio::use_awaitable);
  bench.listener.drain();
  EXPECT_EQ(co_await idle.receive_all(), "");
  Client late{executor};
  bool refused = false;
  try {
    co_await late.connect(bench.listener.port());
  } catch (const boost::system::system_error&) {
    refused = true;
  }
  EXPECT_TRUE(refused);
  EXPECT_FALSE(bench.ended);
  bench.go.set();
  const std::string answer = co_await busy.receive_all();
  EXPECT_THAT(answer, HasSubstr("Connection: close"));
  EXPECT_THAT(answer, EndsWith("<>"));
  busy.close();
  co_await bench.tasks.finish();
  EXPECT_TRUE(bench.ended);
}

TEST(HttpListener, DrainsByAnsweringWhatWasAsked) {
  with_listener(drain);
}

Task<> leave_open(Bench& bench) {
  Client client{co_await asio::this_coro::executor};
  co_await client.connect(bench.listener.port());
  co_await client.send("GET /late HTTP/1.1\r\n\r\n");
  while (bench.begun < 1)
    co_await asio::post(co_await asio::this_coro::executor, asio::use_awaitable);
}

TEST(HttpListener, EndsItsConnectionsWhenItIsCancelled) {
  with_listener(leave_open);  // would wait for ever, or abort in ~TaskGroup
}

Task<> ask_securely() {
  const CertificateAuthority authority{"a test"};
  const auto tls = make_tls_server(authority.issue("DNS:localhost,IP:127.0.0.1"));
  Bench bench{co_await asio::this_coro::executor, HttpListenerLimits(), tls};
  HttpSettings settings;
  settings.tls.ca = {{"the test", authority.certificate()}};
  HttpClient client{std::move(settings)};
  for (const char* target : {"/", "/stream"}) {
    HttpRequest request;
    request.url =
        parse_url(fmt::format("https://localhost:{}{}", bench.listener.port(), target)).value();
    const HttpResponse response = co_await client.get(std::move(request));
    EXPECT_EQ(response.body, target == std::string_view{"/"} ? "<>" : "one\ntwo\n");
  }
  EXPECT_EQ(bench.begun, 2);
  co_await bench.stop();
}

TEST(HttpListener, SpeaksTls) {
  run(ask_securely());
}

Task<> ask_insecurely() {
  const CertificateAuthority authority{"a test"};
  HttpListenerLimits limits;
  limits.head_time = milliseconds{20};
  Bench bench{co_await asio::this_coro::executor, limits,
              make_tls_server(authority.issue("DNS:localhost"))};
  EXPECT_THAT(co_await talk_to(bench, "GET / HTTP/1.1\r\n\r\n"), Not(HasSubstr("HTTP")));
  EXPECT_EQ(co_await talk_to(bench, "\x16"), "");
  EXPECT_EQ(bench.begun, 0);
  co_await bench.stop();
}

TEST(HttpListener, KeepsNothingThatIsNotOrNeverBecomesTls) {
  run(ask_insecurely());
}

TEST(HttpListener, SaysWhyItCannotListen) {
  EXPECT_THROW(listen_on("localhost", 0), Error);
  const Fd first = listen_on("127.0.0.1", 0);
  EXPECT_THROW(listen_on("127.0.0.1", listening_port(first.get())), Error);
}

}  // namespace
}  // namespace belljar::net
