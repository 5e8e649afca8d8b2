// What an agent does, asked of a real one.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <csignal>
#include <filesystem>

#include "base/testing.h"
#include "drivers/docker/agent_under_test.h"
#include "net/http_listener.h"

namespace belljar::docker {
namespace {

namespace fs = std::filesystem;
using Place = AgentUnderTest::Place;
using testing::HasSubstr;

// Runs `test` with a client of an agent at each place.
class AgentPrograms : public testing::TestWithParam<Place> {
 protected:
  using Test = Task<>(AgentUnderTest&, AgentClient&);

  void with_agent(Test* test) {
    AgentUnderTest subject{GetParam()};
    bool is_there = false;
    run(run_test(subject, test, is_there));
    if (!is_there) GTEST_SKIP() << "this host lets nobody make a namespace of processes";
    EXPECT_EQ(subject.wait(), 0) << "it ends with its connection";
  }

 private:
  static Task<> run_test(AgentUnderTest& subject, Test* test, bool& is_there) {
    const auto client = co_await subject.connect();
    is_there = client != nullptr;
    if (!is_there) co_return;
    const bool in_time = co_await with_timeout(std::chrono::seconds{60}, test(subject, *client));
    EXPECT_TRUE(in_time) << "what it waits for does not come";
    subject.disconnect();
  }
};

std::string name_of(const testing::TestParamInfo<Place>& each) {
  if (each.param == Place::carried) return "carried";
  return each.param == Place::here ? "here" : "container";
}

INSTANTIATE_TEST_SUITE_P(Places, AgentPrograms,
                         testing::Values(Place::here, Place::container, Place::carried), name_of);

Task<> introduce(AgentUnderTest& subject, AgentClient& client) {
  AgentHello& hello = client.hello();
  EXPECT_EQ(hello.node, subject.node());
  if (hello.way == Way::shared) {
    EXPECT_GT(hello.pid, 1);
  }
  struct stat there {};
  struct stat files {};
  struct stat workspace {};
  ::fstat(hello.workspace.get(), &there);
  ::stat(subject.workspace().c_str(), &workspace);
  ::stat((subject.workspace() + "/files").c_str(), &files);
  EXPECT_EQ(there.st_ino, workspace.st_ino);
  EXPECT_EQ(hello.files_inode, files.st_ino);
  EXPECT_EQ(hello.files_device, files.st_dev);
  EXPECT_FALSE(fs::exists(subject.host() + "/" + agent::kSocketName));
  co_return;
}

TEST_P(AgentPrograms, BeginWithAnIntroduction) {
  with_agent(introduce);
}

Task<> show_surroundings(AgentUnderTest& subject, AgentClient& client) {
  Command command;
  command.argv = {"/bin/sh", "/proc/self/cwd/program.sh", "argument"};
  command.env = {{"COLOUR", "blue"}};
  // ls has a fourth descriptor, for the directory.
  const std::string text =
      "pwd -P; echo $1 $COLOUR $HOME; ls /proc/self/fd | wc -l; ulimit -c; umask;"
      "ps -o sid= $$ | grep -cw $$; trap | wc -l; cat /proc/self/oom_score_adj; grep SigBlk "
      "/proc/self/status; echo up >&2;"
      "echo more >/dev/stdout";
  command.source = SourceFile{subject.workspace() + "/program.sh", text};
  const auto program = co_await TestProgram::start(client, 1, std::move(command));
  const ProgramEnd end = co_await program->wait();
  EXPECT_EQ(end.status, 0);
  EXPECT_FALSE(end.out_of_memory);
  EXPECT_GT(end.max_rss, 100u << 10);
  std::string said = co_await program->rest();
  const size_t errors = said.find("up\n");  // which, if they are carried, may come at any time
  EXPECT_NE(errors, said.npos) << said;
  if (errors != said.npos) said.erase(errors, 3);
  EXPECT_EQ(said, subject.workspace() +
                      "\nargument blue\n4\n0\n0022\n1\n0\n900\n"
                      "SigBlk:\t0000000000000000\nmore\n");
}

TEST_P(AgentPrograms, HaveWhatTheyWereGivenAndNothingElse) {
  with_agent(show_surroundings);
}

Task<> end_differently(AgentUnderTest&, AgentClient& client) {
  const auto exits = co_await TestProgram::start(client, 1, std::string{"exit 3"});
  const auto crashes = co_await TestProgram::start(client, 2, std::string{"kill -SEGV $$"});
  const ProgramEnd exited = co_await exits->wait();
  const ProgramEnd crashed = co_await crashes->wait();
  EXPECT_EQ(exited.status, 3 << 8);
  EXPECT_EQ(crashed.status & 0x7f, SIGSEGV);
}

TEST_P(AgentPrograms, EndAsTheyDo) {
  with_agent(end_differently);
}

Task<std::string> refusal_of(AgentClient& client, uint64_t number, Command command) {
  try {
    co_await TestProgram::start(client, number, std::move(command));
  } catch (const Error& e) {
    co_return e.code() == Code::not_found ? e.what() : "another error";
  }
  co_return "";
}

Task<> start_nothing(AgentUnderTest&, AgentClient& client) {
  Command command;
  command.argv = {"/nowhere/program"};
  std::string words = co_await refusal_of(client, 1, command);
  EXPECT_EQ(words, "start /nowhere/program: execute: No such file or directory");
  command.argv = {"/bin/true"};
  command.source = SourceFile{"/nowhere/source.js", ""};
  words = co_await refusal_of(client, 2, command);
  EXPECT_THAT(words, HasSubstr("write the source file"));
  const auto next = co_await TestProgram::start(client, 3, std::string{"echo fine"});
  EXPECT_EQ(co_await next->read_line(), "fine");
}

TEST_P(AgentPrograms, ThatCannotBeExecutedAreErrors) {
  with_agent(start_nothing);
}

Task<> start_node(AgentUnderTest&, AgentClient& client) {
  Command command;
  command.argv = {agent::kNode, "an argument"};
  const auto program = co_await TestProgram::start(client, 1, std::move(command));
  EXPECT_EQ(co_await program->rest(), "I am node, an argument\n");
}

TEST_P(AgentPrograms, AreRunByTheNodeThatTheImageHas) {
  if (fs::exists(agent::kNode)) GTEST_SKIP() << "this host has " << agent::kNode;
  with_agent(start_node);
}

Task<> replace_source(AgentUnderTest& subject, AgentClient& client) {
  const std::string path = subject.workspace() + "/program.sh";
  const std::string make = "rm -f " + path + "; mkfifo " + path;
  const auto first = co_await TestProgram::start(client, 1, make);
  co_await first->wait();
  EXPECT_TRUE(fs::is_fifo(path));
  Command command;
  command.argv = {"/bin/sh", path};
  command.source = SourceFile{path, "echo replaced"};
  const auto second = co_await TestProgram::start(client, 2, std::move(command));
  EXPECT_EQ(co_await second->rest(), "replaced\n");
}

TEST_P(AgentPrograms, AreWrittenInPlaceOfWhateverIsThere) {
  with_agent(replace_source);
}

// Each has its own session, and the one between has ended: nothing leads from the program to it.
constexpr const char* kDaemon = "setsid sh -c 'setsid sleep 1000 & echo $!' & wait; echo gone";

Task<> leave_daemon(AgentUnderTest&, AgentClient& client) {
  const auto program = co_await TestProgram::start(client, 1, std::string{kDaemon});
  const std::string daemon = co_await program->read_line();
  EXPECT_EQ(co_await program->read_line(), "gone");
  const ProgramEnd end = co_await program->wait();
  EXPECT_EQ(end.status, 0);
  const auto other = co_await TestProgram::start(client, 2, "kill -0 " + daemon + "; echo $?");
  EXPECT_EQ(co_await other->read_line(), "0") << "it lives on";
  client.kill(1);
  EXPECT_EQ(co_await program->rest(), "");
}

TEST_P(AgentPrograms, LeaveDaemonsUntilTheyAreKilled) {
  with_agent(leave_daemon);
}

Task<> kill_tree(AgentUnderTest&, AgentClient& client) {
  const std::string script =
      "trap '' TERM INT HUP; (setsid sh -c \"trap '' TERM; sleep 1000; sleep 1000\" &);"
      "(sleep 1000 & sleep 1000) & echo up; sleep 1000; sleep 1000";
  const auto other = co_await TestProgram::start(client, 2, std::string{"echo up; sleep 1000"});
  const auto program = co_await TestProgram::start(client, 1, script);
  EXPECT_EQ(co_await program->read_line(), "up");
  EXPECT_EQ(co_await other->read_line(), "up");
  client.kill(1);
  const ProgramEnd end = co_await program->wait();
  EXPECT_EQ(end.status, SIGKILL);
  EXPECT_EQ(co_await program->rest(), "");
  client.kill(2);
  const ProgramEnd second = co_await other->wait();
  EXPECT_EQ(second.status, SIGKILL) << "the first kill was not for this one";
}

TEST_P(AgentPrograms, AreKilledWithAllTheyStarted) {
  with_agent(kill_tree);
}

Task<> kill_at_once(AgentUnderTest&, AgentClient& client) {
  for (uint64_t number = 1; number <= 20; ++number) {
    const auto program =
        co_await TestProgram::start(client, number, std::string{"sleep 1000 & sleep 1000"});
    client.kill(number);
    const ProgramEnd end = co_await program->wait();
    EXPECT_EQ(end.status, SIGKILL);
    EXPECT_EQ(co_await program->rest(), "");
  }
}

TEST_P(AgentPrograms, AreKilledWhileTheyStart) {
  with_agent(kill_at_once);
}

// With programs of this number and the next two.
Task<> attack_supervisor(AgentClient& client, uint64_t number, std::string signal) {
  const std::string waits = "echo up; sleep 1000";
  const auto other = co_await TestProgram::start(client, number, waits);
  EXPECT_EQ(co_await other->read_line(), "up");
  const std::string script = "setsid sleep 1000 & kill -" + signal + " $PPID; sleep 1000";
  const auto program = co_await TestProgram::start(client, number + 1, script);
  const ProgramEnd end = co_await program->wait();
  EXPECT_EQ(end.status, SIGKILL);
  EXPECT_EQ(co_await program->rest(), "") << "what it left is gone, too";
  const auto looks = co_await TestProgram::start(client, number + 2, std::string{"echo fine"});
  EXPECT_EQ(co_await looks->read_line(), "fine");
  const auto still = co_await with_timeout(milliseconds{0}, other->wait());
  EXPECT_FALSE(still) << "the other one lives";
  client.kill(number);
  EXPECT_EQ(co_await other->rest(), "");
}

Task<> attack_supervisors(AgentUnderTest&, AgentClient& client) {
  co_await attack_supervisor(client, 10, std::string{"KILL"});
  co_await attack_supervisor(client, 20, std::string{"STOP"});
}

TEST_P(AgentPrograms, EndWithTheSupervisorThatTheyKill) {
  with_agent(attack_supervisors);
}

Task<> connect_inside(AgentUnderTest&, AgentClient& client) {
  const Fd server = co_await client.listen();
  const Fd socket = co_await client.connect(net::listening_port(server.get()));
  const int copy = sys(::fcntl(server.get(), F_DUPFD_CLOEXEC, 0), "copy");
  asio::posix::stream_descriptor ready{co_await asio::this_coro::executor, copy};
  co_await ready.async_wait(asio::posix::stream_descriptor::wait_read, asio::use_awaitable);
  const Fd accepted{::accept4(server.get(), nullptr, nullptr, SOCK_CLOEXEC)};
  EXPECT_TRUE(accepted);
  std::string refusal;
  try {
    co_await client.connect(1);
  } catch (const Error& e) {
    refusal = e.what();
  }
  EXPECT_EQ(refusal, "nothing accepts connections on port 1 of the sandbox");
}

TEST_P(AgentPrograms, ShareANetworkWithSocketsOfOurs) {
  with_agent(connect_inside);
}

Task<Code> link_error(AgentClient& client, uint32_t number) {
  try {
    co_await client.link_packages(number);
  } catch (const Error& e) {
    co_return e.code();
  }
  co_return Code::cancelled;  // there is none
}

Task<> link_packages(AgentUnderTest& subject, AgentClient& client) {
  const fs::path place = subject.workspace() + "/node_modules";
  const std::string packages = subject.host() + "/packages/";
  co_await client.link_packages(1);
  EXPECT_EQ(fs::read_symlink(place), packages + "1/node_modules");
  co_await client.link_packages(2);
  EXPECT_EQ(fs::read_symlink(place), packages + "2/node_modules");
  fs::remove(place);
  const auto makes = co_await TestProgram::start(client, 1, "mkdir " + place.string());
  co_await makes->wait();
  co_await client.link_packages(3);
  EXPECT_EQ(fs::read_symlink(place), packages + "3/node_modules") << "it was empty";
  uint64_t number = 1;
  const char* const ways[] = {"touch ", "mkfifo ", "ln -s /etc ", "mkdir -p "};
  for (const char* make : ways) {
    fs::remove_all(place);
    const bool is_directory = std::string_view{make}.starts_with("mkdir");
    const std::string what = make + place.string() + (is_directory ? "/package" : "");
    const auto program = co_await TestProgram::start(client, ++number, what);
    co_await program->wait();
    const Code code = co_await link_error(client, 4);
    EXPECT_EQ(code, Code::invalid) << what;
    EXPECT_TRUE(fs::exists(fs::symlink_status(place))) << "it is left as it was";
  }
}

TEST_P(AgentPrograms, FindPackagesUnlessSomethingElseIsThere) {
  with_agent(link_packages);
}

// Only what a container has.
class AgentInContainer : public AgentPrograms {};
INSTANTIATE_TEST_SUITE_P(Places, AgentInContainer, testing::Values(Place::container));

Task<> attack_agent(AgentUnderTest&, AgentClient& client) {
  const std::string script =
      "kill -KILL 1; kill -STOP 1; kill -TERM 1; kill -SEGV 1; kill -CHLD 1; echo done;"
      "[ $(cat /proc/1/oom_score_adj) -lt 900 ] && echo not first to go";
  const auto attacks = co_await TestProgram::start(client, 1, script);
  EXPECT_EQ(co_await attacks->rest(), "done\nnot first to go\n");
  const auto next = co_await TestProgram::start(client, 2, std::string{"echo fine"});
  EXPECT_EQ(co_await next->read_line(), "fine");
}

TEST_P(AgentInContainer, CannotBeKilled) {
  with_agent(attack_agent);
}

Task<> look_into_agent(AgentUnderTest&, AgentClient& client) {
  const std::string script =
      "for p in 1 $PPID; do for f in environ mem maps; do cat /proc/$p/$f >/dev/null 2>&1 && "
      "echo $f; done; ls /proc/$p/fd/ >/dev/null 2>&1 && echo fd; done; echo done";
  const auto looks = co_await TestProgram::start(client, 1, script);
  EXPECT_EQ(co_await looks->rest(), "done\n");
}

TEST_P(AgentInContainer, CannotBeLookedInto) {
  if (::geteuid() != 0) GTEST_SKIP() << "here, programs have the rights of root in their namespace";
  with_agent(look_into_agent);
}

// Each lives only until it has started the next.
Task<> kill_hopping(AgentUnderTest& subject, AgentClient& client) {
  const std::string path = subject.workspace() + "/hop.sh";
  Command command;
  command.argv = {"/bin/sh", path};
  command.env = {{"PATH", "/usr/bin:/bin"}};
  command.source = SourceFile{path, "echo hop; sh " + path + " & exit"};
  const auto program = co_await TestProgram::start(client, 1, std::move(command));
  EXPECT_EQ(co_await program->read_line(), "hop");
  EXPECT_EQ(co_await program->read_line(), "hop");
  client.kill(1);
  co_await program->rest();
  const auto next = co_await TestProgram::start(client, 2, std::string{"echo fine"});
  EXPECT_EQ(co_await next->read_line(), "fine");
}

TEST_P(AgentInContainer, KillsWhatNeverStaysTheSame) {
  with_agent(kill_hopping);
}

Task<> leave_programs(AgentUnderTest&, AgentClient& client) {
  const auto program = co_await TestProgram::start(client, 1, std::string{kDaemon});
  EXPECT_NE(co_await program->read_line(), "");
  EXPECT_EQ(co_await program->read_line(), "gone");
}

TEST_P(AgentInContainer, EndsWithItsConnectionWhateverStillRuns) {
  with_agent(leave_programs);
}

Task<> kill_unseen(AgentUnderTest&, AgentClient& client) {
  const auto first = co_await TestProgram::start(client, 1, std::string{"echo up; sleep 1000"});
  const auto second = co_await TestProgram::start(client, 2, std::string{"echo up; sleep 1000"});
  EXPECT_EQ(co_await first->read_line(), "up");
  EXPECT_EQ(co_await second->read_line(), "up");
  client.kill(1);
  TestProgram* const programs[] = {first.get(), second.get()};
  for (TestProgram* program : programs) {
    const ProgramEnd end = co_await program->wait();
    EXPECT_EQ(end.status, SIGKILL);
    EXPECT_EQ(co_await program->rest(), "");
  }
  const auto next = co_await TestProgram::start(client, 3, std::string{"echo fine"});
  EXPECT_EQ(co_await next->read_line(), "fine");
}

class BlindAgent : public AgentPrograms {};
INSTANTIATE_TEST_SUITE_P(Places, BlindAgent, testing::Values(Place::blind));

TEST_P(BlindAgent, KillsEverythingRatherThanNothing) {
  with_agent(kill_unseen);
}

TEST(Agent, EndsAtOnceWithoutAnybodyToSpeakTo) {
  AgentUnderTest subject{Place::here};
  subject.spawn();
  EXPECT_EQ(subject.wait(), agent::kNotConnected << 8);
}

}  // namespace
}  // namespace belljar::docker
