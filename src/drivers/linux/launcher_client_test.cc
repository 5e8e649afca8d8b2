#include "drivers/linux/launcher_client.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <thread>

#include "base/task_group.h"
#include "base/testing.h"

namespace belljar::linux_driver {
namespace {

using launcher::Reply;
using launcher::ReplyType;
using launcher::Request;
using launcher::RequestType;

// Answers every request, and waits where belljar does not read the answers, as the launcher does.
void answer_all(const Fd& socket) {
  Request request{};
  while (::recv(socket.get(), &request, sizeof request, 0) == sizeof request) {
    Reply reply{};
    reply.type = ReplyType::done;
    reply.serial = request.serial;
    reply.sandbox = request.sandbox;
    if (::send(socket.get(), &reply, sizeof reply, MSG_NOSIGNAL) < 0) return;
  }
}

Task<> ask_once(LauncherClient& client, uint64_t sandbox, size_t& right) {
  Request request{};
  request.type = RequestType::destroy;
  request.sandbox = sandbox;
  std::vector<int> no_fds;
  const auto answer = co_await client.ask(request, std::string{}, std::move(no_fds), "ask");
  if (answer.reply.sandbox == sandbox) ++right;
}

// Many times what the kernel keeps in either direction.
constexpr size_t kMany = 3000;

Task<size_t> ask_many(Fd socket) {
  const auto executor = co_await asio::this_coro::executor;
  Fd self{static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0))};
  LauncherProcess process{std::move(socket), std::move(self)};
  LauncherClient client{executor, std::move(process)};
  TaskGroup group{executor};
  size_t right = 0;
  for (uint64_t i = 0; i < kMany; ++i) group.spawn("ask", ask_once(client, i, right));
  co_await group.finish();
  co_return right;
}

TEST(LauncherClient, ReadsAnswersWhileItsRequestsHaveToWait) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
  Fd ours{ends[0]};
  const Fd theirs{ends[1]};
  std::thread launcher{[&theirs] { answer_all(theirs); }};
  EXPECT_EQ(run(ask_many(std::move(ours))), kMany);
  launcher.join();
}

}  // namespace
}  // namespace belljar::linux_driver
