#pragma once

#include <cstdint>

namespace belljar::zygote {

// V8 takes the seeds of Math.random() from a generator that copies inherit, so that all would
// return the same numbers. It is not exported; it is found by its content, which no chance makes: a
// seed, and a state that follows from it.
class RandomState {
 public:
  // In the zygote. False if there is none.
  bool find();

  // In a copy: states that nobody else has. False if the kernel has no random numbers.
  bool renew() const;

 private:
  static constexpr int kMost = 16;
  uint64_t* states_[kMost] = {};
  int count_ = 0;
};

}  // namespace belljar::zygote
