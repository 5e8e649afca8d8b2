// What a container with a kernel of its own might send through its stream. The first byte says
// which end it comes to (belljar's, or for good measure the container's), and whether the heads of
// an engine are part of it; the second how many bytes come at once.
#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <csignal>

#include "base/posix.h"
#include "drivers/docker/agent/carrier.h"
#include "drivers/docker/agent/packet.h"
#include "fuzz.h"

namespace belljar::agent {
namespace {

using fuzz::expect;

int lowest_free_descriptor() {
  return Fd{sys(::open("/dev/null", O_RDONLY | O_CLOEXEC), "open /dev/null")}.get();
}

std::pair<Fd, Fd> make_pair(int type) {
  int ends[2];
  sys(::socketpair(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), "a pair");
  return {Fd{ends[0]}, Fd{ends[1]}};
}

Carrier make_carrier(uint8_t choice, Fd stream, Fd packets) {
  Fd output{sys(::fcntl(stream.get(), F_DUPFD_CLOEXEC, 0), "copy")};
  Carrier::Ends ends{std::move(stream), std::move(output), std::move(packets)};
  if (choice % 4 == 3) return Carrier::in_container(std::move(ends));
  // Listeners find no place for their names there.
  Carrier::Host host{open_directory("/proc"), open_directory("/proc"), choice % 4 == 0};
  return Carrier::of_belljar(std::move(ends), std::move(host));
}

// What whoever waits for packets does with them: what they bring is read and written to.
void take_packets(int socket, bool is_belljar) {
  char bytes[kMostPacket];
  for (;;) {
    std::vector<Fd> fds(kMaxFds);
    const Packet packet = receive_packet(socket, bytes, sizeof bytes, fds);
    if (packet.error != 0 || packet.size == 0) return;
    expect(packet.whole && packet.size <= kMostPacket, "a packet is whole");
    expect(!is_belljar || packet.fds <= kMaxFds, "a packet has no more descriptors than it may");
    for (size_t i = 0; i < packet.fds; ++i) {
      ::fcntl(fds[i].get(), F_SETFL, O_NONBLOCK);
      [[maybe_unused]] const ssize_t got = ::read(fds[i].get(), bytes, sizeof bytes);
    }
  }
}

void check(uint8_t choice, size_t most, std::string_view input) {
  auto [ours, stream] = make_pair(SOCK_STREAM);
  auto [client, packets] = make_pair(SOCK_SEQPACKET);
  Carrier carrier = make_carrier(choice, std::move(stream), std::move(packets));
  bool goes_on = carrier.work();
  expect(goes_on, "nobody has said anything");
  while (goes_on && !input.empty()) {
    const std::string_view piece = input.substr(0, std::max<size_t>(most, 1));
    input.remove_prefix(piece.size());
    if (::send(ours.get(), piece.data(), piece.size(), MSG_NOSIGNAL) < 0) break;
    goes_on = carrier.work();
    take_packets(client.get(), choice % 4 != 3);
    char answer[1 << 16];
    while (::read(ours.get(), answer, sizeof answer) > 0) continue;
  }
  client.reset();
  expect(!carrier.work(), "it ends with either side");
}

}  // namespace
}  // namespace belljar::agent

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace belljar::agent;
  if (size < 3) return -1;
  std::signal(SIGPIPE, SIG_IGN);
  const int free = lowest_free_descriptor();
  check(data[0], data[1] * size_t{16}, belljar::fuzz::text_of(data + 2, size - 2));
  belljar::fuzz::expect(lowest_free_descriptor() == free, "every descriptor is closed");
  return 0;
}
