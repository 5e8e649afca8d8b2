#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/json.h"
#include "drivers/docker/pull_refusal.h"

namespace belljar::docker {

// What an image may cost (attack DK04).
struct PullLimits {
  uint64_t download = 4ull << 30;  // bytes, packed, as far as the registry says them beforehand
  uint64_t size = 8ull << 30;      // bytes, unpacked
  int layers = 128;
  std::chrono::milliseconds time{600'000};
};

// Reads what an engine says while it pulls, as lines of JSON, each of which may repeat what a
// registry said. No input or output of its own.
class PullProgress {
 public:
  PullProgress(PullSubject subject, PullLimits limits);

  // Throws what the engine says went wrong (refuse_pull()), and Error{exhausted} once the image is
  // known to be over a limit.
  void feed(std::string_view bytes);
  void feed_end();  // throws if the last line is not complete

  // How far it is, in words: "pulling node:24: 2 of 5 layers, 30 MiB of 120 MiB".
  std::string text() const;

 private:
  struct Layer {
    uint64_t size = 0;  // packed; 0 unknown
    uint64_t received = 0;
    bool is_done = false;
  };
  void read_line(std::string_view line);
  void read_layer(const std::string& id, std::string_view status, const json::object& line);
  void check_limits() const;

  PullSubject subject_;
  PullLimits limits_;
  std::string unread_;  // the start of a line
  std::map<std::string, Layer> layers_;
};

}  // namespace belljar::docker
