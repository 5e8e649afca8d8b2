#pragma once

#include <optional>
#include <string>

#include "base/task.h"
#include "packages/registry.h"
#include "runtime/runtime_store.h"

namespace belljar::runtime {

// The linter that looks at a program that failed. It belongs to a runtime and is run in sandboxes
// only, where it is /usr/local/<kLinter>: nothing downloaded is ever run on the host. A runtime may
// be without it.
inline constexpr const char* kLinter = "libexec/belljar/oxlint";

bool has_linter(const std::string& prefix);

// The linter's package, checked against the registry's integrity, as Registry::download() gives it.
// Nothing if it cannot be had: help is not worth failing for, so that is only logged.
Task<std::optional<Fd>> download_linter(packages::Registry& registry, std::string directory);

// Puts the linter into a prefix in which there is no libexec yet. The package is unpacked as
// hostile, and must hold a program for this machine. Never throws: what went wrong is logged, and
// the prefix is as before. Only with the store's lock. Blocks for a moment: call it by
// run_blocking().
void add_linter(int tarball, const std::string& prefix);

}  // namespace belljar::runtime
