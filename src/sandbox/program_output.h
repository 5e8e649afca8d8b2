#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <memory>

#include "base/fd.h"
#include "base/task.h"
#include "sandbox/command.h"

namespace belljar {

// Carries what a program prints from its two pipes to a sink, as it appears and at a bounded rate.
class ProgramOutput : public std::enable_shared_from_this<ProgramOutput> {
 public:
  ProgramOutput(const asio::any_io_executor& executor, Fd output, Fd errors, OutputSink& sink);

  void begin();

  // Until both pipes have ended. A child that outlives the program may hold them open: what they
  // have after a short grace is all.
  Task<> finish();

  // From now on the sink is not used any more.
  void detach();

 private:
  using Descriptor = asio::posix::stream_descriptor;
  void read_when_ready(Descriptor& pipe, Stream stream);
  void read(Descriptor& pipe, Stream stream);
  void read_more(Descriptor& pipe, Stream stream, size_t size);
  void read_rest();

  Descriptor out_;
  Descriptor err_;
  OutputSink* sink_;
  asio::steady_timer pause_of_out_;
  asio::steady_timer pause_of_err_;
  std::chrono::steady_clock::time_point end_of_while_;
  size_t read_in_while_ = 0;
  Event drained_;
};

}  // namespace belljar
