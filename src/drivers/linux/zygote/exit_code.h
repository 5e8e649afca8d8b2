#pragma once

#include <cstdint>

namespace belljar::zygote {

// Where Node.js keeps process.exitCode: it must be known when JavaScript cannot be asked any more.
// The field is not exported; it is found by its content, twice.
class ExitCode {
 public:
  // With process.exitCode set to `value`: keeps the places where that stands.
  void look_for(int32_t value);
  // With process.exitCode set to another one: true if exactly one place has changed to it.
  bool confirm(int32_t value);

  int get() const;
  bool is_exiting() const;  // the 'exit' event is near, or over

 private:
  static constexpr int kMost = 64;
  int32_t* places_[kMost] = {};
  int count_ = 0;
};

}  // namespace belljar::zygote
