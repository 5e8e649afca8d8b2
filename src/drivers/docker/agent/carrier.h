#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "drivers/docker/agent/channel.h"
#include "drivers/docker/agent/stream_reader.h"

namespace belljar::agent {

// One end of a stream of bytes through which packets with descriptors pass (frame.h), and the same
// on either side: what comes through the stream is given to whoever has the other end of `packets`,
// and the reverse. All that comes through the stream is checked: whoever breaks a rule is not
// spoken to any more. Neither blocks nor throws; memory is bounded by kMostOpen channels with a
// window each.
class Carrier {
 public:
  struct Ends {
    Fd input;  // of the stream; neither blocks
    Fd output;
    Fd packets;  // SOCK_SEQPACKET, does not block
  };

  // What belljar's end has, and a container's has not.
  struct Host {
    Fd workspace;  // handed out for a directory; may be empty
    Fd sockets;    // a directory of nobody else's, where listeners have their names: their ports
    bool has_heads = true;  // the stream comes from an engine: see StreamReader
  };

  static Carrier in_container(Ends ends) {
    return Carrier{std::move(ends), false, {{}, {}, false}};
  }
  static Carrier of_belljar(Ends ends, Host host) {
    return Carrier{std::move(ends), true, std::move(host)};
  }
  Carrier(Carrier&&) = default;
  ~Carrier();

  // To be read from when there is something to do.
  int handle() const { return events_.get(); }

  // Does what there is to do. False: either side has ended, or has broken a rule.
  bool work();

 private:
  Carrier(Ends ends, bool is_belljar, Host host);

  struct Outgoing {  // a packet that was read, until its files have gone
    std::string bytes;
    std::vector<Fd> fds;
    size_t next = 0;  // of them
    off_t at = 0;     // in that file
  };
  struct Incoming {  // a packet that has come, until it is taken
    std::string bytes;
    std::vector<Fd> fds;
  };

  void take_events();
  void take_event(uint64_t what, uint32_t events);
  bool watch(int fd, uint64_t what, uint32_t events);
  void watch_channel(uint32_t number, Channel& channel);
  void watch_stream(bool is_wanted);

  bool read_stream();
  bool parse();
  bool take_frame(const FrameHead& head, std::string_view bytes);
  bool take_channel_frame(const FrameHead& head, std::string_view bytes);
  bool take_file(std::string_view bytes);
  bool take_packet(std::string_view bytes);
  bool take_accepted(uint32_t listener, std::string_view bytes);
  bool take_number(uint32_t number);  // of a channel that the other end has opened
  bool is_right(const CarriedFd& place) const;
  Fd receive_fd(const CarriedFd& place);
  Fd receive_pipe(Channel& channel, bool is_input);
  Fd receive_stream(Channel& channel);
  Fd receive_listener(const CarriedFd& place);
  bool deliver();

  void pump_channels();
  bool has_more() const;
  void accept_all(uint32_t number, Channel& channel);
  Fd connect_to_listener(uint32_t port) const;
  void forget_listener(uint32_t number);
  void remove_name(uint32_t port) const;
  Channel& add_channel(uint32_t number, bool sends, bool receives);
  bool is_full() const { return channels_.size() >= kMostOpen; }

  bool read_packets();
  bool send_outgoing();
  int send_file(int fd, off_t& at);
  CarriedFd send_fd(Fd& fd);
  uint32_t open_channel(Fd source, Fd sink);
  bool write_stream();

  Ends ends_;
  bool is_belljar_;
  Host host_;
  Fd events_;
  StreamReader reader_;
  FrameQueue out_;
  bool can_write_ = true;
  bool can_read_packets_ = true;
  bool reads_stream_ = true;
  std::map<uint32_t, Channel> channels_;
  std::map<uint32_t, uint32_t> listeners_;  // their ports; in the container 0
  std::vector<Fd> files_;                   // that have come; the last one may lack something
  bool has_open_file_ = false;
  uint32_t next_ours_;
  uint32_t next_theirs_;
  std::vector<Outgoing> outgoing_;  // at most one
  std::vector<Incoming> incoming_;  // at most one
};

}  // namespace belljar::agent
