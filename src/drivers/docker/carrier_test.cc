#include "drivers/docker/agent/carrier.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>

#include "base/error.h"
#include "base/posix.h"
#include "base/testing.h"
#include "drivers/docker/agent/packet.h"
#include "drivers/docker/testing.h"
#include "net/http_listener.h"

namespace belljar::agent {
namespace {

using docker::connected_socket;
using docker::listening_socket;

std::pair<Fd, Fd> make_pair(int type) {
  int ends[2];
  sys(::socketpair(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), "make a pair");
  return {Fd{ends[0]}, Fd{ends[1]}};
}

std::string read_some(int fd, size_t most = 1 << 16) {
  std::string text(most, '\0');
  const ssize_t count = ::read(fd, text.data(), text.size());
  text.resize(count > 0 ? static_cast<size_t>(count) : 0);
  return text;
}

std::string with_head(const std::string& text) {
  std::string head{"\1\0\0\0", 4};
  for (int shift = 24; shift >= 0; shift -= 8) head += static_cast<char>(text.size() >> shift);
  return head + text;
}

// A packet as one side gets it.
struct Taken {
  Packet packet;
  std::string bytes = std::string(kMostPacket, '\0');
  std::vector<Fd> fds = std::vector<Fd>(kMaxFds);
};

Taken take(int socket) {
  Taken taken;
  taken.packet = receive_packet(socket, taken.bytes.data(), taken.bytes.size(), taken.fds);
  taken.bytes.resize(taken.packet.error == 0 ? taken.packet.size : 0);
  taken.fds.resize(taken.packet.error == 0 ? taken.packet.fds : 0);
  return taken;
}

// belljar's end of a stream, with the test at the other one.
class BelljarsEnd {
 public:
  explicit BelljarsEnd(Fd workspace = open_directory("/"))
      : BelljarsEnd{std::move(workspace), make_pair(SOCK_STREAM), make_pair(SOCK_SEQPACKET)} {}

  TemporaryDirectory sockets{"/tmp"};
  Fd stream;   // the engine's side
  Fd packets;  // the client's
  Carrier carrier;

  // What the container says.
  bool hear(const std::string& bytes) {
    const std::string pieces = with_head(bytes);
    EXPECT_EQ(::send(stream.get(), pieces.data(), pieces.size(), MSG_NOSIGNAL),
              ssize_t(pieces.size()));
    return carrier.work();
  }

 private:
  BelljarsEnd(Fd workspace, std::pair<Fd, Fd> streams, std::pair<Fd, Fd> sides)
      : stream{std::move(streams.first)},
        packets{std::move(sides.first)},
        carrier{Carrier::of_belljar(ends_of(std::move(streams.second), std::move(sides.second)),
                                    {std::move(workspace), open_directory(sockets.path())})} {}

  static Carrier::Ends ends_of(Fd stream, Fd packets) {
    Fd output{::fcntl(stream.get(), F_DUPFD_CLOEXEC, 0)};
    return {std::move(stream), std::move(output), std::move(packets)};
  }
};

// Both ends, and between them an engine that passes on at most so many bytes at once.
class BothEnds {
 public:
  explicit BothEnds(size_t most = 1 << 16)
      : BothEnds{most, make_pair(SOCK_STREAM), make_pair(SOCK_SEQPACKET)} {}

  BelljarsEnd belljar;
  Fd stream;   // the engine's side
  Fd packets;  // the agent's
  Carrier carrier;
  size_t carried = 0;  // bytes from the container

  // Until nothing happens any more.
  void settle() {
    for (int idle = 0; idle < 3; ++idle) {
      ASSERT_TRUE(belljar.carrier.work());
      ASSERT_TRUE(carrier.work());
      const std::string down = read_some(belljar.stream.get(), most_);
      const std::string up = read_some(stream.get(), most_);
      if (down.empty() && up.empty()) continue;
      idle = 0;
      carried += up.size();
      pass_on(stream, down);
      if (!up.empty()) pass_on(belljar.stream, with_head(up));
    }
  }

 private:
  BothEnds(size_t most, std::pair<Fd, Fd> streams, std::pair<Fd, Fd> sides)
      : stream{std::move(streams.first)},
        packets{std::move(sides.first)},
        carrier{Carrier::in_container({Fd{::fcntl(streams.second.get(), F_DUPFD_CLOEXEC, 0)},
                                       std::move(streams.second), std::move(sides.second)})},
        most_{most} {}

