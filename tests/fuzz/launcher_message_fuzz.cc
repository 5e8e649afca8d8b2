// A packet that belljar, taken over by a stranger, might send to the launcher: the first byte says
// how many descriptors come along, the rest is the packet.
#include <fcntl.h>
#include <sys/socket.h>

#include <cstring>

#include "drivers/linux/launcher/message.h"
#include "fuzz.h"

namespace belljar::launcher {
namespace {

using fuzz::expect;

constexpr size_t kMostSent = kMaxFds + 2;

void send_packet(int socket, std::string_view packet, size_t fds) {
  static const int something = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kMostSent)] = {};
  iovec part{const_cast<char*>(packet.data()), packet.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  if (fds > 0) {
    header.msg_control = control;
    header.msg_controllen = CMSG_SPACE(sizeof(int) * fds);
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int) * fds);
    for (size_t i = 0; i < fds; ++i)
      std::memcpy(CMSG_DATA(rights) + i * sizeof(int), &something, sizeof something);
  }
  sys(::sendmsg(socket, &header, MSG_NOSIGNAL), "send a packet");
}

void check(Message& message) {
  const Request& request = message.request;
  const size_t fds = message.fds.size();
  expect(fds <= kMaxFds, "no more descriptors than there may be");
  const bool accepted = is_well_formed(request, message.payload, fds);
  if (request.type != RequestType::start) {
    const bool may_have_text = request.type == RequestType::prepare;
    expect(!accepted || may_have_text || message.payload.empty(), "only two have text");
    expect(!accepted || request.type != RequestType::create || request.limits.memory > 0,
           "a sandbox is limited");
    expect(!accepted || request.type != RequestType::mount || fds == 1 || fds == 2,
           "packages are one directory or two");
    const uint32_t both = kRenew | kRetire;
    expect(!accepted || request.type != RequestType::zygote || (request.flags & both) != both,
           "a zygote is either renewed or retired");
    return;
  }
  const size_t count = size_t{request.argc} + request.envc + (fds == 4 ? 1 : 0);
  const std::vector<char*> strings = split_strings(message.payload, count);
  if (!accepted) return;
  expect(fds == 3 || fds == 4, "a program has its three streams");
  expect(strings.size() == count && request.argc > 0, "a program has the strings it announced");
  size_t bytes = 0;
  for (const char* string : strings) bytes += std::strlen(string) + 1;
  expect(bytes == message.payload.size(), "there is nothing between the strings");
}

int lowest_free_descriptor() {
  return Fd{sys(::open("/dev/null", O_RDONLY | O_CLOEXEC), "open /dev/null")}.get();
}

void receive_one(std::string_view packet, size_t fds) {
  int ends[2];
  sys(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), "make a pair of sockets");
  const Fd ours{ends[0]};
  const Fd theirs{ends[1]};
  send_packet(theirs.get(), packet, fds);
  const int free = lowest_free_descriptor();
  {
    Message message;
    if (receive(ours.get(), message)) check(message);
  }
  expect(lowest_free_descriptor() == free, "every descriptor is closed");
}

}  // namespace
}  // namespace belljar::launcher

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace belljar::launcher;
  if (size < 2) return -1;
  receive_one(belljar::fuzz::text_of(data + 1, size - 1), data[0] % (kMostSent + 1));
  return 0;
}
