#include "drivers/docker/agent/carrier.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "drivers/docker/agent/packet.h"

namespace belljar::agent {

namespace {

// What events are about: a channel's number and which side of it, or one of our own ends.
enum Side : uint64_t { kSource = 0, kSink = 1, kInput = 2, kOutput = 3, kPackets = 4 };
constexpr uint64_t kSides = 8;

// Of the stream, before others have their turn.
constexpr int kMostReads = 16;

bool is_passing(int error) {
  return error == EAGAIN || error == EINTR;
}

}  // namespace

Carrier::Carrier(Ends ends, bool is_belljar, Host host)
    : ends_{std::move(ends)},
      is_belljar_{is_belljar},
      host_{std::move(host)},
      events_{::epoll_create1(EPOLL_CLOEXEC)},
      reader_{host_.has_heads},
      next_ours_{is_belljar ? 1u : 2u},
      next_theirs_{is_belljar ? 2u : 1u} {
  watch(ends_.input.get(), kInput, EPOLLIN);
  watch(ends_.output.get(), kOutput, EPOLLOUT | EPOLLET);
  watch(ends_.packets.get(), kPackets, EPOLLIN | EPOLLOUT | EPOLLET);
}

Carrier::~Carrier() {
  for (const auto& [number, port] : listeners_) remove_name(port);
}

bool Carrier::watch(int fd, uint64_t what, uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = what;
  return ::epoll_ctl(events_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

// What cannot be waited for, as a file, is always ready.
void Carrier::watch_channel(uint32_t number, Channel& channel) {
  const uint64_t what = number * kSides;
  if (channel.source)
    channel.source_is_ready = !watch(channel.source.get(), what + kSource, EPOLLIN | EPOLLET);
  if (channel.sink)
    channel.sink_is_ready = !watch(channel.sink.get(), what + kSink, EPOLLOUT | EPOLLET);
}

// Unlike the others it is told of as long as there is something: it is not always read to its end.
void Carrier::watch_stream(bool is_wanted) {
  if (is_wanted == reads_stream_) return;
  reads_stream_ = is_wanted;
  epoll_event event{};
  event.events = is_wanted ? EPOLLIN : 0u;
  event.data.u64 = kInput;
  ::epoll_ctl(events_.get(), EPOLL_CTL_MOD, ends_.input.get(), &event);
}

void Carrier::take_events() {
  constexpr int kMost = 64;
  epoll_event list[kMost];
  int count = 0;
  do {
    count = ::epoll_wait(events_.get(), list, kMost, 0);
    for (int i = 0; i < count; ++i) take_event(list[i].data.u64, list[i].events);
  } while (count == kMost);
}

void Carrier::take_event(uint64_t what, uint32_t events) {
  if (what == kOutput) can_write_ = true;
  if (what == kPackets) can_read_packets_ = true;
  const auto at = channels_.find(static_cast<uint32_t>(what / kSides));
  if (at == channels_.end()) return;
  Channel& channel = at->second;
  if (what % kSides == kSource) channel.source_is_ready = true;
  if (what % kSides != kSink) return;
  channel.sink_is_ready = true;
  if ((events & (EPOLLERR | EPOLLHUP)) != 0) channel.lose_sink(out_);
}

bool Carrier::work() {
  if (!events_) return false;
  take_events();
  if (!deliver() || !parse() || !read_stream()) return false;
  // Before packets: what a program did comes before its end.
  pump_channels();
  if (!read_packets() || !write_stream()) return false;
  // What has gone out has made room.
  while (can_write_ && out_.has_room() && has_more()) {
    pump_channels();
    if (!read_packets() || !write_stream()) return false;
  }
  watch_stream(incoming_.empty());
  return true;
}

bool Carrier::read_stream() {
  char bytes[kMostData];
  for (int i = 0; i < kMostReads && incoming_.empty(); ++i) {
    const ssize_t count = ::read(ends_.input.get(), bytes, sizeof bytes);
    if (count < 0 && is_passing(errno)) return true;
    if (count <= 0 || !reader_.feed({bytes, static_cast<size_t>(count)}) || !parse()) return false;
  }
  return true;
}

// Up to a packet that nobody takes yet.
bool Carrier::parse() {
  while (incoming_.empty()) {
    const std::string_view content = reader_.content();
    FrameHead head{};
    if (content.size() < sizeof head) return true;
    std::memcpy(&head, content.data(), sizeof head);
    if (head.size > kMostFrame) return false;
    if (content.size() - sizeof head < head.size) return true;
    if (!take_frame(head, content.substr(sizeof head, head.size))) return false;
    reader_.take(sizeof head + head.size);
  }
  return true;
}

bool Carrier::take_frame(const FrameHead& head, std::string_view bytes) {
  switch (head.type) {
    case FrameType::packet: return take_packet(bytes);
    case FrameType::file: return take_file(bytes);
    case FrameType::accepted: return take_accepted(head.channel, bytes);
    case FrameType::data:
    case FrameType::end:
    case FrameType::gone:
    case FrameType::credit: return take_channel_frame(head, bytes);
  }
  return false;
}

bool Carrier::take_channel_frame(const FrameHead& head, std::string_view bytes) {
  const auto at = channels_.find(head.channel);
  if (at == channels_.end()) {
    // What the other end says of data that it has not got yet, or did not want: too late.
    const bool is_ours = head.channel % 2 == next_ours_ % 2;
    const bool was_there = head.channel < (is_ours ? next_ours_ : next_theirs_);
    return was_there && (head.type == FrameType::gone || head.type == FrameType::credit);
  }
  Channel& channel = at->second;
  uint32_t count = 0;
  switch (head.type) {
    case FrameType::data: return channel.take_data(bytes);
    case FrameType::end: return bytes.empty() && channel.take_end();
    case FrameType::gone: channel.take_gone(out_); return bytes.empty();
    default: break;
  }
  if (bytes.size() != sizeof count) return false;
  std::memcpy(&count, bytes.data(), sizeof count);
  return channel.take_credit(count);
}

Channel& Carrier::add_channel(uint32_t number, bool sends, bool receives) {
  return channels_.emplace(number, Channel{number, sends, receives}).first->second;
}

void Carrier::pump_channels() {
  for (auto at = channels_.begin(); at != channels_.end();) {
    auto& [number, channel] = *at;
    if (listeners_.contains(number)) {
      accept_all(number, channel);
    } else {
      channel.pump(out_);
    }
    if (channel.is_over()) {
      forget_listener(number);
      at = channels_.erase(at);
    } else {
      ++at;
    }
  }
}

bool Carrier::has_more() const {
  for (const auto& [number, channel] : channels_) {
    const bool accepts = listeners_.contains(number) && channel.source_is_ready && !is_full();
    if (accepts || (!listeners_.contains(number) && channel.can_send())) return true;
  }
  return !outgoing_.empty() || can_read_packets_;
}

// Gives the packet that has come to whoever waits for it, if there is room.
bool Carrier::deliver() {
  if (incoming_.empty()) return true;
  const Incoming& packet = incoming_.front();
  std::vector<int> fds;
  fds.reserve(packet.fds.size());
  for (const Fd& fd : packet.fds) fds.push_back(fd.get());
  const int error = send_packet(ends_.packets.get(), packet.bytes.data(), packet.bytes.size(), fds);
  if (is_passing(error)) return true;
  incoming_.clear();
  return error == 0;
}

bool Carrier::read_packets() {
  while (can_read_packets_ && out_.has_room()) {
    if (!send_outgoing()) return false;
    if (!outgoing_.empty()) return true;
    char bytes[kMostPacket];
    std::vector<Fd> fds(kMaxFds);
    const Packet packet = receive_packet(ends_.packets.get(), bytes, sizeof bytes, fds);
    if (is_passing(packet.error)) {
      can_read_packets_ = false;
      return true;
    }
    if (packet.error != 0 || packet.size == 0) return false;
    fds.resize(packet.whole ? packet.fds : 0);
    outgoing_.push_back({std::string{bytes, packet.size}, std::move(fds)});
  }
  return send_outgoing();
}

bool Carrier::write_stream() {
  while (can_write_ && !out_.unsent().empty()) {
    const std::string_view bytes = out_.unsent();
    const ssize_t count = write_some(ends_.output.get(), bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && !is_passing(errno)) return false;
    if (count < 0) {
      can_write_ = false;
    } else {
      out_.sent(static_cast<size_t>(count));
    }
  }
  return true;
}

}  // namespace belljar::agent
