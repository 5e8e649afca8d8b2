#include "drivers/docker/agent_client.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <csignal>

#include "base/posix.h"
#include "base/task_group.h"
#include "base/testing.h"
#include "drivers/docker/agent/packet.h"
#include "drivers/docker/testing.h"

namespace belljar::docker {
namespace {

using agent::Reply;
using agent::ReplyType;
using agent::Request;
using agent::RequestType;

// An agent that the test plays itself.
class Played {
 public:
  explicit Played(const asio::any_io_executor& executor) {
    int ends[2];
    sys(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), "a pair");
    theirs_.reset(ends[1]);
    client = std::make_unique<AgentClient>(executor, Fd{ends[0]}, AgentHello{});
    client->on_close([this] { ++closings; });
  }

  // The next request, which must be there; what came along stays in `fds`.
  Request request() {
    Request request{};
    fds = std::vector<Fd>(agent::kMaxFds);
    const auto packet = agent::receive_packet(theirs_.get(), &request, sizeof request, fds);
    if (packet.size != sizeof request) fail(Code::not_found, "there is no request");
    fds.resize(packet.fds);
    return request;
  }

  void say(const Reply& reply, std::span<const int> with = {}) const {
    EXPECT_EQ(agent::send_packet(theirs_.get(), &reply, sizeof reply, with), 0);
  }
  void say(ReplyType type, uint32_t serial) const {
    Reply reply{};
    reply.type = type;
    reply.serial = serial;
    say(reply);
  }
  void say_ended(uint64_t program, int status) const {
    Reply reply{};
    reply.type = ReplyType::ended;
    reply.program = program;
    reply.status = status;
    say(reply);
  }
  void leave() { theirs_.reset(); }

  std::unique_ptr<AgentClient> client;
  std::vector<Fd> fds;
  int closings = 0;

