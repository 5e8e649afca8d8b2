#include "base/posix.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/error.h"
#include "base/id.h"

namespace belljar {
namespace {

class PosixTest : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(root_); }
  void TearDown() override { std::filesystem::remove_all(root_); }
  std::string root_ =
      (std::filesystem::temp_directory_path() / ("belljar-test-" + random_hex(8))).string();
};

TEST_F(PosixTest, WritesAndReadsAFile) {
  const std::string path = root_ + "/a";
  write_file_atomically(path, "one");
  write_file_atomically(path, "two", 0600);
  EXPECT_EQ(read_file(path), "two");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator{root_}, {}),
            1);  // no temporary file is left
}

TEST_F(PosixTest, ErrorNamesTheFileAndTheReason) {
  try {
    read_file(root_ + "/nope");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::not_found);
    EXPECT_EQ(std::string{e.what()}, "open " + root_ + "/nope: No such file or directory");
  }
}

TEST_F(PosixTest, RefusesToReadMoreThanTheLimit) {
  write_file_atomically(root_ + "/big", std::string(100, 'x'));
  EXPECT_THROW(read_file(root_ + "/big", 99), Error);
  EXPECT_EQ(read_file(root_ + "/big", 100).size(), 100u);
}

TEST_F(PosixTest, MemoryFileCannotBeChanged) {
  const Fd file = make_memory_file("test", "hello");
  char buffer[16];
  EXPECT_EQ(::read(file.get(), buffer, sizeof buffer), 5);
  EXPECT_EQ(::write(file.get(), "x", 1), -1);
  EXPECT_EQ(::ftruncate(file.get(), 0), -1);
}

TEST_F(PosixTest, DescriptorsAreCloseOnExec) {
  const Pipe pipe = make_pipe();
  EXPECT_TRUE(::fcntl(pipe.read.get(), F_GETFD) & FD_CLOEXEC);
  EXPECT_TRUE(::fcntl(pipe.write.get(), F_GETFD) & FD_CLOEXEC);
}

TEST_F(PosixTest, MakesAllMissingDirectories) {
  make_directories(root_ + "/x/y/z", 0700);
  make_directories(root_ + "/x/y/z", 0700);
  EXPECT_TRUE(std::filesystem::is_directory(root_ + "/x/y/z"));
}

}  // namespace
}  // namespace belljar
