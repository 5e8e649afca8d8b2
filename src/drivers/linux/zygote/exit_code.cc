#include "drivers/linux/zygote/exit_code.h"

#include "drivers/linux/zygote/own_memory.h"

namespace belljar::zygote {

namespace {

// node::ExitInfoField: whether it is exiting, the code, and whether there is one.
enum Field { exiting, code, has_code };

bool is_at(const int32_t* fields, int32_t value) {
  return fields[exiting] == 0 && fields[code] == value && fields[has_code] == 1;
}

}  // namespace

void ExitCode::look_for(int32_t value) {
  count_ = 0;
  OwnMemory{}.find(2, false, [this, value](const uint64_t* words, uint64_t* place) {
    const auto* const fields = reinterpret_cast<const int32_t*>(words);
    for (const int i : {0, 1}) {
      if (count_ < kMost && is_at(fields + i, value))
        places_[count_++] = reinterpret_cast<int32_t*>(place) + i;
    }
  });
}

bool ExitCode::confirm(int32_t value) {
  int kept = 0;
  for (int i = 0; i < count_; ++i) {
    if (is_at(places_[i], value)) places_[kept++] = places_[i];
  }
  count_ = kept;
  return count_ == 1;
}

int ExitCode::get() const {
  return places_[0][has_code] != 0 ? places_[0][code] : 0;
}

bool ExitCode::is_exiting() const {
  return count_ == 1 && places_[0][exiting] != 0;
}

}  // namespace belljar::zygote
