#include "drivers/linux/launcher_socket.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cstring>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/posix.h"

namespace belljar::linux_driver {
namespace {

using launcher::Reply;
using launcher::Request;
using launcher::RequestType;

int lowest_free_descriptor() {
  return Fd{sys(::open("/dev/null", O_RDONLY | O_CLOEXEC), "open /dev/null")}.get();
}

// A request with a payload that makes it as long as a reply is received as one: both begin alike.
static_assert(sizeof(Reply) > sizeof(Request));
const std::string kRest(sizeof(Reply) - sizeof(Request), 'x');

class LauncherSocket : public testing::Test {
 protected:
  LauncherSocket() {
    int ends[2];
    sys(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), "a pair");
    ours_.reset(ends[0]);
    theirs_.reset(ends[1]);
  }

  // Has the launcher answer with that many descriptors.
  void answer(uint32_t serial, size_t count) const {
    const Fd file = make_memory_file("file", "x");
    const std::vector<int> fds(count, file.get());
    Request request{};
    request.serial = serial;
    ASSERT_EQ(send_request(theirs_.get(), request, kRest, fds), Sent::yes);
  }

  Fd ours_;
  Fd theirs_;
  Reply reply_{};
};

TEST_F(LauncherSocket, SendsARequestWithAllThatBelongsToIt) {
  const Fd file = make_memory_file("file", "x");
  const std::vector<int> fds(launcher::kMaxFds + 1, file.get());
  Request request{};
  request.type = RequestType::start;
  request.serial = 7;
  EXPECT_EQ(send_request(ours_.get(), request, kRest, fds), Sent::ended) << "too many descriptors";
  const auto most = std::span{fds}.first(launcher::kMaxFds);
  ASSERT_EQ(send_request(ours_.get(), request, kRest, most), Sent::yes);
  Fd received[launcher::kMaxFds];
  ASSERT_EQ(receive_reply(theirs_.get(), reply_, received), Received::reply);
  EXPECT_EQ(std::memcmp(&reply_, &request, sizeof request), 0);
  const char* rest = reinterpret_cast<const char*>(&reply_) + sizeof request;
  EXPECT_EQ(std::string(rest, kRest.size()), kRest);
  for (const Fd& fd : received) EXPECT_TRUE(fd);
}

TEST_F(LauncherSocket, ReceivesAsManyDescriptorsAsThereArePlacesFor) {
  answer(1, 0);
  answer(2, 1);
  answer(3, 2);
  Fd fds[2];
  ASSERT_EQ(receive_reply(ours_.get(), reply_, fds), Received::reply);
  EXPECT_EQ(reply_.serial, 1u);
  EXPECT_FALSE(fds[0]);
  ASSERT_EQ(receive_reply(ours_.get(), reply_, fds), Received::reply);
  EXPECT_TRUE(fds[0]);
  EXPECT_FALSE(fds[1]);
  ASSERT_EQ(receive_reply(ours_.get(), reply_, fds), Received::reply);
  EXPECT_EQ(reply_.serial, 3u);
  EXPECT_TRUE(fds[1]);
}

TEST_F(LauncherSocket, ClosesDescriptorsThatNobodyWants) {
  answer(1, 3);
  const int free = lowest_free_descriptor();
  ASSERT_EQ(receive_reply(ours_.get(), reply_, {}), Received::reply);
  EXPECT_EQ(lowest_free_descriptor(), free);
}

TEST_F(LauncherSocket, TellsNotNowFromTheEnd) {
  EXPECT_EQ(receive_reply(ours_.get(), reply_, {}), Received::nothing);
  ASSERT_EQ(send_request(theirs_.get(), Request{}, "", {}), Sent::yes);
  EXPECT_EQ(receive_reply(ours_.get(), reply_, {}), Received::ended) << "that is no reply";
  while (send_request(ours_.get(), Request{}, "", {}) == Sent::yes) {
  }
  EXPECT_EQ(send_request(ours_.get(), Request{}, "", {}), Sent::full);
  theirs_.reset();
  EXPECT_EQ(receive_reply(ours_.get(), reply_, {}), Received::ended);
  EXPECT_EQ(send_request(ours_.get(), Request{}, "", {}), Sent::ended);
}

}  // namespace
}  // namespace belljar::linux_driver
