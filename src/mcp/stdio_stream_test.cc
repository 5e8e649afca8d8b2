#include "mcp/stdio_stream.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "base/posix.h"
#include "base/testing.h"

namespace belljar::mcp {
namespace {

using Direction = StdioStream::Direction;

bool blocks(int fd) {
  return (::fcntl(fd, F_GETFL) & O_NONBLOCK) == 0;
}

Pipe make_socket_pair() {
  int ends[2];
  sys(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), "make a socket pair");
  return Pipe{Fd{ends[0]}, Fd{ends[1]}};
}

Task<std::string> read_all(int fd) {
  StdioStream stream{co_await asio::this_coro::executor, fd, Direction::input};
  std::string all;
  while (true) {
    const std::string_view some = co_await stream.read();
    if (some.empty()) co_return all;
    all += some;
  }
}

Task<> write_to(int fd, std::string text) {
  StdioStream stream{co_await asio::this_coro::executor, fd, Direction::output};
  co_await stream.write(std::move(text));
}

Task<bool> blocks_while_used(int fd, Direction direction) {
  StdioStream stream{co_await asio::this_coro::executor, fd, direction};
  co_return blocks(fd);
}

TEST(StdioStream, ReadsAPipeAndLeavesItsFlagsAlone) {
  Pipe pipe = make_pipe();
  EXPECT_TRUE(run(blocks_while_used(pipe.read.get(), Direction::input)));
  EXPECT_TRUE(run(blocks_while_used(pipe.write.get(), Direction::output)));
  run(write_to(pipe.write.get(), "hello"));
  pipe.write.reset();
  EXPECT_EQ(run(read_all(pipe.read.get())), "hello");
  EXPECT_TRUE(blocks(pipe.read.get()));
}

TEST(StdioStream, PutsTheFlagsOfASocketBack) {
  Pipe sockets = make_socket_pair();
  EXPECT_FALSE(run(blocks_while_used(sockets.read.get(), Direction::input)));
  EXPECT_TRUE(blocks(sockets.read.get()));
  run(write_to(sockets.write.get(), "hello"));
  EXPECT_TRUE(blocks(sockets.write.get()));
  sockets.write.reset();
  EXPECT_EQ(run(read_all(sockets.read.get())), "hello");
  EXPECT_TRUE(blocks(sockets.read.get()));
}

Task<bool> use_one_socket_twice(int fd) {
  const auto executor = co_await asio::this_coro::executor;
  StdioStream input{executor, fd, Direction::input};
  StdioStream output{executor, fd, Direction::output};
  co_return blocks(fd);
}

TEST(StdioStream, PutsTheFlagsBackOfASocketThatIsInputAndOutput) {
  Pipe sockets = make_socket_pair();
  EXPECT_FALSE(run(use_one_socket_twice(sockets.read.get())));
  EXPECT_TRUE(blocks(sockets.read.get()));
}

TEST(StdioStream, ReadsARegularFileFromWhereItStands) {
  const Fd file = make_memory_file("input", "skipped hello");
  ::lseek(file.get(), 8, SEEK_SET);
  EXPECT_EQ(run(read_all(file.get())), "hello");
}

TEST(StdioStream, WritesARegularFileWhereItStands) {
  const Fd file{::memfd_create("output", MFD_CLOEXEC)};
  run(write_to(file.get(), "one "));
  run(write_to(file.get(), "two"));
  ::lseek(file.get(), 0, SEEK_SET);
  EXPECT_EQ(run(read_all(file.get())), "one two");
}

TEST(StdioStream, FindsTheEndOfTheNullDevice) {
  const Fd null{::open("/dev/null", O_RDWR | O_CLOEXEC)};
  EXPECT_EQ(run(read_all(null.get())), "");
  run(write_to(null.get(), "gone"));
}

TEST(StdioStream, RefusesADescriptorThatIsNotOpen) {
  EXPECT_THROW(run(read_all(9999)), Error);
}

}  // namespace
}  // namespace belljar::mcp
