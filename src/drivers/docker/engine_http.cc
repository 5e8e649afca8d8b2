#include "drivers/docker/engine_http.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <boost/asio/ip/address.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/error.hpp>
#include <vector>

#include "base/connect.h"
#include "base/error.h"
#include "base/posix.h"
#include "drivers/docker/engine_answers.h"
#include "net/connection.h"
#include "net/http_response_parser.h"
#include "net/read_head.h"
#include "net/tls.h"

namespace belljar::docker {
namespace {

using boost::system::system_error;

constexpr size_t kPiece = 64u << 10;
constexpr size_t kLongestHead = 16u << 10;
constexpr auto kConnect = std::chrono::seconds{10};

std::string advice(int error, const EngineAddress& address) {
  if (error == EACCES || error == EPERM)
    return "belljar may not use it: run it as root, or as a user of the group that owns the socket "
           "(usually `docker`)";
  if (error != ENOENT && error != ECONNREFUSED) return "see what the engine's own log says";
  const std::string podman =
      address.socket.empty() ? "" : ", `podman system service --time=0 " + to_string(address) + "`";
  return "start it (`systemctl start docker`" + podman +
         "), or say where it listens (`docker-host`, DOCKER_HOST)";
}

[[noreturn]] void fail_to_connect(int error, const EngineAddress& address) {
  fail(Code::unavailable, "no container engine answers at {}: {}; {}", to_string(address),
       std::generic_category().message(error), advice(error, address));
}

[[noreturn]] void fail_broken(const system_error& fault, const EngineAddress& address) {
  if (fault.code() == asio::error::operation_aborted) throw fault;
  fail(Code::unavailable,
       "the connection to the container engine at {} broke ({}): see whether it still runs",
       to_string(address), fault.code().message());
}

enum class After { close, upgrade };

std::string head_of(const EngineRequest& request, const EngineAddress& address,
                    After after = After::close) {
  std::string head = fmt::format(
      "{} {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: belljar\r\nAccept-Encoding: "
      "identity\r\nConnection: {}\r\n",
      request.method, request.target, address.url ? net::authority(*address.url) : "engine",
      after == After::upgrade ? "Upgrade\r\nUpgrade: tcp" : "close");
  if (!request.registry_auth.empty())
    head += fmt::format("X-Registry-Auth: {}\r\n", request.registry_auth);
  if (!request.body.empty()) head += "Content-Type: application/json\r\n";
  if (request.method != "GET") head += fmt::format("Content-Length: {}\r\n", request.body.size());
  return head + "\r\n" + request.body;
}

std::shared_ptr<asio::ssl::context> read_certificates(const std::string& directory) {
  net::TlsSettings settings;
  settings.system = net::TlsSettings::System::ignored;
  settings.ca_files.push_back(directory + "/ca.pem");
  settings.client = net::Credentials{.certificate = read_file(directory + "/cert.pem"),
                                     .key = read_file(directory + "/key.pem")};
  try {
    return net::make_tls_client(settings);
  } catch (const system_error& fault) {
    fail(Code::invalid, "cert.pem and key.pem in {} cannot be used: {}", directory,
         fault.code().message());
  }
}

// 0 at the end of the answer.
Task<size_t> read_piece(net::Stream& stream, std::span<char> buffer,
                        const net::HttpResponseParser& parser) {
  try {
    co_return co_await stream.read_some(buffer);
  } catch (const system_error& fault) {
    // Not every engine says farewell in TLS; harmless if the answer says by itself where it ends.
    if (fault.code() != asio::ssl::error::stream_truncated || parser.ends_with_connection()) throw;
    co_return 0;
  }
}

}  // namespace

std::string segment(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    const bool is_plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
                          (c >= 'a' && c <= 'z') || c == '-' || c == '.' || c == '_' || c == '~';
    if (is_plain)
      encoded += c;
    else
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return encoded;
}

EngineHttp::EngineHttp(EngineAddress address, Dial dial) : address_{std::move(address)} {
  if (address_.url && address_.url->is_tls()) tls_ = read_certificates(address_.cert_path);
  if (!address_.url && dial == Dial::by_process)
    dialer_ = std::make_unique<EngineDialer>(address_.socket);
}

EngineHttp::~EngineHttp() = default;

Task<std::unique_ptr<net::Stream>> EngineHttp::connect_tcp() {
  const std::string host = address_.url->host == "localhost" ? "127.0.0.1" : address_.url->host;
  const asio::ip::tcp::endpoint endpoint{asio::ip::make_address(host), address_.url->port};
  Fd socket{
      sys(::socket(endpoint.protocol().family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0),
          "make a socket")};
  const int error = co_await connect_socket(socket.get(), endpoint);
  if (error != 0) fail_to_connect(error, address_);
  const auto executor = co_await asio::this_coro::executor;
  if (!tls_) co_return net::plain_stream(executor, std::move(socket));
  try {
    co_return co_await net::start_tls(std::move(socket), address_.url->host, *tls_);
  } catch (const Error& fault) {
    // In brackets is what to do about registries.
    const std::string why = fault.what();
    fail(Code::unavailable, "{}; see that ca.pem, cert.pem and key.pem in {} are those for it",
         why.substr(0, why.find(" (")), address_.cert_path);
  }
}

Task<std::unique_ptr<net::Stream>> EngineHttp::connect_by_process() {
  EngineDialer::Dialed dialed = co_await dialer_->dial();
  if (dialed.error != 0) fail_to_connect(dialed.error, address_);
  co_return net::plain_stream(co_await asio::this_coro::executor, std::move(dialed.connection));
}

Task<std::unique_ptr<net::Stream>> EngineHttp::connect() {
  if (address_.url) co_return co_await connect_tcp();
  if (dialer_) co_return co_await connect_by_process();
  try {
    co_return co_await net::open_unix_connection(address_.socket);
  } catch (const system_error& fault) {
    if (fault.code() == asio::error::operation_aborted) throw;
    fail_to_connect(fault.code().value(), address_);
  }
}

Task<EngineAnswer> EngineHttp::exchange(const EngineRequest& request, const EngineSink& sink) {
  auto stream = co_await with_timeout(kConnect, connect());
  if (!stream) fail_to_connect(ETIMEDOUT, address_);
  EngineAnswer answer;
  net::HttpResponseParser parser{net::HttpResponseParser::Body::expected, request.largest_body};
  std::vector<char> buffer(kPiece);
  const std::string head = head_of(request, address_);
  try {
    co_await (*stream)->write(head);
    while (!parser.is_done()) {
      const size_t count = co_await read_piece(**stream, buffer, parser);
      if (count > 0) parser.feed({buffer.data(), count});
      if (count == 0) parser.feed_end();
      if (!parser.has_head()) continue;
      answer.status = parser.head().status;
      const std::string piece = parser.take_body();
      if (piece.empty()) continue;
      if (sink && answer.status / 100 == 2)
        sink(piece);
      else
        answer.body += piece;
    }
  } catch (const system_error& fault) {
    fail_broken(fault, address_);
  }
  co_return answer;
}

Task<Fd> EngineHttp::connect_plainly() {
  if (address_.url) {
    fail(Code::unavailable,
         "containers with a kernel of their own are reached through the engine's unix socket only: "
         "set docker-host to unix://… in place of {}",
         to_string(address_));
  }
  if (dialer_) {
    EngineDialer::Dialed dialed = co_await dialer_->dial();
    if (dialed.error != 0) fail_to_connect(dialed.error, address_);
    co_return std::move(dialed.connection);
  }
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  if (address_.socket.size() >= sizeof name.sun_path) fail_to_connect(ENAMETOOLONG, address_);
  address_.socket.copy(name.sun_path, sizeof name.sun_path - 1);
  Fd socket{sys(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "make a socket")};
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0)
    fail_to_connect(errno, address_);
  co_return socket;
}

