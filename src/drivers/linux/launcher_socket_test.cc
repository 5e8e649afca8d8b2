#include "drivers/linux/launcher_socket.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "base/posix.h"
#include "drivers/linux/launcher/message.h"

namespace belljar::linux_driver {
namespace {

using launcher::Reply;
using launcher::Request;
using launcher::RequestType;

int lowest_free_descriptor() {
  return Fd{sys(::open("/dev/null", O_RDONLY | O_CLOEXEC), "open /dev/null")}.get();
}

class LauncherSocket : public testing::Test {
 protected:
  LauncherSocket() {
    int ends[2];
    sys(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), "a pair");
    ours_.reset(ends[0]);
    theirs_.reset(ends[1]);
  }

  // Has the launcher answer with that many descriptors. A request that is padded to the size of a
  // reply begins like one.
  void answer(uint32_t serial, size_t count) const {
    static_assert(sizeof(Reply) > sizeof(Request));
    const Fd file = make_memory_file("file", "x");
    const std::vector<int> fds(count, file.get());
    Request request{};
    request.serial = serial;
    const std::string rest(sizeof(Reply) - sizeof(Request), '\0');
    ASSERT_TRUE(send_request(theirs_.get(), request, rest, fds));
  }

  Fd ours_;
  Fd theirs_;
  Reply reply_{};
};

TEST_F(LauncherSocket, SendsARequestWithAllThatBelongsToIt) {
  const Fd file = make_memory_file("file", "x");
  const int fds[] = {file.get(), ours_.get(), file.get(), file.get(), file.get()};
  Request request{};
  request.type = RequestType::start;
  request.serial = 7;
  ASSERT_TRUE(send_request(ours_.get(), request, "text", std::span{fds}.first(4)));
  ASSERT_TRUE(send_request(ours_.get(), request, "", {}));
  EXPECT_FALSE(send_request(ours_.get(), request, "", fds)) << "no message has five descriptors";
  launcher::Message whole;
  ASSERT_TRUE(launcher::receive(theirs_.get(), whole));
  EXPECT_EQ(whole.request.type, RequestType::start);
  EXPECT_EQ(whole.request.serial, 7u);
  EXPECT_EQ(whole.payload, "text");
  EXPECT_EQ(whole.fds.size(), 4u);
  launcher::Message bare;
  ASSERT_TRUE(launcher::receive(theirs_.get(), bare));
  EXPECT_EQ(bare.request.serial, 7u);
  EXPECT_TRUE(bare.payload.empty());
  EXPECT_TRUE(bare.fds.empty());
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

TEST_F(LauncherSocket, TellsNothingYetFromTheEnd) {
  EXPECT_EQ(receive_reply(ours_.get(), reply_, {}), Received::nothing);
  ASSERT_TRUE(send_request(theirs_.get(), Request{}, "", {}));
  EXPECT_EQ(receive_reply(ours_.get(), reply_, {}), Received::ended) << "that is no reply";
  theirs_.reset();
  EXPECT_EQ(receive_reply(ours_.get(), reply_, {}), Received::ended);
  EXPECT_FALSE(send_request(ours_.get(), Request{}, "", {}));
}

}  // namespace
}  // namespace belljar::linux_driver
