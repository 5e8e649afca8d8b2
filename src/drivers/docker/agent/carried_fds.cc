// Descriptors as channels, and channels as descriptors.
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "drivers/docker/agent/carrier.h"

namespace belljar::agent {

namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL;

bool is_sealed(int fd) {
  const int seals = ::fcntl(fd, F_GET_SEALS);
  return seals >= 0 && (seals & F_SEAL_WRITE) != 0;
}

bool is_listening(int socket) {
  int value = 0;
  socklen_t size = sizeof value;
  return ::getsockopt(socket, SOL_SOCKET, SO_ACCEPTCONN, &value, &size) == 0 && value == 1;
}

uint32_t port_of(int socket) {
  sockaddr_in name{};
  socklen_t size = sizeof name;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&name), &size) != 0) return 0;
  return ntohs(name.sin_port);
}

void stop_blocking(int fd) {
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
}

Fd copy_of(const Fd& fd) {
  return Fd{::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0)};
}

ChannelKind kind_of(int fd) {
  struct stat info {};
  ::fstat(fd, &info);
  if (S_ISDIR(info.st_mode)) return ChannelKind::directory;
  if (S_ISSOCK(info.st_mode)) return is_listening(fd) ? ChannelKind::listener : ChannelKind::stream;
  if (is_sealed(fd)) return ChannelKind::file;
  const bool is_read = (::fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY;
  return is_read ? ChannelKind::input : ChannelKind::output;
}

// Through the descriptor: the path of the directory may be longer than an address has room for.
sockaddr_un name_of(const Fd& directory, uint32_t port) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  std::snprintf(name.sun_path, sizeof name.sun_path, "/proc/self/fd/%d/%u", directory.get(), port);
  return name;
}

constexpr int kSocketType = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;

}  // namespace

// Sends the packet that was read once all that belongs to it has been sent.
bool Carrier::send_outgoing() {
  if (outgoing_.empty()) return true;
  Outgoing& packet = outgoing_.front();
  for (; packet.next < packet.fds.size(); ++packet.next, packet.at = 0) {
    const int fd = packet.fds[packet.next].get();
    if (kind_of(fd) != ChannelKind::file) continue;
    const int error = send_file(fd, packet.at);
    if (error != 0) return error == EAGAIN;
  }
  CarriedPacket carried{};
  carried.fds = static_cast<uint32_t>(packet.fds.size());
  for (size_t i = 0; i < packet.fds.size(); ++i) carried.places[i] = send_fd(packet.fds[i]);
  std::string bytes(reinterpret_cast<const char*>(&carried), sizeof carried);
  out_.add(FrameType::packet, 0, bytes.append(packet.bytes));
  outgoing_.clear();
  return true;
}

// As much as there is room for, and so EAGAIN until it was all.
int Carrier::send_file(int fd, off_t& at) {
  char bytes[kMostData];
  while (out_.has_room()) {
    const ssize_t count = ::pread(fd, bytes, sizeof bytes, at);
    if (count < 0) return errno;
    out_.add(FrameType::file, 0, {bytes, static_cast<size_t>(count)});
    at += count;
    if (count == 0) return 0;
  }
  return EAGAIN;
}

CarriedFd Carrier::send_fd(Fd& fd) {
  CarriedFd place{kind_of(fd.get()), 0, 0};
  switch (place.kind) {
    case ChannelKind::file:
    case ChannelKind::directory: break;
    case ChannelKind::input: place.channel = open_channel(std::move(fd), Fd{}); break;
    case ChannelKind::output: place.channel = open_channel(Fd{}, std::move(fd)); break;
    case ChannelKind::stream: {
      Fd copy = copy_of(fd);
      place.channel = open_channel(std::move(fd), std::move(copy));
      break;
    }
    case ChannelKind::listener:
      place.port = port_of(fd.get());
      place.channel = open_channel(std::move(fd), Fd{});
      listeners_.emplace(place.channel, 0);
      break;
  }
  return place;
}

uint32_t Carrier::open_channel(Fd source, Fd sink) {
  const uint32_t number = next_ours_;
  next_ours_ += 2;
  Channel& channel = add_channel(number, bool{source}, bool{sink});
  for (const Fd* fd : {&source, &sink})
    if (*fd) stop_blocking(fd->get());
  channel.source = std::move(source);
  channel.sink = std::move(sink);
  watch_channel(number, channel);
  return number;
}

void Carrier::accept_all(uint32_t number, Channel& channel) {
  while (channel.source && channel.source_is_ready && !is_full() && out_.has_room()) {
    Fd connection{::accept4(channel.source.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)};
    if (!connection && (errno == EINTR || errno == ECONNABORTED)) continue;
    if (!connection) {
      channel.source_is_ready = false;
      return;
    }
    Fd copy = copy_of(connection);
    const uint32_t accepted = open_channel(std::move(connection), std::move(copy));
    out_.add_number(FrameType::accepted, number, accepted);
  }
}

bool Carrier::take_number(uint32_t number) {
  if (number != next_theirs_ || channels_.size() >= kMostKnown) return false;
  next_theirs_ += 2;
  return true;
}

