#include "packages/picks.h"

namespace belljar::packages {

Picks::Pick* Picks::find(const PackageSpec& spec) {
  const auto at = picks_.find(key(spec));
  return at != picks_.end() ? &at->second : nullptr;
}

Picks::Pick& Picks::add(const PackageSpec& spec, Pick pick) {
  if (pick.manifest != nullptr) {
    std::string id = pick.manifest->name + "@" + pick.manifest->version_text;
    pick.manifest = manifests_.emplace(std::move(id), pick.manifest).first->second;
  }
  return picks_.insert_or_assign(key(spec), std::move(pick)).first->second;
}

}  // namespace belljar::packages
