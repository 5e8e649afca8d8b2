#include "drivers/linux/launcher/netlink.h"

#include <arpa/inet.h>
#include <linux/netlink.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace belljar::launcher {

Netlink::Netlink(int protocol) : socket_{::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol)} {
  if (!socket_) error_ = errno;
}

void Netlink::append(const void* data, size_t size) {
  const size_t padded = (size + NLMSG_ALIGNTO - 1) / NLMSG_ALIGNTO * NLMSG_ALIGNTO;
  if (error_ != 0 || kCapacity - used_ < padded) {
    if (error_ == 0) error_ = ENOBUFS;
    return;
  }
  if (size != 0) std::memcpy(buffer_ + used_, data, size);
  used_ += padded;
  if (used_ > message_) reinterpret_cast<nlmsghdr*>(buffer_ + message_)->nlmsg_len += padded;
}

void Netlink::begin(uint16_t type, uint16_t flags, const void* header, size_t size,
                    bool acknowledged) {
  nlmsghdr message{};
  message.nlmsg_type = type;
  message.nlmsg_flags =
      static_cast<uint16_t>(NLM_F_REQUEST | flags | (acknowledged ? NLM_F_ACK : 0));
  message.nlmsg_seq = 1;
  message_ = used_;
  append(&message, sizeof message);
  append(header, size);
  if (acknowledged) ++expected_;
}

void Netlink::add(uint16_t attribute, const void* data, size_t size) {
  nlattr head{};
  head.nla_len = static_cast<uint16_t>(sizeof head + size);
  head.nla_type = attribute;
  append(&head, sizeof head);
  append(data, size);
}

void Netlink::add(uint16_t attribute, const char* text) {
  add(attribute, text, std::strlen(text) + 1);
}

void Netlink::add_u32(uint16_t attribute, uint32_t value) {
  add(attribute, &value, sizeof value);
}

void Netlink::add_be32(uint16_t attribute, uint32_t value) {
  add_u32(attribute, htonl(value));
}

size_t Netlink::open(uint16_t attribute) {
  const size_t at = used_;
  add(static_cast<uint16_t>(attribute | NLA_F_NESTED), nullptr, 0);
  return at;
}

void Netlink::close(size_t attribute) {
  if (error_ != 0) return;
  reinterpret_cast<nlattr*>(buffer_ + attribute)->nla_len =
      static_cast<uint16_t>(used_ - attribute);
}

int Netlink::commit() {
  if (error_ != 0) return error_;
  if (::send(socket_.get(), buffer_, used_, 0) < 0) return errno;
  while (expected_ > 0) {
    alignas(nlmsghdr) char answer[kCapacity];
    ssize_t size = ::recv(socket_.get(), answer, sizeof answer, 0);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return errno;
    for (auto* message = reinterpret_cast<nlmsghdr*>(answer); NLMSG_OK(message, size);
         message = NLMSG_NEXT(message, size)) {
      if (message->nlmsg_type != NLMSG_ERROR) continue;
      const auto* verdict = static_cast<const nlmsgerr*>(NLMSG_DATA(message));
      if (verdict->error != 0) return -verdict->error;
      --expected_;
    }
  }
  return 0;
}

}  // namespace belljar::launcher
