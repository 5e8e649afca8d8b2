// Zygotes that take the place of others, and those whose time is over.
#include <cstring>

#include "drivers/linux/launcher/launcher.h"

namespace belljar::launcher {

void Launcher::on_zygote_ready(Zygote& zygote) {
  answer(ReplyType::done, zygote.serial, zygote.number, 0, "");
  zygote.serial = 0;
  retire_others(zygote.image, zygote.limits, &zygote);
}

bool Launcher::owes_copies(uint64_t zygote) const {
  for (const auto& [id, jar] : jars_) {
    for (const auto& [number, program] : jar->programs) {
      if (program->zygote != 0 && (zygote == 0 || program->zygote == zygote)) return true;
    }
  }
  return false;
}

// Those it has made go on without it, and those it was asked for are still made.
void Launcher::retire(Zygote& zygote) {
  zygote.retired = true;
  if (!owes_copies(zygote.id)) lose(zygote);
}

// All of this kind that are ready, but their successor, if there is one. Of two that start at the
// same time the later one stays.
void Launcher::retire_others(uint32_t image, const SandboxLimits& limits, const Zygote* successor) {
  for (const auto& [id, zygote] : zygotes_) {
    const bool is_such =
        zygote->image == image && std::memcmp(&zygote->limits, &limits, sizeof limits) == 0;
    const bool is_ready = zygote->control && zygote->serial == 0;
    if (is_such && is_ready && zygote.get() != successor) retire(*zygote);
  }
}

}  // namespace belljar::launcher
