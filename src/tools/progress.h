#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "mcp/tool.h"
#include "sandbox/run.h"

namespace belljar::tools {

// Sends a program's output to the client as progress messages while it runs: valid UTF-8, each of
// at most about 1,000 bytes (the newest ones), and no more messages than a client can take: what is
// skipped is in the result all the same. Must outlive the run.
class OutputProgress {
 public:
  OutputProgress(mcp::Call& call, const Clock& clock);
  OutputProgress(const OutputProgress&) = delete;
  OutputProgress& operator=(const OutputProgress&) = delete;

  // Empty if the client did not ask for progress.
  LiveOutput live();

 private:
  void write(Stream stream, std::string_view bytes);
  bool may_send();

  mcp::Call& call_;
  const Clock& clock_;
  std::string pending_[2];  // per stream: a character of which not all bytes have arrived
  double budget_;           // messages that may be sent now
  Clock::Time refilled_;
};

}  // namespace belljar::tools
