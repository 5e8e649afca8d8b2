// What a container's agent, taken over by a hostile program, might say to belljar. The first byte
// chooses: a hello, or answers to requests that wait. Then follow packets: a byte says what comes
// along, the rest is as long as such a packet is, or shorter at the end.
#include <fcntl.h>
#include <sys/socket.h>

#include "base/posix.h"
#include "base/task_group.h"
#include "drivers/docker/agent/packet.h"
#include "drivers/docker/agent_client.h"
#include "fuzz.h"

namespace belljar::docker {
namespace {

using fuzz::expect;

int lowest_free_descriptor() {
  return Fd{sys(::open("/dev/null", O_RDONLY | O_CLOEXEC), "open /dev/null")}.get();
}

Fd listening_socket() {
  Fd socket{sys(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "a socket")};
  sys(::listen(socket.get(), 1), "listen");
  return socket;
}

Fd make_companion(uint8_t kind) {
  switch (kind % 5) {
    case 0: return Fd{};
    case 1: return open_directory("/tmp");
    case 2: return listening_socket();
    case 3: return Fd{sys(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), "a socket")};
    default: return Fd{sys(::open("/dev/null", O_RDWR | O_CLOEXEC), "open /dev/null")};
  }
}

void check_hello(std::string_view input) {
  if (input.empty()) return;
  Fd fds[1] = {make_companion(static_cast<uint8_t>(input[0]))};
  const bool is_directory = static_cast<uint8_t>(input[0]) % 5 == 1;
  const auto hello = parse_hello(input.substr(1), std::span{fds}.first(fds[0] ? 1 : 0));
  if (!hello) return;
  expect(is_directory && hello->workspace, "a hello has a directory");
  expect(hello->node.empty() || hello->node[0] == '/', "node has an absolute path");
  for (const char c : hello->node) expect(c > ' ' && c < 0x7f, "a path of node can be shown");
}

// False once nobody reads any more.
bool say(int socket, std::string_view& input) {
  const Fd companion = make_companion(static_cast<uint8_t>(input[0]));
  const std::string_view packet = input.substr(1, sizeof(agent::Reply));
  input.remove_prefix(1 + packet.size());
  const int fds[] = {companion.get(), companion.get()};
  const size_t count = companion ? 1 + (packet.size() % 2) : 0;  // too many, if it is cut off
  return agent::send_packet(socket, packet.data(), packet.size(), std::span{fds}.first(count)) == 0;
}

Task<> count_answer(Task<> request, int& answers) {
  try {
    co_await std::move(request);
  } catch (const Error&) {
    ++answers;
    co_return;
  }
  ++answers;
}

Task<> ask_for_socket(AgentClient& client) {
  const Fd socket = co_await client.listen();
  expect(is_tcp_socket(socket.get(), true), "a socket is what was asked for");
}

Task<> start_program(AgentClient& client) {
  Command command;
  command.argv = {"/bin/true"};
  const Fd stream{sys(::open("/dev/null", O_RDWR | O_CLOEXEC), "open /dev/null")};
  co_await client.start(7, command, stream.get(), stream.get(), stream.get());
}

Task<> converse(std::string_view input) {
  const auto executor = co_await asio::this_coro::executor;
  int ends[2];
  sys(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), "a pair");
  AgentClient client{executor, Fd{ends[0]}, AgentHello{}};
  Fd agent{ends[1]};
  int answers = 0;
  int programs = 0;
  int closings = 0;
  client.on_close([&closings] { ++closings; });
  client.on_end(7, [&programs](const ProgramEnd&) { ++programs; });
  TaskGroup group{executor};
  group.spawn("start", count_answer(start_program(client), answers));
  group.spawn("socket", count_answer(ask_for_socket(client), answers));
  group.spawn("link", count_answer(client.link_packages(1), answers));
  while (!input.empty() && say(agent.get(), input)) {
  }
  agent.reset();
  co_await group.finish();
  while (client.alive()) co_await sleep_for(milliseconds{0});
  expect(answers == 3, "whoever asks is answered once");
  expect(programs == 1, "a program ends once");
  expect(closings == 1, "a connection ends once");
}

void check_conversation(std::string_view input) {
  asio::io_context context{1};
  std::exception_ptr error;
  const auto done = [&error](const std::exception_ptr& e) { error = e; };
  asio::co_spawn(context, converse(input), done);
  context.run();
  if (error) std::rethrow_exception(error);
}

}  // namespace
}  // namespace belljar::docker

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace belljar::docker;
  if (size < 2) return -1;
  const int free = lowest_free_descriptor();
  const std::string_view input = belljar::fuzz::text_of(data + 1, size - 1);
  if (data[0] % 2 == 0) {
    check_hello(input);
  } else {
    check_conversation(input);
  }
  belljar::fuzz::expect(lowest_free_descriptor() == free, "every descriptor is closed");
  return 0;
}