 private:
  Fd theirs_;
};

// What a task of the client's came to: "" or the words of its Error.
Task<> note(Task<> task, std::string& words) {
  words = "waits";
  try {
    co_await std::move(task);
    words = "";
  } catch (const Error& e) {
    words = e.code() == Code::unavailable ? "unavailable" : e.what();
  }
}

Task<> start_one(AgentClient& client, uint64_t program, int stream) {
  Command command;
  command.argv = {"/bin/true"};
  co_await client.start(program, command, stream, stream, stream);
}

Task<> take_socket(AgentClient& client, Fd& result) {
  result = co_await client.connect(80);
}

// Lets everything that is ready happen.
Task<> settle_down() {
  for (int i = 0; i < 20; ++i) {
    const auto executor = co_await asio::this_coro::executor;
    co_await asio::post(executor, asio::use_awaitable);
    co_await sleep_for(milliseconds{0});
  }
}

Task<> match_answers() {
  const auto executor = co_await asio::this_coro::executor;
  Played agent{executor};
  TaskGroup group{executor};
  std::string first;
  std::string second;
  group.spawn("first", note(agent.client->link_packages(1), first));
  group.spawn("second", note(agent.client->link_packages(2), second));
  const Request one = agent.request();
  const Request two = agent.request();
  EXPECT_EQ(one.number, 1u);
  EXPECT_EQ(two.number, 2u);
  agent.say(ReplyType::done, two.serial);
  co_await settle_down();
  EXPECT_EQ(first, "waits");
  EXPECT_EQ(second, "");
  agent.say(ReplyType::done, one.serial);
  co_await group.finish();
  EXPECT_EQ(first, "");
  EXPECT_TRUE(agent.client->alive());
}

TEST(AgentClient, MatchesAnswersWithRequests) {
  run(match_answers());
}

Task<> lose_agent() {
  const auto executor = co_await asio::this_coro::executor;
  Played agent{executor};
  TaskGroup group{executor};
  std::string words;
  std::vector<int> ends;
  group.spawn("link", note(agent.client->link_packages(1), words));
  agent.client->on_end(5, [&ends](const ProgramEnd& end) { ends.push_back(end.status); });
  agent.leave();
  co_await group.finish();
  EXPECT_EQ(words, "unavailable");
  EXPECT_FALSE(agent.client->alive());
  EXPECT_THAT(ends, testing::ElementsAre(SIGKILL));
  EXPECT_EQ(agent.closings, 1);
  agent.client->on_end(6, [&ends](const ProgramEnd& end) { ends.push_back(end.status); });
  EXPECT_EQ(ends.size(), 1u) << "not before on_end() has returned";
  agent.client->kill(6);
  co_await note(agent.client->link_packages(1), words);
  EXPECT_EQ(words, "unavailable");
  co_await settle_down();
  EXPECT_THAT(ends, testing::ElementsAre(SIGKILL, SIGKILL));
}

TEST(AgentClient, EndsEverythingWhenTheAgentIsGone) {
  run(lose_agent());
}

Reply reply_of(ReplyType type, uint32_t serial, uint64_t program = 0) {
  Reply reply{};
  reply.type = type;
  reply.serial = serial;
  reply.program = program;
  return reply;
}

// Asks for a socket and gets this instead.
Task<std::string> answer_with(Reply reply, Fd fd) {
  const auto executor = co_await asio::this_coro::executor;
  Played agent{executor};
  TaskGroup group{executor};
  std::string words;
  Fd result;
  group.spawn("socket", note(take_socket(*agent.client, result), words));
  agent.request();
  const int fds[] = {fd.get()};
  agent.say(reply, std::span{fds}.first(fd ? 1 : 0));
  co_await group.finish();
  EXPECT_EQ(agent.client->alive(), words.empty());
  EXPECT_EQ(static_cast<bool>(result), words.empty());
  const int flags = result ? ::fcntl(result.get(), F_GETFL) : O_NONBLOCK;
  EXPECT_NE(flags & O_NONBLOCK, 0);
  co_return words;
}

TEST(AgentClient, TakesNothingButWhatItHasAskedFor) {
  const Fd server = listening_socket();
  const auto tcp = [&server] { return connected_socket(server); };
  const auto udp = [] { return Fd{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)}; };
  const Reply done = reply_of(ReplyType::done, 1);
  EXPECT_EQ(run(answer_with(done, tcp())), "");
  EXPECT_EQ(run(answer_with(done, listening_socket())), "unavailable");
  EXPECT_EQ(run(answer_with(done, udp())), "unavailable");
  EXPECT_EQ(run(answer_with(done, make_memory_file("file", ""))), "unavailable");
  EXPECT_EQ(run(answer_with(done, Fd{})), "unavailable");
  EXPECT_EQ(run(answer_with(reply_of(ReplyType::done, 2), tcp())), "unavailable");
  EXPECT_EQ(run(answer_with(reply_of(ReplyType::ended, 0, 9), Fd{})), "unavailable");
  EXPECT_EQ(run(answer_with(reply_of(ReplyType{9}, 1), Fd{})), "unavailable");
}

// Starts a program with the number 1, which the agent says has begun.
Task<> begin(Played& agent, const Fd& stream) {
  TaskGroup group{co_await asio::this_coro::executor};
  std::string words;
  group.spawn("start", note(start_one(*agent.client, 1, stream.get()), words));
  agent.say(ReplyType::done, agent.request().serial);
  co_await group.finish();
  EXPECT_EQ(words, "");
}

Task<> end_once() {
  Played agent{co_await asio::this_coro::executor};
  const Fd stream = make_memory_file("stream", "");
  co_await begin(agent, stream);
  EXPECT_EQ(agent.fds.size(), 4u);
  agent.say_ended(1, 3 << 8);
  co_await settle_down();
  int status = 0;
  agent.client->on_end(1, [&status](const ProgramEnd& end) { status = end.status; });
  EXPECT_EQ(status, 0);
  co_await settle_down();
  EXPECT_EQ(status, 3 << 8) << "it had ended before";
  agent.say_ended(1, 0);
  co_await settle_down();
  EXPECT_FALSE(agent.client->alive()) << "nobody ends twice";
}

