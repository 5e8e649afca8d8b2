#include "drivers/linux/launcher/slot.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

namespace belljar::launcher {
namespace {

// Two launchers' slots that share one file, as those of one user do.
struct SlotLoadTest : testing::Test {
  SlotLoadTest() {
    first.number = 0;
    second.number = 1;
    first.load.reset(::memfd_create("load", MFD_CLOEXEC));
    second.load.reset(::fcntl(first.load.get(), F_DUPFD_CLOEXEC, 0));
  }
  Slot first;
  Slot second;
};

TEST_F(SlotLoadTest, CountsWhatOthersSayOnTopOfOnesOwn) {
  publish_load(first, {1, 0, 2});
  publish_load(second, {5, 5, 5});
  std::vector<unsigned> programs{0, 7, 1, 3};
  add_load_of_others(second, programs);
  EXPECT_EQ(programs, (std::vector<unsigned>{1, 7, 3, 3}));
}

TEST_F(SlotLoadTest, ForgetsWhoeverPublishedNothingAnyMore) {
  publish_load(first, {4, 4});
  publish_load(second, {});
  publish_load(first, {});
  std::vector<unsigned> programs{0, 0};
  add_load_of_others(second, programs);
  EXPECT_EQ(programs, (std::vector<unsigned>{0, 0}));
}

TEST_F(SlotLoadTest, CountsOnlyItsOwnWithoutTheFile) {
  first.load.reset();
  publish_load(first, {9});
  std::vector<unsigned> programs{2};
  add_load_of_others(first, programs);
  EXPECT_EQ(programs, (std::vector<unsigned>{2}));
}

TEST_F(SlotLoadTest, TakesMoreThanAByteCanCountAsMany) {
  publish_load(first, {1000});
  std::vector<unsigned> programs{0};
  add_load_of_others(second, programs);
  EXPECT_EQ(programs, (std::vector<unsigned>{255}));
}

}  // namespace
}  // namespace belljar::launcher
