#include "network/secret_relay.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <charconv>

#include "base/log.h"
#include "base/posix.h"
#include "net/connection.h"
#include "network/client_hello.h"
#include "network/host_name.h"
#include "network/http_refusal.h"
#include "network/relay.h"
#include "network/request_filter.h"

namespace belljar::network {

namespace {

using Socket = asio::posix::stream_descriptor;
using std::chrono::seconds;

constexpr seconds kHandshakeLimit{30};
// How long the program is waited for when everything was said.
constexpr seconds kEndLimit{10};
// How long the host's answer is waited for when the program has ended its side: until it begins,
// and for each of its pieces. Most such programs have gone, which looks the same.
constexpr seconds kAnswerLimit{30};
constexpr seconds kPieceLimit{2};
constexpr milliseconds kPeekPause{5};
constexpr size_t kPiece = 16u << 10;
constexpr size_t kMaxHead = 64u << 10;

Fd copy_of(int fd) {
  return Fd{sys(::fcntl(fd, F_DUPFD_CLOEXEC, 0), "copy a descriptor")};
}

// From when on the socket counts as readable.
void set_low_water(int socket, size_t bytes) {
  const int value = static_cast<int>(bytes);
  sys(::setsockopt(socket, SOL_SOCKET, SO_RCVLOWAT, &value, sizeof value), "watch a socket");
}

// True if the peer sends nothing more than what has arrived.
bool has_ended(int socket) {
  pollfd state{socket, POLLRDHUP, 0};
  return ::poll(&state, 1, 0) == 1;
}

Task<> wait_readable(Socket& socket) {
  co_await socket.async_wait(Socket::wait_read, asio::use_awaitable);
}

}  // namespace

Task<std::string> peek_server_name(int inside, int outside) {
  using namespace asio::experimental::awaitable_operators;
  const auto executor = co_await asio::this_coro::executor;
  Socket program{executor, copy_of(inside).release()};
  Socket host{executor, copy_of(outside).release()};
  std::string bytes(kMaxClientHello, '\0');
  std::string name;
  size_t before = 0;
  for (;;) {
    const auto first = co_await (wait_readable(program) || wait_readable(host));
    if (first.index() == 1) break;
    const ssize_t size = ::recv(inside, bytes.data(), bytes.size(), MSG_PEEK | MSG_DONTWAIT);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (size <= 0) break;  // whoever carries it will see that, too
    const size_t seen = static_cast<size_t>(size);
    const FirstBytes found = read_client_hello({bytes.data(), seen});
    name = found.server_name;
    if (found.kind != FirstBytes::Kind::incomplete || has_ended(inside)) break;
    // Only TCP waits for so much; a container's connection may be of another kind.
    if (seen == before) co_await sleep_for(kPeekPause);
    before = seen;
    set_low_water(inside, seen + 1);
  }
  set_low_water(inside, 1);
  co_return canonical_name(name).value_or("");
}

namespace {

// The status of the first final answer in what a server has said so far; 0 if that is not known
// yet.
int first_status(std::string_view bytes) {
  constexpr size_t kStatusAt = 9;  // after "HTTP/1.1 "
  for (;;) {
    const size_t end = bytes.find("\r\n\r\n");
    if (end == std::string_view::npos || end < kStatusAt + 3) return 0;
    int status = 0;
    std::from_chars(bytes.data() + kStatusAt, bytes.data() + kStatusAt + 3, status);
    if (status == 101 || status / 100 != 1) return status;
    bytes.remove_prefix(end + 4);  // an interim one
  }
}

// A connection whose program has been answered as if by the host.
class SecretRelay {
 public:
  // `inside` is the socket beneath the stream.
  SecretRelay(const asio::any_io_executor& executor, std::unique_ptr<net::Stream> program,
              Fd inside, const Secret::Host& host, const Secrets& secrets)
      : program_{std::move(program)},
        inside_{std::move(inside)},
        filter_{host, secrets.of(host)},
        has_answer_{executor} {}

  // What the host is to get first. "" if the program went away or was refused.
  Task<std::string> first_request();
  const std::optional<RequestFilter::Refusal>& refusal() const { return filter_.refusal(); }
  Task<> refuse(RequestFilter::Refusal refusal);
  Task<> carry(std::unique_ptr<net::Stream> host, std::string first,
               std::shared_ptr<uint64_t> count);

 private:
  Task<> carry_requests(std::string first);
  Task<> carry_answers();
  Task<> send(std::string bytes);
  Task<> end();

