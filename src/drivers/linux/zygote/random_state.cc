#include "drivers/linux/zygote/random_state.h"

#include <sys/random.h>

#include <bit>

#include "drivers/linux/zygote/own_memory.h"

namespace belljar::zygote {

namespace {

// More numbers than Node.js takes until it serves.
constexpr int kMostSteps = 4096;

// What v8::base::RandomNumberGenerator does.
struct Generator {
  uint64_t first;
  uint64_t second;

  static uint64_t mixed(uint64_t value) {
    value ^= value >> 33;
    value *= 0xff51afd7ed558ccdull;
    value ^= value >> 33;
    value *= 0xc4ceb9fe1a85ec53ull;
    return value ^ (value >> 33);
  }
  static Generator of(uint64_t seed) {
    const uint64_t first = mixed(seed);
    return {first, mixed(~first)};
  }
  void step() {
    uint64_t next = first;
    first = second;
    next ^= next << 23;
    next ^= next >> 17;
    next ^= first;
    next ^= first >> 26;
    second = next;
  }
};

// Neither a pointer nor a small number nor text, which is nearly all there is.
bool looks_random(uint64_t value) {
  const int bits = std::popcount(value);
  return (value >> 48) != 0 && bits >= 14 && bits <= 50;
}

// A seed, and a state that is some steps from it.
bool is_generator(const uint64_t* words) {
  if (!looks_random(words[0]) || !looks_random(words[1]) || !looks_random(words[2])) return false;
  Generator generator = Generator::of(words[0]);
  for (int i = 0; i < kMostSteps; ++i) {
    if (generator.first == words[1] && generator.second == words[2]) return true;
    generator.step();
  }
  return false;
}

}  // namespace

bool RandomState::find() {
  count_ = 0;
  OwnMemory{}.find(3, true, [this](const uint64_t* words, uint64_t* place) {
    if (!is_generator(words)) return;
    if (count_ < kMost) states_[count_] = place + 1;
    ++count_;
  });
  return count_ > 0 && count_ <= kMost;
}

bool RandomState::renew() const {
  constexpr size_t kSize = 2 * sizeof(uint64_t);
  for (int i = 0; i < count_; ++i) {
    if (::getrandom(states_[i], kSize, 0) != static_cast<ssize_t>(kSize)) return false;
  }
  return true;
}

}  // namespace belljar::zygote
