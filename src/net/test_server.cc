#include "net/test_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>

#include <memory>
#include <sstream>

#include "base/error.h"
#include "base/posix.h"

namespace belljar::net {
namespace {

using Context = std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)>;

Context make_context(const Credentials& from) {
  Context context{SSL_CTX_new(TLS_server_method()), &SSL_CTX_free};
  BIO* memory = BIO_new_mem_buf(from.certificate.data(), -1);
  X509* certificate = PEM_read_bio_X509(memory, nullptr, nullptr, nullptr);
  SSL_CTX_use_certificate(context.get(), certificate);
  X509_free(certificate);
  BIO_free(memory);
  memory = BIO_new_mem_buf(from.key.data(), -1);
  EVP_PKEY* key = PEM_read_bio_PrivateKey(memory, nullptr, nullptr, nullptr);
  SSL_CTX_use_PrivateKey(context.get(), key);
  EVP_PKEY_free(key);
  BIO_free(memory);
  return context;
}

sockaddr_in loopback(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

TestRequest parse(const std::string& head) {
  std::istringstream lines{head};
  TestRequest request;
  std::string line;
  lines >> request.method >> request.target;
  std::getline(lines, line);
  while (std::getline(lines, line) && line != "\r") {
    const size_t colon = line.find(": ");
    if (colon == std::string::npos) continue;
    std::string name = line.substr(0, colon);
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    request.headers[name] = line.substr(colon + 2, line.size() - colon - 3);
  }
  return request;
}

}  // namespace

struct TestServer::Connection {
  Fd fd;
  std::unique_ptr<SSL, decltype(&SSL_free)> ssl{nullptr, &SSL_free};

  ssize_t read(char* data, size_t size) {
    return ssl ? SSL_read(ssl.get(), data, static_cast<int>(size))
               : ::recv(fd.get(), data, size, 0);
  }
  bool write(const std::string& bytes) {
    for (size_t done = 0; done < bytes.size();) {
      const size_t size = std::min<size_t>(bytes.size() - done, 64u << 10);
      const ssize_t count = ssl ? SSL_write(ssl.get(), bytes.data() + done, static_cast<int>(size))
                                : ::send(fd.get(), bytes.data() + done, size, MSG_NOSIGNAL);
      if (count <= 0) return false;
      done += static_cast<size_t>(count);
    }
    return true;
  }
  void close() {
    if (ssl) SSL_shutdown(ssl.get());
    ::shutdown(fd.get(), SHUT_WR);
  }
};

TestServer::TestServer(Handler handler, std::optional<Credentials> certificate)
    : handler_{std::move(handler)}, certificate_{std::move(certificate)}, stop_{make_pipe()} {
  ::signal(SIGPIPE, SIG_IGN);  // SSL_write has no MSG_NOSIGNAL
  listener_.reset(sys(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket"));
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof(address);
  sys(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size), "bind");
  sys(::listen(listener_.get(), 16), "listen");
  sys(::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size), "getsockname");
  port_ = ntohs(address.sin_port);
  thread_ = std::thread{[this] { serve(); }};
}

TestServer::~TestServer() {
  stop_.write.reset();
  thread_.join();
}

std::string TestServer::url(const std::string& path, const std::string& host) const {
  return fmt::format("{}://{}:{}{}", certificate_ ? "https" : "http", host, port_, path);
}

std::vector<TestRequest> TestServer::requests() const {
  const std::lock_guard lock{mutex_};
  return requests_;
}

void TestServer::serve() {
  const Context context =
      certificate_ ? make_context(*certificate_) : Context{nullptr, &SSL_CTX_free};
  while (true) {
    pollfd ready[] = {{listener_.get(), POLLIN, 0}, {stop_.read.get(), POLLIN, 0}};
    ::poll(ready, 2, -1);
    if (ready[1].revents != 0) return;
    Connection connection;
    connection.fd.reset(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!connection.fd) continue;
    if (context) {
      connection.ssl.reset(SSL_new(context.get()));
      SSL_set_fd(connection.ssl.get(), connection.fd.get());
      if (SSL_accept(connection.ssl.get()) != 1) continue;
    }
    serve_one(connection);
  }
}

void TestServer::serve_one(Connection& connection) {
  std::string head;
  char c = 0;
  while (head.find("\r\n\r\n") == std::string::npos) {
    if (connection.read(&c, 1) != 1) return;
    head += c;
  }
  const TestRequest request = parse(head);
  {
    const std::lock_guard lock{mutex_};
    requests_.push_back(request);
  }
  const std::string answer = handler_(request);
  if (request.method == "CONNECT" && answer.empty()) return tunnel(connection, request);
  if (answer == kSilence) {
    pollfd ready[] = {{connection.fd.get(), POLLIN | POLLRDHUP, 0}, {stop_.read.get(), POLLIN, 0}};
    ::poll(ready, 2, -1);
    return;
  }
  if (!connection.write(answer)) return;
  connection.close();
  while (connection.read(&c, 1) > 0) continue;
}

void TestServer::tunnel(Connection& connection, const TestRequest& request) {
  const auto port =
      static_cast<uint16_t>(std::stoi(request.target.substr(request.target.rfind(':') + 1)));
  const sockaddr_in address = loopback(port);
  Connection target;
  target.fd.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(target.fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
    return;
  if (!connection.write("HTTP/1.1 200 Connection established\r\n\r\n")) return;
  std::string buffer(16u << 10, '\0');
  Connection* const ends[] = {&connection, &target};
  while (true) {
    pollfd ready[] = {{connection.fd.get(), POLLIN, 0},
                      {target.fd.get(), POLLIN, 0},
                      {stop_.read.get(), POLLIN, 0}};
    ::poll(ready, 3, -1);
    if (ready[2].revents != 0) return;
    for (int i = 0; i < 2; ++i) {
      if (ready[i].revents == 0) continue;
      const ssize_t count = ends[i]->read(buffer.data(), buffer.size());
      if (count <= 0) return ends[1 - i]->close();
      if (!ends[1 - i]->write(buffer.substr(0, static_cast<size_t>(count)))) return;
    }
  }
}

std::string http_answer(int status, const std::string& body, const std::string& more_headers) {
  return fmt::format("HTTP/1.1 {} Status\r\nContent-Length: {}\r\n{}\r\n{}", status, body.size(),
                     more_headers, body);
}

}  // namespace belljar::net