bool Carrier::take_file(std::string_view bytes) {
  if (is_belljar_) return false;
  if (!has_open_file_) {
    if (files_.size() >= kMaxFds) return false;
    files_.emplace_back(::memfd_create("file", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  }
  has_open_file_ = !bytes.empty();
  Fd& file = files_.back();
  while (file && !bytes.empty()) {
    const ssize_t count = ::write(file.get(), bytes.data(), bytes.size());
    if (count <= 0) file.reset();  // there is no room for it: the packet has none
    if (count > 0) bytes.remove_prefix(static_cast<size_t>(count));
  }
  if (!file || has_open_file_) return true;
  ::lseek(file.get(), 0, SEEK_SET);
  if (::fcntl(file.get(), F_ADD_SEALS, kSeals) != 0) file.reset();
  return true;
}

// Whether the other end may send such a descriptor.
bool Carrier::is_right(const CarriedFd& place) const {
  switch (place.kind) {
    case ChannelKind::input:
    case ChannelKind::output: return !is_belljar_ && place.channel != 0;
    case ChannelKind::file: return !is_belljar_ && place.channel == 0;
    case ChannelKind::stream: return is_belljar_ && place.channel != 0;
    case ChannelKind::listener:
      return is_belljar_ && place.channel != 0 && place.port > 0 && place.port <= 0xffff;
    case ChannelKind::directory: return is_belljar_ && place.channel == 0;
  }
  return false;
}

// A packet for whose descriptors there is no room comes without any.
bool Carrier::take_packet(std::string_view bytes) {
  CarriedPacket carried{};
  if (bytes.size() <= sizeof carried || bytes.size() > sizeof carried + kMostPacket) return false;
  std::memcpy(&carried, bytes.data(), sizeof carried);
  if (carried.fds > kMaxFds) return false;
  Incoming packet;
  packet.bytes = bytes.substr(sizeof carried);
  bool is_whole = true;
  for (uint32_t i = 0; i < carried.fds; ++i) {
    const CarriedFd& place = carried.places[i];
    if (!is_right(place) || (place.channel != 0 && !take_number(place.channel))) return false;
    packet.fds.push_back(receive_fd(place));
    if (!packet.fds.back()) is_whole = false;
  }
  if (!is_whole) packet.fds.clear();
  files_.clear();
  incoming_.push_back(std::move(packet));
  return deliver();
}

// Empty if there is no room for it.
Fd Carrier::receive_fd(const CarriedFd& place) {
  switch (place.kind) {
    case ChannelKind::input: return receive_pipe(add_channel(place.channel, false, true), true);
    case ChannelKind::output: return receive_pipe(add_channel(place.channel, true, false), false);
    case ChannelKind::stream: return receive_stream(add_channel(place.channel, true, true));
    case ChannelKind::listener: return receive_listener(place);
    case ChannelKind::directory: return copy_of(host_.workspace);
    case ChannelKind::file: break;
  }
  if (files_.empty()) return Fd{};
  Fd file = std::move(files_.front());
  files_.erase(files_.begin());
  return file;
}

Fd Carrier::receive_pipe(Channel& channel, bool is_input) {
  int ends[2];
  if (is_full() || ::pipe2(ends, O_CLOEXEC) != 0) {
    channel.refuse(out_);
    return Fd{};
  }
  Fd ours{ends[is_input ? 1 : 0]};
  Fd theirs{ends[is_input ? 0 : 1]};
  stop_blocking(ours.get());
  (is_input ? channel.sink : channel.source) = std::move(ours);
  watch_channel(channel.number(), channel);
  return theirs;
}

Fd Carrier::receive_stream(Channel& channel) {
  int ends[2];
  if (is_full() || ::socketpair(AF_UNIX, kSocketType, 0, ends) != 0) {
    channel.refuse(out_);
    return Fd{};
  }
  channel.source.reset(ends[0]);
  channel.sink = copy_of(channel.source);
  watch_channel(channel.number(), channel);
  return Fd{ends[1]};
}

// A socket with a name that nobody else reaches, to which this end connects.
Fd Carrier::receive_listener(const CarriedFd& place) {
  Channel& channel = add_channel(place.channel, false, true);
  const sockaddr_un name = name_of(host_.sockets, place.port);
  Fd socket{::socket(AF_UNIX, kSocketType, 0)};
  remove_name(place.port);
  const bool listens =
      socket && host_.sockets &&
      ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0 &&
      ::listen(socket.get(), static_cast<int>(kMostOpen)) == 0;
  if (!listens) {
    channel.refuse(out_);
    return Fd{};
  }
  listeners_.emplace(place.channel, place.port);
  return socket;
}

bool Carrier::take_accepted(uint32_t listener, std::string_view bytes) {
  uint32_t number = 0;
  const auto at = listeners_.find(listener);
  if (!is_belljar_ || at == listeners_.end() || bytes.size() != sizeof number) return false;
  std::memcpy(&number, bytes.data(), sizeof number);
  if (!take_number(number)) return false;
  Channel& channel = add_channel(number, true, true);
  Fd connection = is_full() ? Fd{} : connect_to_listener(at->second);
  if (!connection) {
    channel.refuse(out_);
    return true;
  }
  channel.sink = copy_of(connection);
  channel.source = std::move(connection);
  watch_channel(number, channel);
  return true;
}

// Empty if nobody listens any more, or too many wait already.
Fd Carrier::connect_to_listener(uint32_t port) const {
  const sockaddr_un name = name_of(host_.sockets, port);
  Fd socket{::socket(AF_UNIX, kSocketType, 0)};
  if (!socket ||
      ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0)
    return Fd{};
  return socket;
}

void Carrier::forget_listener(uint32_t number) {
  const auto at = listeners_.find(number);
  if (at == listeners_.end()) return;
  remove_name(at->second);
  listeners_.erase(at);
}

void Carrier::remove_name(uint32_t port) const {
  if (!host_.sockets || port == 0) return;
  char name[16];
  std::snprintf(name, sizeof name, "%u", port);
  ::unlinkat(host_.sockets.get(), name, 0);
}

}  // namespace belljar::agent
