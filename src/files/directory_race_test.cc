#include <gtest/gtest.h>
#include <linux/fs.h>
#include <sys/syscall.h>

#include <atomic>
#include <thread>

#include "files/testing.h"

namespace belljar::files {
namespace {

void exchange(const std::string& a, const std::string& b) {
  ::syscall(SYS_renameat2, AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE);
}

// Exchanges two names, over and over, until it is destroyed.
class Flipper {
 public:
  Flipper(std::string a, std::string b)
      : thread_{[this, a = std::move(a), b = std::move(b)] {
          while (!stop_) {
            exchange(a, b);
            ++flips_;
          }
        }} {}
  ~Flipper() {
    stop_ = true;
    thread_.join();
  }
  Flipper(const Flipper&) = delete;
  Flipper& operator=(const Flipper&) = delete;
  int flips() const { return flips_; }

 private:
  std::atomic<bool> stop_ = false;
  std::atomic<int> flips_ = 0;
  std::thread thread_;
};

// HF08: never the secret's content, whichever moment the exchange hits.
void expect_never_the_secret(const TestDirectory& test, const std::string& path,
                             const Flipper& flipper) {
  const Directory directory = test.directory().open_directory("tree");
  int read = 0;
  int refused = 0;
  while (flipper.flips() < 20'000) {
    try {
      ASSERT_EQ(directory.read(path, 0, 100), "mine");
      ++read;
    } catch (const Error& error) {
      ASSERT_TRUE(error.code() == Code::denied || error.code() == Code::not_found) << error.what();
      ++refused;
    }
  }
  EXPECT_GT(read + refused, 0);
}

TEST(DirectoryRace, AFileThatBecomesALinkToASecretIsNeverTheSecret) {
  const TestDirectory test;
  test.write("secret", "secret");
  test.make_directory("tree");
  test.write("tree/a", "mine");
  test.link_to(test.path("secret"), "tree/b");
  const Flipper flipper{test.path("tree/a"), test.path("tree/b")};
  expect_never_the_secret(test, "a", flipper);
}

TEST(DirectoryRace, ADirectoryThatBecomesALinkOutOfTheTreeIsNotFollowed) {
  const TestDirectory test;
  test.make_directory("outside");
  test.write("outside/f", "secret");
  test.make_directory("tree");
  test.make_directory("tree/a");
  test.write("tree/a/f", "mine");
  test.link_to("../outside", "tree/b");
  const Flipper flipper{test.path("tree/a"), test.path("tree/b")};
  expect_never_the_secret(test, "a/f", flipper);
}

TEST(DirectoryRace, AListingOfAMovingTreeStaysBeneathIt) {  // HF09
  const TestDirectory test;
  test.make_directory("outside");
  test.write("outside/secret", "secret");
  test.make_directory("tree");
  test.make_directory("tree/a");
  test.write("tree/a/f", "mine");
  test.link_to("../outside", "tree/b");
  const Flipper flipper{test.path("tree/a"), test.path("tree/b")};
  const Directory directory = test.directory().open_directory("tree");
  while (flipper.flips() < 20'000) {
    for (const auto& entry : directory.list(".", {.recursive = true}).entries) {
      ASSERT_EQ(entry.path.find("secret"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace belljar::files
