#pragma once

#include <string>
#include <string_view>

#include "drivers/docker/registry_credentials.h"

namespace belljar::docker {

// One pull, as it is told when it fails.
struct PullSubject {
  std::string image;                     // as the caller named it
  std::string registry;                  // "ghcr.io"
  const RegistryLogin* login = nullptr;  // nullptr: asked for as nobody
};

// Throws what the words of an engine mean, which repeat those of a registry: Error{denied} if the
// registry does not give the image to us, Error{not_found} if it has none, else
// Error{unavailable}. `status` is that of the engine's answer. Words that repeat a credential are
// left out: whoever called would read them.
[[noreturn]] void refuse_pull(const PullSubject& subject, int status, std::string_view words);

}  // namespace belljar::docker
