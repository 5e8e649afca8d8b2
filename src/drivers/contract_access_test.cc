// What every driver promises about looking into a sandbox from outside: its files and its ports.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/posix.h"
#include "drivers/contract_fixture.h"
#include "net/http_listener.h"
#include "sandbox/run.h"

namespace belljar::contract {
namespace {

const Program kSave{
    "import { writeFileSync } from 'node:fs'; writeFileSync('files/note.txt', 'kept');",
    "save files/note.txt kept"};

const Program kListen{
    R"(import { createServer } from 'node:net';
       createServer((c) => c.end('port 4321\n')).listen(4321, '127.0.0.1', () => console.log('up'));)",
    "listen 4321\nprint up\nhang"};

const Program kListenOnIpv6{
    R"(import { createServer } from 'node:net';
       createServer((c) => c.end('port 4321\n')).listen(4321, '::1', () => console.log('up'));)",
    "listen 4321\nprint up\nhang"};

const Program kWriteAndShowFiles{
    R"(import { readFileSync, statSync, writeFileSync } from 'node:fs';
       console.log(readFileSync('files/given.txt', 'utf8'), statSync('files/given.txt').uid);
       writeFileSync('files/made.txt', 'made inside');)",
    "print given 1000\nsave files/made.txt made inside"};

std::string read_beneath(int directory, const char* path) {
  const Fd file{::openat(directory, path, O_RDONLY | O_CLOEXEC)};
  return file ? read_to_end(file.get(), path, 1000) : "(none)";
}

