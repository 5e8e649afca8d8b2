#pragma once

#include <cstddef>
#include <cstdint>

#include "base/fd.h"

namespace belljar::launcher {

// Requests to the kernel over netlink: messages with nested attributes, sent as one packet and
// acknowledged one by one.
class Netlink {
 public:
  explicit Netlink(int protocol);  // NETLINK_ROUTE, NETLINK_NETFILTER

  // Starts a message with the family's own header. `acknowledged`: the kernel answers it.
  void begin(uint16_t type, uint16_t flags, const void* header, size_t size,
             bool acknowledged = true);
  void add(uint16_t attribute, const void* data, size_t size);
  void add(uint16_t attribute, const char* text);
  void add_u32(uint16_t attribute, uint32_t value);  // as this machine writes it
  void add_be32(uint16_t attribute, uint32_t value);
  size_t open(uint16_t attribute);  // a nested attribute; close() takes what it returns
  void close(size_t attribute);

  // Sends all of it and waits for every acknowledgement; 0 or the first errno.
  int commit();

 private:
  void append(const void* data, size_t size);

  static constexpr size_t kCapacity = 8192;
  Fd socket_;
  int error_ = 0;  // ENOBUFS: more was added than fits
  alignas(8) char buffer_[kCapacity] = {};
  size_t used_ = 0;
  size_t message_ = 0;  // where the last one begins
  uint32_t expected_ = 0;
};

}  // namespace belljar::launcher
