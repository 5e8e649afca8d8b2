#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/capabilities.h"

// What the host's own settings say: they decide how much a hole in the kernel would be worth, and
// why user namespaces are refused. Only reads, and never decides anything.
namespace belljar::linux_driver {

// The host's files, or for tests a directory with some of them.
class HostFiles {
 public:
  explicit HostFiles(std::string root = "") : root_{std::move(root)} {}

  // The content without the line's end; nothing if there is no such file or it may not be read.
  std::optional<std::string> read(const std::string& path) const;
  bool exists(const std::string& path) const;
  // A sysctl by its name, "kernel.kptr_restrict".
  std::optional<std::string> sysctl(std::string name) const;

 private:
  std::string root_;
};

// Each setting that matters, with its value, what it should be and why.
std::vector<HostSetting> check_settings(const HostFiles& host);

// Warnings about a kernel (`release` as from uname) that is older than fixes that are known.
KernelReport check_kernel(std::string release);

enum class Privileges { root, ordinary_user };

// Why this host may refuse namespaces to the launcher, and what to do about it.
std::string namespace_fix(const HostFiles& host, Privileges privileges);

// An AppArmor profile that lets the launcher at this path, and nothing else, use user namespaces.
// Error{invalid} for a path that cannot be written in one.
std::string apparmor_profile(std::string_view launcher);

}  // namespace belljar::linux_driver