Task<Fd> EngineHttp::exchange_for_connection(const EngineRequest& request) {
  Fd connection = co_await connect_plainly();
  asio::posix::stream_descriptor socket{co_await asio::this_coro::executor, connection.release()};
  const std::string question = head_of(request, address_, After::upgrade);
  const ssize_t sent =
      sys(::send(socket.native_handle(), question.data(), question.size(), MSG_NOSIGNAL),
          "speak to the container engine");
  if (static_cast<size_t>(sent) != question.size()) fail_to_connect(EAGAIN, address_);
  const std::string head = co_await net::read_head(socket, kLongestHead);
  if (!head.starts_with("HTTP/1.1 101 ")) {
    fail(Code::unavailable, "the container engine did not connect belljar with a container: {}",
         head.empty() ? "it has hung up" : one_line(head.substr(0, head.find('\r')), 100));
  }
  co_return Fd{socket.release()};
}

Task<Fd> EngineHttp::upgrade(EngineRequest request) {
  auto connection = co_await with_timeout(request.limit, exchange_for_connection(request));
  if (!connection) fail_to_connect(ETIMEDOUT, address_);
  co_return std::move(*connection);
}

Task<EngineAnswer> EngineHttp::ask(EngineRequest request) {
  EngineSink none;
  co_return co_await ask(std::move(request), std::move(none));
}

Task<EngineAnswer> EngineHttp::ask(EngineRequest request, EngineSink sink) {
  auto answer = co_await with_timeout(request.limit, exchange(request, sink));
  if (!answer)
    fail(Code::unavailable,
         "the container engine at {} has not answered for {} s: see whether it is overloaded",
         to_string(address_), request.limit.count() / 1000);
  co_return std::move(*answer);
}

}  // namespace belljar::docker