  std::unique_ptr<net::Stream> program_;
  Fd inside_;
  std::unique_ptr<net::Stream> host_;
  RequestFilter filter_;
  std::shared_ptr<uint64_t> count_ = std::make_shared<uint64_t>(0);
  Event has_answer_;  // to a request for a WebSocket
  bool agreed_ = false;
  uint64_t answered_ = 0;     // bytes
  bool is_answered_ = false;  // something came after the last bytes of a request
};

Task<std::string> SecretRelay::first_request() {
  std::string first;
  std::array<char, kPiece> buffer;
  while (!filter_.has_request()) {
    const size_t size = co_await program_->read_some(buffer);
    if (size == 0) co_return std::string{};
    *count_ += size;
    first += filter_.feed({buffer.data(), size});
  }
  if (filter_.refusal()) first.clear();
  co_return first;
}

Task<> SecretRelay::refuse(RequestFilter::Refusal refusal) {
  const std::string answer = http_refusal(refusal.status, refusal.why);
  co_await program_->write(answer);
  co_await end();
}

Task<> SecretRelay::end() {
  co_await with_timeout(kEndLimit, program_->end());
  close_gently(inside_.get());
}

Task<> SecretRelay::carry(std::unique_ptr<net::Stream> host, std::string first,
                          std::shared_ptr<uint64_t> count) {
  using namespace asio::experimental::awaitable_operators;
  host_ = std::move(host);
  *count += std::exchange(*count_, 0);
  count_ = std::move(count);
  // Whichever ends first, for whatever reason, ends the other.
  auto requests = settle(ended(carry_requests(std::move(first))));
  auto answers = settle(ended(carry_answers()));
  const auto result = co_await (std::move(requests) || std::move(answers));
  const auto& failure = std::visit(
      [](const auto& how) -> const auto& { return how.error; }, result);
  if (failure) std::rethrow_exception(failure);
}

Task<> SecretRelay::send(std::string bytes) {
  if (!bytes.empty()) co_await host_->write(bytes);
  if (!filter_.refusal()) co_return;
  fail(Code::denied, "{}", filter_.refusal()->why);
}

Task<> SecretRelay::carry_requests(std::string first) {
  co_await send(std::move(first));
  std::array<char, kPiece> buffer;
  for (;;) {
    if (filter_.awaits_answer()) {
      co_await has_answer_.wait();
      co_await send(filter_.answered(agreed_));
    }
    const size_t size = co_await program_->read_some(buffer);
    if (size == 0) break;
    *count_ += size;
    is_answered_ = false;
    co_await send(filter_.feed({buffer.data(), size}));
  }
  for (uint64_t before = answered_ + 1; before != answered_;) {
    before = answered_;
    co_await sleep_for(is_answered_ ? kPieceLimit : kAnswerLimit);
  }
}

Task<> SecretRelay::carry_answers() {
  std::array<char, kPiece> buffer;
  std::string head;  // while somebody waits for the answer to a first request
  for (;;) {
    const size_t size = co_await host_->read_some(buffer);
    if (size == 0) break;
    *count_ += size;
    answered_ += size;
    is_answered_ = true;
    const std::string_view bytes{buffer.data(), size};
    if (filter_.awaits_answer() && !has_answer_.is_set()) {
      head.append(bytes);
      const int status = first_status(head);
      if (status == 0 && head.size() > kMaxHead) fail(Code::unavailable, "an endless answer");
      agreed_ = status == 101;
      if (status != 0) has_answer_.set();
    }
    co_await program_->write(bytes);
  }
  co_await end();
}

Task<> serve(Fd inside, Fd outside, Secret::Host host, const Secrets& secrets, HostNote note) {
  send_at_once(inside.get());
  send_at_once(outside.get());
  Fd socket = copy_of(inside.get());
  reset_at_close(socket.get());  // until everything was said
  auto accepting = net::accept_tls(std::move(inside), secrets.server(host));
  auto program = co_await with_timeout(kHandshakeLimit, std::move(accepting));
  if (!program) co_return;
  SecretRelay relay{co_await asio::this_coro::executor, std::move(*program), std::move(socket),
                    host, secrets};
  std::string first = co_await relay.first_request();
  if (relay.refusal()) {
    log::debug("a request to {} was refused: {}", host.name, relay.refusal()->why);
    note(true);
    co_return co_await relay.refuse(*relay.refusal());
  }
  if (first.empty()) co_return;
  std::string why = fmt::format("{} does not answer to TLS", host.name);
  std::optional<std::unique_ptr<net::Stream>> server;
  try {
    auto starting = net::start_tls(std::move(outside), host.name, secrets.client());
    server = co_await with_timeout(kHandshakeLimit, std::move(starting));
  } catch (const Error& e) {
    why = e.what();
  }
  auto count = note(server.has_value());
  if (server)
    co_return co_await relay.carry(std::move(*server), std::move(first), std::move(count));
  log::debug("{}; it gets no secret", why);
  const RequestFilter::Refusal refusal{502, why + "; the request was not sent"};
  co_await relay.refuse(refusal);
}

}  // namespace

Task<> relay_with_secrets(Fd inside, Fd outside, Secret::Host host, const Secrets& secrets,
                          HostNote note) {
  try {
    co_await serve(std::move(inside), std::move(outside), host, secrets, std::move(note));
  } catch (const boost::system::system_error& e) {
    if (e.code() == asio::error::operation_aborted) throw;
    fail(Code::unavailable, "TLS with {}: {}", host.name, e.code().message());
  }
}

}  // namespace belljar::network
