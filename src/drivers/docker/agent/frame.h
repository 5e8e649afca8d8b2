#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "drivers/docker/agent/protocol.h"

// How packets and descriptors pass through one stream of bytes, where a container has a kernel of
// its own and so shares neither sockets nor descriptors with belljar. In place of a descriptor
// there is a numbered channel, whose bytes both ends pump. On the wire: heads, each with so many
// bytes after it. belljar gives odd numbers to channels, the container even ones, none twice, in
// order.
namespace belljar::agent {

enum class FrameType : uint32_t {
  packet = 1,  // a CarriedPacket and its bytes; on channel 0
  file,        // of the packet that follows: a part of a sealed file; an empty one ends it
  data,        // at most kMostData, and within the receiver's window
  end,         // the sender has no more data for the channel
  gone,        // the sender does not take any more data of the channel: an end is to follow
  credit,      // uint32_t: so many bytes more may be sent
  accepted,    // uint32_t: the number of a new channel, a connection that a listener has accepted
};

struct FrameHead {
  FrameType type;
  uint32_t channel;
  uint32_t size;  // of what follows
};

constexpr uint32_t kMostData = 32 << 10;
constexpr uint32_t kWindow = 128 << 10;  // bytes under way per channel and direction
constexpr size_t kMostOpen = 512;        // channels with descriptors; others are refused
constexpr size_t kMostKnown = 4096;      // with those that were refused and have not ended yet

// What stands for a descriptor. The words are those of whoever receives it.
enum class ChannelKind : uint32_t {
  input = 1,  // to be read
  output,     // to be written to
  file,       // to be read, sealed: the files that came before, in order
  stream,     // a connection
  listener,   // a socket that listens in the container
  directory,  // the workspace, which belljar finds by itself
};

struct CarriedFd {
  ChannelKind kind;
  uint32_t channel;  // 0 if there is none: file, directory
  uint32_t port;     // listener
};

struct CarriedPacket {
  uint32_t fds;
  CarriedFd places[kMaxFds];
};

// The longest message of protocol.h fits.
constexpr size_t kMostPacket = 512;
constexpr size_t kMostFrame = kMostData;
static_assert(sizeof(CarriedPacket) + kMostPacket <= kMostFrame);
static_assert(sizeof(Hello) <= kMostPacket && sizeof(Reply) <= kMostPacket);

// Frames on their way out.
class FrameQueue {
 public:
  void add(FrameType type, uint32_t channel, std::string_view bytes = {}) {
    const FrameHead head{type, channel, static_cast<uint32_t>(bytes.size())};
    bytes_.append(reinterpret_cast<const char*>(&head), sizeof head).append(bytes);
  }
  void add_number(FrameType type, uint32_t channel, uint32_t number) {
    add(type, channel, {reinterpret_cast<const char*>(&number), sizeof number});
  }

  // Whether more is to be read that has to go out. What must be said in answer does not ask.
  bool has_room() const { return bytes_.size() < kMostUnsent; }
  std::string_view unsent() const { return bytes_; }
  void sent(size_t count) { bytes_.erase(0, count); }

 private:
  static constexpr size_t kMostUnsent = 2 * kMostData;

  std::string bytes_;
};

}  // namespace belljar::agent
