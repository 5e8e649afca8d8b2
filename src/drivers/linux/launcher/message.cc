#include "drivers/linux/launcher/message.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "drivers/linux/launcher/rights.h"

namespace belljar::launcher {

bool receive(int socket, Message& message) {
  char payload[kMaxPayload];
  Rights rights;
  iovec parts[] = {{&message.request, sizeof message.request}, {payload, sizeof payload}};
  msghdr header{};
  header.msg_iov = parts;
  header.msg_iovlen = 2;
  rights.expect(header);
  const ssize_t size = ::recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
  if (size <= 0) return size < 0 && (errno == EINTR || errno == ENOMEM || errno == ENOBUFS);
  message.fds = Rights::take(header);
  const bool whole = static_cast<size_t>(size) >= sizeof message.request &&
                     (header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0 &&
                     message.fds.size() <= kMaxFds;
  if (!whole) {
    message.fds.clear();
    message.request.type = RequestType{};
    return true;
  }
  const size_t length = static_cast<size_t>(size) - sizeof message.request;
  message.payload.assign(payload, length);
  ::explicit_bzero(payload, length);
  return true;
}

namespace {

// A zero would mean "unlimited" to the kernel, and sums of larger numbers could overflow.
bool are_sane(const SandboxLimits& limits) {
  constexpr uint64_t kMost = 1ull << 50;
  return limits.memory >= (1 << 20) && limits.memory <= kMost && limits.disk >= (64 << 10) &&
         limits.disk <= kMost && limits.inodes >= 64 && limits.inodes <= kMost &&
         limits.cpu_millis >= 10 && limits.cpu_millis <= 1000000 && limits.pids >= 1 &&
         limits.pids <= 1000000;
}

// Strings that each end with NUL, and nothing else.
size_t count_strings(std::string_view payload) {
  if (payload.empty() || payload.back() != '\0') return 0;
  return static_cast<size_t>(std::count(payload.begin(), payload.end(), '\0'));
}

bool is_command(const Request& request, std::string_view payload, size_t fds) {
  if (fds != 3 && fds != 4) return false;
  if (request.argc == 0 || request.argc > kMaxStrings || request.envc > kMaxStrings) return false;
  const size_t strings = size_t{request.argc} + request.envc + (fds == 4 ? 1 : 0);
  return strings <= kMaxStrings && count_strings(payload) == strings;
}

// An id that belljar may become: neither root nor one of those that sandboxes get.
bool is_ordinary_id(uint32_t id) {
  return id != 0 && id < 0x60000000;
}

}  // namespace

bool is_well_formed(const Request& request, std::string_view payload, size_t fds) {
  const auto has_flags = [&request](uint32_t known) { return (request.flags & ~known) == 0; };
  if (request.type == RequestType::start)
    return has_flags(kForked | kParked) && is_command(request, payload, fds);
  if (request.type == RequestType::prepare) return has_flags(0) && fds <= 1;
  if (!payload.empty()) return false;
  switch (request.type) {
    case RequestType::seal: return has_flags(0) && fds >= 1 && is_ordinary_id(request.own_id);
    case RequestType::create:
      return has_flags(kInBackground | kGated) && fds <= 1 && are_sane(request.limits);
    case RequestType::socket: return has_flags(kListening | kIpv6) && fds == 0;
    case RequestType::zygote:
      return has_flags(kRenew | kRetire) && request.flags != (kRenew | kRetire) && fds == 0 &&
             are_sane(request.limits);
    case RequestType::mount: return has_flags(0) && (fds == 1 || fds == 2);
    case RequestType::park: return has_flags(kExecuted) && fds == 0;
    case RequestType::examine:
    case RequestType::kill:
    case RequestType::destroy: return has_flags(0) && fds == 0;
    case RequestType::prepare:
    case RequestType::start: break;
  }
  return false;
}

std::vector<char*> split_strings(std::string& payload, size_t count) {
  std::vector<char*> strings;
  if (count > kMaxStrings || count_strings(payload) != count) return strings;
  for (size_t at = 0; at < payload.size(); at += std::strlen(payload.data() + at) + 1) {
    strings.push_back(payload.data() + at);
  }
  return strings;
}

}  // namespace belljar::launcher
