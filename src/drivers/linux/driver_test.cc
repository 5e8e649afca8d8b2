#include "drivers/linux/driver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <thread>

#include "base/testing.h"

namespace belljar::linux_driver {
namespace {

using launcher::Reply;
using launcher::ReplyType;
using launcher::Request;
using launcher::RequestType;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// A launcher that makes no sandbox, because of `step`.
void refuse_sandboxes(const Fd& socket, const char* step, int error) {
  Request request{};
  while (::recv(socket.get(), &request, sizeof request, 0) == sizeof request) {
    if (request.serial == 0) continue;  // wants no answer
    const bool fails = request.type == RequestType::create;
    Reply reply{};
    reply.type = fails ? ReplyType::failed : ReplyType::done;
    reply.serial = request.serial;
    if (fails) reply.error = error;
    if (fails) std::strncpy(reply.step, step, sizeof reply.step - 1);
    if (::send(socket.get(), &reply, sizeof reply, MSG_NOSIGNAL) < 0) return;
  }
}

struct Refusal {
  Code code = Code::internal;
  std::string text;
};

Task<Refusal> create_one(Fd socket) {
  Fd self{static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0))};
  LauncherProcess process{std::move(socket), std::move(self)};
  LinuxDriver driver{co_await asio::this_coro::executor, std::move(process)};
  SandboxSpec spec;
  Refusal refusal;
  try {
    co_await driver.create(std::move(spec));
  } catch (const Error& e) {
    refusal = {e.code(), e.what()};
  }
  co_return refusal;
}

Refusal refusal_of(const char* step, int error) {
  int ends[2];
  sys(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), "make a pair of sockets");
  Fd ours{ends[0]};
  const Fd theirs{ends[1]};
  std::thread launcher{[&theirs, step, error] { refuse_sandboxes(theirs, step, error); }};
  Refusal refusal = run(create_one(std::move(ours)));
  launcher.join();
  return refusal;
}

TEST(LinuxDriver, WhoHasAsManySandboxesAsItsIdsAllowIsToldWhatToDo) {
  const Refusal refusal = refusal_of(launcher::kTakeIdsStep, EUSERS);
  EXPECT_EQ(refusal.code, Code::exhausted);
  EXPECT_THAT(refusal.text, AllOf(HasSubstr("2047"), HasSubstr("stop one"),
                                  HasSubstr("max-sandboxes"), Not(HasSubstr("To fix it"))));
}

TEST(LinuxDriver, AnotherFailureNamesItsStep) {
  const Refusal refusal = refusal_of("stir the soup", ENOMEM);
  EXPECT_EQ(refusal.code, Code::exhausted);
  EXPECT_EQ(refusal.text, "create a sandbox: stir the soup: Cannot allocate memory");
}

}  // namespace
}  // namespace belljar::linux_driver
