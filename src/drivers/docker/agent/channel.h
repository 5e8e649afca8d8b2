#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "drivers/docker/agent/frame.h"

namespace belljar::agent {

// write() that sends no signal if it is to a socket whose peer has gone.
ssize_t write_some(int fd, std::string_view bytes);

// One end of a channel: what is read from `source` goes to the other end, what comes from there
// goes to `sink`. Either may be missing: then nothing goes that way. Descriptors do not block; they
// are ready until they say otherwise. No function throws or blocks.
class Channel {
 public:
  // A channel that is refused has neither: what comes is dropped. `sends` and `receives` say in
  // which directions it leads.
  Channel(uint32_t number, bool sends, bool receives);
  Channel(Channel&&) = default;

  Fd source;
  Fd sink;
  bool source_is_ready = false;
  bool sink_is_ready = false;

  uint32_t number() const { return number_; }

  // Says to the other end that nothing will be read and nothing taken here.
  void refuse(FrameQueue& out);

  // There is something to be read that may go.
  bool can_send() const { return source && source_is_ready && may_send_ > 0; }

  // As far as it goes. What must be said to the other end is in `out`.
  void pump(FrameQueue& out);

  // The reader of the sink has gone.
  void lose_sink(FrameQueue& out);

  // What the other end says. False if it may not.
  bool take_data(std::string_view bytes);
  bool take_end();
  bool take_credit(uint32_t count);
  void take_gone(FrameQueue& out);

  // Both ends know that nothing will be said of it any more, but for what is to be ignored.
  bool is_over() const { return !sends_ && !receives_ && arrived_.empty() && !sink; }

 private:
  void read_source(FrameQueue& out);
  void write_sink(FrameQueue& out);
  void finish_sending(FrameQueue& out);

  uint32_t number_;
  bool sends_;  // its end was not said yet
  uint32_t may_send_ = kWindow;
  bool receives_;  // its end has not come yet
  uint32_t may_come_ = kWindow;
  uint32_t taken_ = 0;   // since the other end was told
  std::string arrived_;  // and not yet written
};

}  // namespace belljar::agent