  void pass_on(const Fd& to, std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t count =
          ::send(to.get(), bytes.data(), std::min(bytes.size(), most_), MSG_NOSIGNAL);
      if (count > 0) bytes.remove_prefix(static_cast<size_t>(count));
      ASSERT_TRUE(belljar.carrier.work());
      ASSERT_TRUE(carrier.work());
    }
  }

  size_t most_;
};

// The pipes of a program that was started through both ends.
struct Started {
  Fd in;  // of the program
  Fd out;
  Fd err;
  Fd package;
  Fd output;  // belljar's
  Fd errors;
};

Started start(BothEnds& both, const std::string& input, const std::string& package) {
  Pipe output = make_pipe();
  Pipe errors = make_pipe();
  for (const Fd* fd : {&output.read, &errors.read}) ::fcntl(fd->get(), F_SETFL, O_NONBLOCK);
  const Fd in = make_memory_file("stdin", input);
  const Fd file = make_memory_file("package", package);
  const std::array<int, 4> fds{in.get(), output.write.get(), errors.write.get(), file.get()};
  EXPECT_EQ(send_packet(both.belljar.packets.get(), "start", 5, fds), 0);
  both.settle();
  Taken taken = take(both.packets.get());
  EXPECT_EQ(taken.bytes, "start");
  if (taken.fds.size() != kMaxFds) return {};
  return {std::move(taken.fds[0]), std::move(taken.fds[1]), std::move(taken.fds[2]),
          std::move(taken.fds[3]), std::move(output.read),  std::move(errors.read)};
}

std::string read_whole(int fd) {
  std::string text;
  for (std::string piece = read_some(fd); !piece.empty(); piece = read_some(fd)) text += piece;
  return text;
}

class CarrierCut : public testing::TestWithParam<size_t> {};
INSTANTIATE_TEST_SUITE_P(At, CarrierCut, testing::Values(1, 7, 4096, 1 << 16));

TEST_P(CarrierCut, PassesPacketsFilesAndPipes) {
  BothEnds both{GetParam()};
  const std::string package(GetParam() < 100 ? 3000 : 200'000, 'p');
  Started program = start(both, "typed", package);
  EXPECT_EQ(read_whole(program.in.get()), "typed");
  EXPECT_EQ(read_whole(program.package.get()), package);
  EXPECT_NE(::fcntl(program.package.get(), F_GET_SEALS) & F_SEAL_WRITE, 0);
  ASSERT_EQ(::write(program.out.get(), "said", 4), 4);
  ASSERT_EQ(::write(program.err.get(), "cried", 5), 5);
  EXPECT_EQ(send_packet(both.packets.get(), "ended", 5, {}), 0);
  program.out.reset();
  both.settle();
  EXPECT_EQ(read_some(program.output.get()), "said");
  EXPECT_EQ(::read(program.output.get(), nullptr, 0), 0);
  char byte = 0;
  EXPECT_EQ(::read(program.output.get(), &byte, 1), 0) << "its end is there";
  EXPECT_EQ(read_some(program.errors.get()), "cried");
  EXPECT_EQ(::read(program.errors.get(), &byte, 1), -1) << "it is still open";
  EXPECT_EQ(take(both.belljar.packets.get()).bytes, "ended");
}

TEST(Carrier, LetsNobodyWaitForASlowReader) {
  BothEnds both;
  Started program = start(both, "", "p");
  ::fcntl(program.out.get(), F_SETFL, O_NONBLOCK);
  const std::string much(1 << 16, 'x');
  size_t written = 0;
  for (int i = 0; i < 100; ++i) {
    const ssize_t count = ::write(program.out.get(), much.data(), much.size());
    if (count > 0) written += static_cast<size_t>(count);
    both.settle();
  }
  EXPECT_LT(written, 3 * kWindow) << "it has to wait";
  ASSERT_EQ(::write(program.err.get(), "heard", 5), 5);
  both.settle();
  EXPECT_EQ(read_some(program.errors.get()), "heard");
  program.out.reset();
  size_t read = 0;
  for (std::string piece = read_some(program.output.get()); !piece.empty();
       piece = read_some(program.output.get())) {
    read += piece.size();
    both.settle();
  }
  EXPECT_EQ(read, written);
}

TEST(Carrier, TellsAWriterThatItsReaderHasGone) {
  std::signal(SIGPIPE, SIG_IGN);
  BothEnds both;
  Started program = start(both, "", "p");
  program.output.reset();
  both.settle();
  EXPECT_EQ(::write(program.out.get(), "x", 1), -1);
  EXPECT_EQ(errno, EPIPE);
}

// What the container's side sends, as belljar's side gets it.
Fd send_up(BothEnds& both, int fd) {
  const int fds[] = {fd};
  EXPECT_EQ(send_packet(both.packets.get(), "fd", 2, fds), 0);
  both.settle();
  Taken taken = take(both.belljar.packets.get());
  EXPECT_EQ(taken.fds.size(), 1u);
  return taken.fds.empty() ? Fd{} : std::move(taken.fds[0]);
}

TEST(Carrier, CarriesConnectionsBothWays) {
  BothEnds both;
  const Fd server = listening_socket();
  Fd inside = connected_socket(server);
  const Fd accepted{::accept4(server.get(), nullptr, nullptr, SOCK_CLOEXEC)};
  const Fd outside = send_up(both, inside.get());
  inside.reset();
  ASSERT_EQ(::write(outside.get(), "ask", 3), 3);
  ::shutdown(outside.get(), SHUT_WR);
  both.settle();
  EXPECT_EQ(read_whole(accepted.get()), "ask") << "and the end";
  ASSERT_EQ(::write(accepted.get(), "answer", 6), 6);
  both.settle();
  EXPECT_EQ(read_some(outside.get()), "answer");
}

TEST(Carrier, CarriesWhatAListenerAccepts) {
  BothEnds both;
  const Fd inside = listening_socket();
  const Fd outside = send_up(both, inside.get());
  EXPECT_EQ(net::listening_port(outside.get()), net::listening_port(inside.get()));
  const Fd client = connected_socket(inside);
  ASSERT_EQ(::write(client.get(), "hello", 5), 5);
  both.settle();
  const Fd accepted{::accept4(outside.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)};
  ASSERT_TRUE(accepted);
  EXPECT_EQ(read_some(accepted.get()), "hello");
}

TEST(Carrier, ClosesConnectionsThatNobodyAccepts) {
  BothEnds both;
  const Fd inside = listening_socket();
  send_up(both, inside.get()).reset();
  const Fd client = connected_socket(inside);
  both.settle();
  char byte = 0;
  const ssize_t count = ::recv(client.get(), &byte, 1, MSG_DONTWAIT);
  EXPECT_TRUE(count == 0 || (count < 0 && errno == ECONNRESET)) << std::strerror(errno);
}

TEST(Carrier, EndsWithEitherSide) {
  {
    BelljarsEnd end;
    EXPECT_TRUE(end.carrier.work());
    end.packets.reset();
    EXPECT_FALSE(end.carrier.work());
  }
  BelljarsEnd end;
  end.stream.reset();
  EXPECT_FALSE(end.carrier.work());
}

TEST(Carrier, DeliversPacketsWithoutDescriptorsThatThereIsNoRoomFor) {
  BothEnds both;
  rlimit before{};
  sys(::getrlimit(RLIMIT_NOFILE, &before), "limit");
  const Fd in = make_memory_file("stdin", "");
  const Fd out{sys(::open("/dev/null", O_WRONLY | O_CLOEXEC), "open")};
  const std::array<int, 4> fds{in.get(), out.get(), out.get(), in.get()};
  EXPECT_EQ(send_packet(both.belljar.packets.get(), "start", 5, fds), 0);
  ASSERT_TRUE(both.belljar.carrier.work());
  const std::string down = read_some(both.belljar.stream.get());
  ASSERT_EQ(::write(both.stream.get(), down.data(), down.size()), ssize_t(down.size()));
  const rlimit none{3, before.rlim_max};
  sys(::setrlimit(RLIMIT_NOFILE, &none), "limit");
  const bool goes_on = both.carrier.work();
  sys(::setrlimit(RLIMIT_NOFILE, &before), "limit");
  EXPECT_TRUE(goes_on);
  const Taken taken = take(both.packets.get());
  EXPECT_EQ(taken.bytes, "start");
  EXPECT_TRUE(taken.fds.empty());
  both.settle();
}

std::string frame(FrameType type, uint32_t channel, std::string_view bytes) {
  FrameQueue queue;
  queue.add(type, channel, bytes);
  return std::string{queue.unsent()};
}

std::string number(uint32_t value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

std::string packet(std::initializer_list<CarriedFd> places, uint32_t count) {
  CarriedPacket carried{};
  carried.fds = count;
  std::copy(places.begin(), places.end(), carried.places);
  return frame(FrameType::packet, 0,
               std::string{reinterpret_cast<const char*>(&carried), sizeof carried} + "x");
}

std::string packet(CarriedFd place) {
  return packet({place}, 1);
}

// A connection as channel 2.
const CarriedFd kStream{ChannelKind::stream, 2, 0};

TEST(Carrier, BelievesNothing) {
  const std::string open = packet(kStream);
  const std::string full = [] {
    std::string all;
    for (uint32_t sent = 0; sent < kWindow; sent += kMostData)
      all += frame(FrameType::data, 2, std::string(kMostData, 'x'));
    return all;
  }();
  const std::string hostile[] = {
      frame(FrameType{0}, 0, ""),
      frame(FrameType{8}, 2, ""),
      frame(FrameType::data, 2, "x"),  // nobody has opened it
      frame(FrameType::data, 1, "x"),
      frame(FrameType::credit, 1, number(1)),
      frame(FrameType::accepted, 2, number(4)),
      frame(FrameType::file, 0, "x"),  // files go the other way
      frame(FrameType::packet, 0, "short"),
      frame(FrameType::data, 2, std::string(kMostFrame + 1, 'x')),
      packet({ChannelKind::input, 2, 0}),  // and so do pipes
      packet({ChannelKind::output, 2, 0}),
      packet({ChannelKind::file, 0, 0}),
      packet({ChannelKind{9}, 2, 0}),
      packet({ChannelKind::stream, 0, 0}),
      packet({ChannelKind::stream, 1, 0}),  // numbers have an order
      packet({ChannelKind::stream, 4, 0}),
      packet({ChannelKind::listener, 2, 0}),
      packet({ChannelKind::listener, 2, 65536}),
      packet({ChannelKind::directory, 2, 0}),
      packet({}, kMaxFds + 1),
      open + open,
      open + frame(FrameType::credit, 2, number(1)),  // more than was sent
      open + frame(FrameType::credit, 2, "x"),
      open + frame(FrameType::end, 2, "x"),
      open + frame(FrameType::end, 2, "") + frame(FrameType::end, 2, ""),
      open + frame(FrameType::end, 2, "") + frame(FrameType::data, 2, "x"),
      open + frame(FrameType::accepted, 2, number(4)),
      open + full + frame(FrameType::data, 2, "x"),  // more than the window
  };
  for (const std::string& bytes : hostile) {
    BelljarsEnd end;
    EXPECT_FALSE(end.hear(bytes)) << testing::PrintToString(bytes.substr(0, 200));
  }
  BelljarsEnd end;
  EXPECT_TRUE(end.hear(open + full));
  EXPECT_TRUE(end.hear(frame(FrameType::gone, 2, "")));
}

TEST(Carrier, TakesNoStreamButThoseOfAnEngine) {
  BelljarsEnd end;
  ASSERT_EQ(::write(end.stream.get(), "HTTP/1.1", 8), 8);
  EXPECT_FALSE(end.carrier.work());
}

TEST(Carrier, RefusesMoreConnectionsThanItHolds) {
  BelljarsEnd end;
  ASSERT_TRUE(end.hear(packet({ChannelKind::listener, 2, 80})));
  std::vector<Fd> none;
  for (uint32_t i = 0; i < kMostOpen + 10; ++i)
    ASSERT_TRUE(end.hear(frame(FrameType::accepted, 2, number(4 + 2 * i))));
  EXPECT_THAT(read_whole(end.stream.get()),
              testing::HasSubstr(frame(FrameType::gone, 4 + 2 * (kMostOpen + 9), "")));
}

}  // namespace
}  // namespace belljar::agent
