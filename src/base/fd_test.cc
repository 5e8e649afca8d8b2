#include "base/fd.h"

#include <fcntl.h>
#include <gtest/gtest.h>

namespace belljar {
namespace {

bool is_open(int fd) {
  return ::fcntl(fd, F_GETFD) != -1;
}

TEST(Fd, ClosesWhatItOwns) {
  int number = -1;
  {
    const Fd fd{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
    number = fd.get();
    ASSERT_TRUE(is_open(number));
  }
  EXPECT_FALSE(is_open(number));
}

TEST(Fd, MovingTransfersOwnership) {
  Fd first{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
  const int number = first.get();
  Fd second{std::move(first)};
  EXPECT_FALSE(first);  // NOLINT(bugprone-use-after-move): that is what is tested
  EXPECT_EQ(second.get(), number);
  second = Fd{};
  EXPECT_FALSE(is_open(number));
}

TEST(Fd, ReleaseGivesTheDescriptorAway) {
  Fd fd{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
  const int number = fd.release();
  EXPECT_FALSE(fd);
  EXPECT_TRUE(is_open(number));
  ::close(number);
}

}  // namespace
}  // namespace belljar