// What arrives until the other side closes. Blocks, while a driver may have to bring it here.
std::string read_socket(int socket) {
  std::string text;
  pollfd ready{socket, POLLIN, 0};
  char buffer[100];
  while (::poll(&ready, 1, 10'000) == 1) {
    const ssize_t size = ::read(socket, buffer, sizeof buffer);
    if (size <= 0) break;
    text.append(buffer, static_cast<size_t>(size));
  }
  return text;
}

Task<> workspace_view(Bench& bench) {
  const auto sandbox = co_await bench.create();
  EXPECT_EQ(read_beneath(sandbox->workspace(), "files/note.txt"), "(none)");
  co_await bench.run_in(*sandbox, kSave);
  EXPECT_EQ(read_beneath(sandbox->workspace(), "files/note.txt"), "kept");
  co_await sandbox->destroy();
  EXPECT_EQ(sandbox->workspace(), -1);
}
TEST_P(DriverContract, ShowsTheWorkspaceUntilTheEnd) {
  check(workspace_view);
}

Task<> connection(Bench& bench, const Program& program) {
  const auto sandbox = co_await bench.create();
  std::string refusal;
  try {
    co_await sandbox->connect(4321);
  } catch (const Error& e) {
    refusal = e.what();
  }
  EXPECT_THAT(refusal, testing::HasSubstr("nothing accepts connections on port 4321"));

  Sink sink;
  const auto process = co_await sandbox->start(bench.command(program), sink);
  while (sink.out.empty()) co_await sleep_for(milliseconds{1});  // it says when it listens
  const Fd socket = co_await sandbox->connect(4321);
  const auto read = [&socket] { return read_socket(socket.get()); };
  EXPECT_EQ(co_await run_blocking(read), "port 4321\n");
  co_await sandbox->destroy();
}
Task<> connection_v4(Bench& bench) {
  return connection(bench, kListen);
}
Task<> connection_v6(Bench& bench) {
  return connection(bench, kListenOnIpv6);
}
TEST_P(DriverContract, ConnectsToAPortInside) {
  check(connection_v4);
}
TEST_P(DriverContract, ConnectsToAPortThatListensOnIpv6Only) {
  check(connection_v6);
}

Task<> ports_of_others(Bench& bench) {
  const auto one = co_await bench.create();
  const auto other = co_await bench.create();
  Sink sink;
  const auto process = co_await one->start(bench.command(kListen), sink);
  while (sink.out.empty()) co_await sleep_for(milliseconds{1});
  bool reached = true;
  try {
    co_await other->connect(4321);
  } catch (const Error&) {
    reached = false;
  }
  EXPECT_FALSE(reached);
  co_await one->destroy();
  co_await other->destroy();
}
TEST_P(DriverContract, KeepsThePortsOfSandboxesApart) {
  check(ports_of_others);
}

// A directory of the host that belongs to somebody, and goes with the object.
struct SharedDirectory {
  explicit SharedDirectory(uid_t owner) {
    if (::mkdtemp(path.data()) == nullptr) fail_errno(errno, "make a directory");
    std::ofstream{path + "/given.txt"} << "given";
    for (const std::string& name : {path, path + "/given.txt"}) {
      if (::geteuid() == 0) sys(::chown(name.c_str(), owner, owner), "chown {}", name);
    }
    handle = std::make_shared<const Fd>(open_directory(path));
  }
  ~SharedDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::string path = "/var/tmp/belljar-contract-XXXXXX";
  std::shared_ptr<const Fd> handle;
};

Task<> shared_files(Bench& bench) {
  if (bench.is_fake()) co_return;  // it shares nothing with the host
  // An ordinary user's sandboxes can be given the user's own directories only.
  const uid_t self = ::geteuid();
  auto owners = self == 0 ? std::vector<uid_t>{0, 1000, 12345} : std::vector<uid_t>{self};
  if (bench.is_container() && self == 0) owners = {1000, 12345};  // programs are the owner, or not
  for (const uid_t owner : owners) {
    const SharedDirectory shared{owner};
    SandboxSpec spec = bench.spec();
    spec.files = shared.handle;
    const auto sandbox = co_await bench.create(std::move(spec));
    const RunResult result = co_await bench.run_in(*sandbox, kWriteAndShowFiles);
    const uid_t inside = bench.is_container() ? owner : 1000;
    EXPECT_EQ(result.out.text, fmt::format("given {}\n", inside)) << result.err.text;
    EXPECT_EQ(read_file(shared.path + "/made.txt"), "made inside");
    struct stat info {};
    EXPECT_EQ(::stat((shared.path + "/made.txt").c_str(), &info), 0);
    EXPECT_EQ(info.st_uid, owner);
    EXPECT_EQ(info.st_gid, owner);
    co_await sandbox->destroy();
  }
}
TEST_P(DriverContract, SharesADirectoryOfTheHostAsItsOwner) {
  check(shared_files);
}

Task<> files_of_root(Bench& bench) {
  if (!bench.is_container() || ::geteuid() != 0) co_return;
  const SharedDirectory shared{0};
  SandboxSpec spec = bench.spec();
  spec.files = shared.handle;
  std::string refusal;
  try {
    co_await bench.create(std::move(spec));
  } catch (const Error& e) {
    refusal = e.what();
  }
  EXPECT_THAT(refusal, testing::HasSubstr("belongs to root"));
}
TEST_P(DriverContract, SharesNoDirectoryOfRootsWithContainers) {
  check(files_of_root);
}

Task<> piped(Bench& bench) {
  if (bench.is_fake()) co_return;  // its programs have no descriptors
  const auto from = co_await bench.create();
  const auto to = co_await bench.create();
  Pipe pipe = make_pipe();
  Command producer;
  producer.argv = {"/bin/sh", "-c", "seq 1 100000; echo on stderr >&2"};
  producer.output_file = std::make_shared<const Fd>(std::move(pipe.write));
  Command consumer;
  consumer.argv = {"/usr/bin/wc", "-l"};
  consumer.input_file = std::make_shared<const Fd>(std::move(pipe.read));
  Sink sent;
  Sink counted;
  const auto first = co_await from->start(producer, sent);
  const auto second = co_await to->start(consumer, counted);
  producer.output_file.reset();  // else the reader never sees the end
  EXPECT_TRUE((co_await first->wait()).ok());
  EXPECT_TRUE((co_await second->wait()).ok());
  EXPECT_EQ(sent.out, "");
  EXPECT_EQ(sent.err, "on stderr\n");
  EXPECT_EQ(counted.out, "100000\n");
  co_await from->destroy();
  co_await to->destroy();
}
TEST_P(DriverContract, ConnectsProgramsOfTwoSandboxesByAPipe) {
  check(piped);
}

Task<> inner_listener(Bench& bench) {
  if (bench.is_fake()) co_return;
  const auto sandbox = co_await bench.create();
  const Fd listener = co_await sandbox->listen();
  Command client;
  client.argv = {node_path(bench.spec().image), "-e",
                 "require('net').connect(+process.argv[1], '127.0.0.1', () => process.exit(7))",
                 std::to_string(net::listening_port(listener.get()))};
  Sink sink;
  const auto process = co_await sandbox->start(std::move(client), sink);
  const Outcome outcome = co_await process->wait();
  EXPECT_EQ(outcome.code, 7) << sink.err;
  const Fd accepted{::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC)};
  EXPECT_TRUE(accepted);
  co_await sandbox->destroy();
}
TEST_P(DriverContract, ListensInsideForWhoeverHoldsTheSocket) {
  check(inner_listener);
}

}  // namespace
}  // namespace belljar::contract
