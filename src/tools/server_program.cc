#include "tools/server_program.h"

#include <fmt/ranges.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <charconv>
#include <set>

#include "network/published_port.h"
#include "tools/publishing.h"

namespace belljar::tools {

namespace {

using std::chrono::steady_clock;

constexpr size_t kLogLimit = 512u << 10;
constexpr milliseconds kFirstPause{1};
constexpr milliseconds kLongestPause{20};
constexpr milliseconds kLookTime{1000};
constexpr milliseconds kDyingTime{300};
constexpr milliseconds kParting{250};

Task<> read_to_end(asio::posix::stream_descriptor& connection) {
  std::array<char, 4096> bytes{};
  boost::system::error_code error;
  while (!error) {
    co_await connection.async_read_some(asio::buffer(bytes),
                                        asio::redirect_error(asio::use_awaitable, error));
  }
}

// A server that speaks first finds a connection reset whose other side just closes it, and one that
// does not expect that dies of it. So it is heard out.
Task<> part_from(Fd socket) {
  ::shutdown(socket.get(), SHUT_WR);
  const auto executor = co_await asio::this_coro::executor;
  asio::posix::stream_descriptor connection{executor, socket.release()};
  co_await with_timeout(kParting, read_to_end(connection));
}

Task<bool> accepts(Sandbox& sandbox, uint16_t port) {
  Fd connection;
  try {
    connection = co_await sandbox.connect(port);
  } catch (const Error& e) {
    if (e.code() != Code::unavailable) throw;
  }
  if (!connection) co_return false;
  co_await part_from(std::move(connection));
  co_return true;
}

// A server that was just killed holds its port for a moment longer.
Task<bool> stays_taken(Sandbox& sandbox, uint16_t port) {
  const auto deadline = steady_clock::now() + kDyingTime;
  for (;;) {
    const bool taken = co_await accepts(sandbox, port);
    if (!taken || steady_clock::now() >= deadline) co_return taken;
    co_await sleep_for(kLongestPause);
  }
}

// True once the port accepts; false if the program ended before, or the time is up.
Task<bool> becomes_ready(Sandbox& sandbox, BackgroundProcess& process, uint16_t port,
                         milliseconds timeout) {
  const auto deadline = steady_clock::now() + timeout;
  for (milliseconds pause = kFirstPause;; pause = std::min(pause * 2, kLongestPause)) {
    const bool ready = co_await accepts(sandbox, port);
    if (ready) co_return true;
    if (!process.running() || steady_clock::now() >= deadline) co_return false;
    co_await with_timeout(pause, process.wait());
  }
}

// "It listens on port 8080 instead", if it does: the most likely mistake.
Task<std::string> other_ports(Lease& lease) {
  constexpr const char* kNotKnown = "what it listens on instead could not be found out";
  Command command;
  command.argv = {"/bin/cat", "/proc/net/tcp", "/proc/net/tcp6"};
  RunLimits limits;
  limits.timeout = kLookTime;
  RunResult result;
  try {
    result = co_await lease.run(std::move(command), limits, nullptr);
  } catch (const Error&) {
    co_return kNotKnown;  // it is only a hint
  }
  // The table has a heading even if it is empty. Without it cat was killed or too slow.
  if (result.out.text.empty()) co_return kNotKnown;
  const std::vector<uint16_t> ports = listening_ports(result.out.text);
  if (ports.empty()) co_return "nothing in the sandbox listens on any port";
  co_return fmt::format("the sandbox listens on {} {} instead: pass that as listenOnPort",
                        ports.size() == 1 ? "port" : "ports", fmt::join(ports, ", "));
}

}  // namespace

std::vector<uint16_t> listening_ports(std::string_view table) {
  std::set<uint16_t> ports;
  while (!table.empty()) {
    const size_t end = std::min(table.find('\n'), table.size());
    // "   0: 0100007F:1F90 00000000:0000 0A …": local address and port, remote, state LISTEN.
    const std::string_view line = table.substr(0, end);
    table.remove_prefix(std::min(end + 1, table.size()));
    const size_t number = line.find(": ");
    if (number == std::string_view::npos) continue;
    const size_t local = line.find(':', number + 2);
    const size_t remote = local == std::string_view::npos ? local : line.find(':', local + 1);
    if (remote == std::string_view::npos || line.size() < remote + 9) continue;
    if (line.substr(remote + 5, 4) != " 0A ") continue;
    uint16_t port = 0;
    std::from_chars(line.data() + local + 1, line.data() + local + 5, port, 16);
    if (port >= network::kFirstPort) ports.insert(port);  // lower ones are not the program's
  }
  return {ports.begin(), ports.end()};
}

Task<std::shared_ptr<const ServerPort>> ServerPort::reserve(const Lease& lease, uint16_t wanted,
                                                            asio::ip::address address) {
  using Reserved = std::shared_ptr<const ServerPort>;
  const auto executor = co_await asio::this_coro::executor;
  const Numbers spare = lease.spare_ports();
  if (wanted != 0) {
    publish_port(lease, wanted, address, executor);
    const bool was_spare = spare->erase(wanted) > 0;
    co_return Reserved{new ServerPort{wanted, was_spare ? spare : nullptr}};
  }
  for (;;) {
    const uint16_t port = spare->empty() ? publish_port(lease, 0, address, executor)
                                         : spare->extract(spare->begin()).value();
    // The number is free on the host; inside, a program may listen there, by chance or as what a
    // former server left behind. Such a port stays published, so that it is not chosen again.
    const bool taken = co_await accepts(lease.sandbox(), port);
    if (!taken) co_return Reserved{new ServerPort{port, spare}};
  }
}

ServerPort::~ServerPort() {
  if (spare_) spare_->insert(number_);
}

Task<ServerStart> start_server(Lease lease, Command command,
                               std::shared_ptr<const ServerPort> reserved, milliseconds timeout) {
  Sandbox& sandbox = lease.sandbox();
  const uint16_t port = reserved->number();
  const bool taken = co_await stays_taken(sandbox, port);
  if (taken) {
    fail(Code::unavailable,
         "something in this sandbox listens on port {} already; end all its programs with "
         "sandbox_exec and \"kill -9 -1\", choose another port, or use another sandbox",
         port);
  }
  const auto begin = steady_clock::now();
  Lease own = lease.again();
  ServerStart start;
  start.process = co_await BackgroundProcess::start(std::move(lease), std::move(command), kLogLimit,
                                                    std::move(reserved));
  std::exception_ptr interruption;
  bool ready = false;
  try {
    ready = co_await becomes_ready(sandbox, *start.process, port, timeout);
  } catch (...) {
    interruption = std::current_exception();
  }
  start.ready_after =
      std::chrono::duration_cast<std::chrono::microseconds>(steady_clock::now() - begin);
  if (ready) co_return start;
  if (start.process->running() && !interruption) {
    const std::string hint = co_await other_ports(own);
    start.failure = fmt::format(
        "ETIMEDOUT: the program did not listen on port {} within {} ms and was killed; {}", port,
        timeout.count(), hint);
  }
  start.process->kill(Outcome::Kind::timed_out);
  if (interruption) std::rethrow_exception(interruption);
  co_await start.process->wait();
  if (start.failure.empty()) {
    start.failure = fmt::format("the program ended before it listened on port {}", port);
  }
  co_return start;
}

}  // namespace belljar::tools
