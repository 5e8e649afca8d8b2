#include "drivers/docker/agent_message.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <vector>

#include "base/error.h"
#include "base/posix.h"
#include "drivers/docker/agent/command.h"
#include "drivers/docker/testing.h"

namespace belljar::docker {
namespace {

using agent::Hello;
using agent::Reply;
using agent::ReplyType;
using agent::Step;
using testing::ElementsAre;
using testing::HasSubstr;

template <class Message>
std::string_view bytes_of(const Message& message) {
  return {reinterpret_cast<const char*>(&message), sizeof message};
}

Hello right_hello() {
  Hello hello{};
  hello.version = agent::kVersion;
  hello.is_musl = 1;
  hello.files_inode = 7;
  std::strncpy(hello.node, "/usr/bin/node", sizeof hello.node - 1);
  return hello;
}

bool is_accepted(const Hello& hello) {
  Fd fds[] = {open_directory("/")};
  return parse_hello(bytes_of(hello), fds).has_value();
}

bool is_accepted_with(Fd fd) {
  Fd fds[] = {std::move(fd)};
  const Hello hello = right_hello();
  return parse_hello(bytes_of(hello), fds).has_value();
}

TEST(AgentHello, IsReadWithItsDirectory) {
  Fd fds[] = {open_directory("/")};
  const Hello hello = right_hello();
  const auto parsed = parse_hello(bytes_of(hello), fds);
  ASSERT_TRUE(parsed);
  EXPECT_TRUE(parsed->workspace);
  EXPECT_EQ(parsed->node, "/usr/bin/node");
  EXPECT_EQ(parsed->files_inode, 7u);
  EXPECT_EQ(parsed->c_library, CLibrary::musl);
}

TEST(AgentHello, IsRefusedUnlessItIsExactlyThat) {
  Hello hello = right_hello();
  Fd two[] = {open_directory("/"), open_directory("/")};
  EXPECT_FALSE(parse_hello(bytes_of(hello), {}));
  EXPECT_FALSE(parse_hello(bytes_of(hello), two));
  EXPECT_FALSE(parse_hello(bytes_of(hello).substr(1), std::span{two}.first(1)));
  hello.version = agent::kVersion + 1;
  EXPECT_FALSE(is_accepted(hello));
  hello = right_hello();
  hello.is_musl = 2;
  EXPECT_FALSE(is_accepted(hello));
}

TEST(AgentHello, HasAPathOfNodeThatMayBeShown) {
  Hello hello = right_hello();
  hello.node[0] = '\0';
  EXPECT_TRUE(is_accepted(hello)) << "an image without";
  hello = right_hello();
  hello.node[4] = '\n';
  EXPECT_FALSE(is_accepted(hello));
  hello = right_hello();
  hello.node[0] = 'n';
  EXPECT_FALSE(is_accepted(hello)) << "not absolute";
  std::memset(hello.node, '/', sizeof hello.node);
  EXPECT_FALSE(is_accepted(hello)) << "without an end";
}

TEST(AgentHello, HasADirectoryThatNothingCanBeReadFrom) {
  EXPECT_TRUE(is_accepted_with(open_directory("/tmp")));
  EXPECT_FALSE(is_accepted_with(Fd{::open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC)}));
  EXPECT_FALSE(is_accepted_with(Fd{::open("/dev/null", O_PATH | O_CLOEXEC)}));
  EXPECT_FALSE(is_accepted_with(make_memory_file("file", "")));
}

Reply reply_of(ReplyType type, uint32_t serial) {
  Reply reply{};
  reply.type = type;
  reply.serial = serial;
  return reply;
}

bool is_accepted(const Reply& reply, size_t fds = 0) {
  return parse_reply(bytes_of(reply), fds).has_value();
}

TEST(AgentReply, IsRefusedUnlessItsTypeMayHaveWhatItHas) {
  EXPECT_TRUE(is_accepted(reply_of(ReplyType::done, 1)));
  EXPECT_TRUE(is_accepted(reply_of(ReplyType::done, 1), 1));
  EXPECT_FALSE(is_accepted(reply_of(ReplyType::done, 1), 2));
  EXPECT_FALSE(is_accepted(reply_of(ReplyType::done, 0)));
  EXPECT_FALSE(is_accepted(reply_of(ReplyType{}, 1)));
  EXPECT_FALSE(is_accepted(reply_of(ReplyType{4}, 1)));
  EXPECT_FALSE(parse_reply(bytes_of(reply_of(ReplyType::done, 1)).substr(4), 0));
}

TEST(AgentReply, SaysWhyARequestHasFailed) {
  Reply reply = reply_of(ReplyType::failed, 1);
  reply.step = Step::execute;
  EXPECT_FALSE(is_accepted(reply)) << "no error";
  reply.error = ENOENT;
  EXPECT_TRUE(is_accepted(reply));
  EXPECT_FALSE(is_accepted(reply, 1));
  reply.step = Step{static_cast<uint32_t>(agent::kLastStep) + 1};
  EXPECT_FALSE(is_accepted(reply));
  reply.step = Step::none;
  EXPECT_FALSE(is_accepted(reply));
  reply.step = Step::execute;
  for (const int error : {-1, 0, 4096}) {
    reply.error = error;
    EXPECT_FALSE(is_accepted(reply));
  }
}

TEST(AgentReply, SaysHowAProgramHasEnded) {
  Reply reply = reply_of(ReplyType::ended, 0);
  for (const int status : {0, 3 << 8, SIGKILL, SIGSEGV | 0x80}) {
    reply.status = status;
    EXPECT_TRUE(is_accepted(reply)) << status;
  }
  for (const int status : {0x7f | SIGSTOP << 8, 0xffff, 0x10000, -1}) {
    reply.status = status;
    EXPECT_FALSE(is_accepted(reply)) << status;
  }
  reply.status = 0;
  reply.out_of_memory = 2;
  EXPECT_FALSE(is_accepted(reply));
  reply.out_of_memory = 1;
  EXPECT_TRUE(is_accepted(reply));
  reply.cpu_micros = ~0ull;
  EXPECT_FALSE(is_accepted(reply));
  EXPECT_FALSE(is_accepted(reply_of(ReplyType::ended, 1))) << "nobody has asked for it";
}

TEST(AgentSocket, IsOneOfTcpThatListensOrIsConnected) {
  const auto make = [](int family, int type) {
    return Fd{sys(::socket(family, type | SOCK_CLOEXEC, 0), "make a socket")};
  };
  EXPECT_FALSE(is_tcp_socket(make(AF_INET, SOCK_STREAM).get(), false));
  EXPECT_FALSE(is_tcp_socket(make(AF_INET, SOCK_STREAM).get(), true));
  EXPECT_FALSE(is_tcp_socket(make(AF_INET, SOCK_DGRAM).get(), false));
  EXPECT_FALSE(is_tcp_socket(make(AF_UNIX, SOCK_STREAM).get(), true));
  EXPECT_FALSE(is_tcp_socket(open_directory("/").get(), false));
  const Fd server = listening_socket();
  EXPECT_TRUE(is_tcp_socket(server.get(), true));
  EXPECT_FALSE(is_tcp_socket(server.get(), false));
  const Fd client = connected_socket(server);
  EXPECT_TRUE(is_tcp_socket(client.get(), false));
  EXPECT_FALSE(is_tcp_socket(client.get(), true));
}

Command small_command() {
  Command command;
  command.argv = {"/bin/sh", "-c", ""};
  command.env = {{"COLOUR", "blue"}, {"EMPTY", ""}};
  command.source = SourceFile{"/workspace/a.js", "text"};
  return command;
}

std::vector<std::string> strings_of(const std::vector<char*>& pointers) {
  EXPECT_EQ(pointers.back(), nullptr);
  return {pointers.begin(), pointers.end() - 1};
}

TEST(AgentCommand, IsReadAsItWasPacked) {
  const Fd file = pack_command(small_command());
  agent::StartCommand command;
  ASSERT_EQ(agent::read_command(file.get(), command), 0);
  EXPECT_THAT(strings_of(command.argv), ElementsAre("/bin/sh", "-c", ""));
  EXPECT_THAT(strings_of(command.envp), ElementsAre("COLOUR=blue", "EMPTY="));
  EXPECT_STREQ(command.source_path, "/workspace/a.js");
  EXPECT_EQ(command.source_end - command.source_at, 4);
}

TEST(AgentCommand, MayHaveNoSource) {
  Command packed = small_command();
  packed.source.reset();
  agent::StartCommand command;
  ASSERT_EQ(agent::read_command(pack_command(packed).get(), command), 0);
  EXPECT_EQ(command.source_path, nullptr);
}

TEST(AgentCommand, IsNotPackedIfItIsTooMuch) {
  Command command = small_command();
  command.argv.emplace_back(agent::kMaxStringBytes, 'x');
  EXPECT_THROW(pack_command(command), Error);
  command = small_command();
  command.argv.resize(agent::kMaxStrings);
  EXPECT_THROW(pack_command(command), Error);
  command = small_command();
  command.argv[2] = std::string("a\0b", 3);
  EXPECT_THROW(pack_command(command), Error);
  command = small_command();
  command.source->content.resize(agent::kMaxSource + 1);
  EXPECT_THROW(pack_command(command), Error);
  command.argv.clear();
  EXPECT_THROW(pack_command(command), Error);
}

int error_of(const agent::Package& package, std::string_view rest) {
  agent::StartCommand command;
  const std::string text = std::string{bytes_of(package)}.append(rest);
  return agent::read_command(make_memory_file("command", text).get(), command);
}

TEST(AgentCommand, IsRefusedUnlessItIsWhatItAnnounces) {
  using std::string_literals::operator""s;
  const agent::Package right{1, 1, 8, 0, 0};
  EXPECT_EQ(error_of(right, "/sh\0A=b\0"s), 0);
  EXPECT_EQ(error_of(right, "/sh\0A=b\0x"s), EINVAL) << "more than that";
  EXPECT_EQ(error_of(right, "/sh\0A=b"s), EINVAL) << "less than that";
  EXPECT_EQ(error_of(right, "/sh\0A=bc"s), EINVAL) << "a string without its end";
  EXPECT_EQ(error_of(right, "/sh\0A=\0\0"s), EINVAL) << "a string too many";
  EXPECT_EQ(error_of({0, 2, 8, 0, 0}, "/sh\0A=b\0"s), EINVAL) << "no program";
  EXPECT_EQ(error_of({1, 0, 8, 2, 0}, "/sh\0A=b\0"s), EINVAL);
  EXPECT_EQ(error_of({~0u, ~0u, 8, 0, 0}, "/sh\0A=b\0"s), EINVAL);
  EXPECT_EQ(error_of({1, 1, ~0u, 0, 0}, "/sh\0A=b\0"s), EINVAL);
  EXPECT_EQ(error_of({1, 1, 8, 0, ~0ull}, "/sh\0A=b\0"s), EINVAL);
}

TEST(AgentCommand, IsRefusedUnlessItIsSealed) {
  const Fd file{sys(::memfd_create("command", MFD_CLOEXEC | MFD_ALLOW_SEALING), "a file")};
  const std::string text = std::string{bytes_of(agent::Package{1, 0, 1, 0, 0})} + '\0';
  ASSERT_EQ(::write(file.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  agent::StartCommand command;
  EXPECT_EQ(agent::read_command(file.get(), command), EINVAL);
}

std::pair<Code, std::string> failure_of(Step step, int error) {
  Reply reply = reply_of(ReplyType::failed, 1);
  reply.step = step;
  reply.error = error;
  try {
    fail_as(reply, "start /bin/true");
  } catch (const Error& e) {
    return {e.code(), e.what()};
  }
}

TEST(AgentFailure, SaysWhatCanBeDone) {
  const auto [no_node, words] = failure_of(Step::find_node, ENOENT);
  EXPECT_EQ(no_node, Code::not_found);
  EXPECT_THAT(words, HasSubstr("the image has no Node.js"));
  EXPECT_EQ(failure_of(Step::execute, ENOENT).first, Code::not_found);
  EXPECT_EQ(failure_of(Step::execute, ENOENT).second,
            "start /bin/true: execute: No such file or directory");
  EXPECT_EQ(failure_of(Step::use_place, EEXIST).first, Code::invalid);
  EXPECT_EQ(failure_of(Step::make_process, EAGAIN).first, Code::exhausted);
  EXPECT_EQ(failure_of(Step::write_source, ENOSPC).first, Code::exhausted);
}

}  // namespace
}  // namespace belljar::docker