TEST(AgentClient, TellsTheEndOfAProgramOnce) {
  run(end_once());
}

Task<> forget_one() {
  Played agent{co_await asio::this_coro::executor};
  const Fd stream = make_memory_file("stream", "");
  bool is_told = false;
  agent.client->on_end(1, [&is_told](const ProgramEnd&) { is_told = true; });
  co_await begin(agent, stream);
  agent.client->forget(1);
  agent.client->kill(1);
  EXPECT_EQ(agent.request().type, RequestType::kill);
  agent.say_ended(1, SIGKILL);
  co_await settle_down();
  EXPECT_FALSE(is_told);
  EXPECT_TRUE(agent.client->alive()) << "its end was to be expected";
}

TEST(AgentClient, ForgetsAProgramThatItHasKilled) {
  run(forget_one());
}

Task<> destroy_in_handler() {
  Played agent{co_await asio::this_coro::executor};
  const Fd stream = make_memory_file("stream", "");
  agent.client->on_end(1, [&agent](const ProgramEnd&) { agent.client.reset(); });
  co_await begin(agent, stream);
  agent.say_ended(1, 0);
  co_await settle_down();
  EXPECT_EQ(agent.client, nullptr);
}

TEST(AgentClient, MayBeDestroyedByWhomItTellsSomething) {
  run(destroy_in_handler());
}

Task<> destroy_while_waiting() {
  const auto executor = co_await asio::this_coro::executor;
  Played agent{executor};
  TaskGroup group{executor};
  std::string words;
  group.spawn("link", note(agent.client->link_packages(1), words));
  agent.client.reset();
  co_await group.finish();
  EXPECT_EQ(words, "unavailable");
}

TEST(AgentClient, AnswersWhoWaitsWhenItIsDestroyed) {
  run(destroy_while_waiting());
}

Task<> read_late() {
  const auto executor = co_await asio::this_coro::executor;
  Played agent{executor};
  TaskGroup group{executor};
  const Fd stream = make_memory_file("stream", "");
  constexpr uint64_t kMany = 700;  // several times what the kernel keeps
  for (uint64_t i = 0; i < kMany; ++i) agent.client->kill(i);
  std::string words;
  group.spawn("start", note(start_one(*agent.client, kMany, stream.get()), words));
  for (uint64_t i = 0; i < kMany; ++i) {
    EXPECT_EQ(agent.request().program, i);
    co_await settle_down();
  }
  const Request last = agent.request();
  EXPECT_EQ(last.program, kMany);
  EXPECT_EQ(agent.fds.size(), 4u);
  agent.say(ReplyType::done, last.serial);
  co_await group.finish();
  EXPECT_EQ(words, "");
}

TEST(AgentClient, KeepsWhatTheAgentDoesNotReadYet) {
  run(read_late());
}

Task<> never_read() {
  Played agent{co_await asio::this_coro::executor};
  for (uint64_t i = 0; i < 5000; ++i) agent.client->kill(i);
  co_await settle_down();
  EXPECT_FALSE(agent.client->alive());
  EXPECT_EQ(agent.closings, 1);
}

TEST(AgentClient, GivesUpAnAgentThatNeverReads) {
  run(never_read());
}

Task<> open_pipes() {
  Played agent{co_await asio::this_coro::executor};
  const Pipe pipe = make_pipe();
  co_await begin(agent, pipe.write);
  struct stat info {};
  sys(::fstat(pipe.write.get(), &info), "look at the pipe");
  EXPECT_EQ(info.st_mode & 0777, 0666u);
}

TEST(AgentClient, LetsProgramsOpenTheirPipes) {
  run(open_pipes());
}

}  // namespace
}  // namespace belljar::docker
