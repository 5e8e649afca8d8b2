#pragma once

#include <string>
#include <vector>

namespace belljar::packages {

struct Lockfile;
struct LockedPackage;

// Where packages are to run, in the words of npm.
struct Platform {
  std::string os = "linux";
  std::string cpu;             // "x64", "arm64"
  std::string libc = "glibc";  // or "musl"

  static Platform of_this_machine();
  bool operator==(const Platform&) const = default;
};

// True if the package is for that platform: "!win32" means any other, "any" means what it says.
bool suits(const LockedPackage& package, const Platform& platform);

// The packages of the tree that npm would put on the disk there, sorted by path: all but optional
// ones for other platforms and those at the paths that `failed`, those that need one of these, and
// what only they need. Error{unavailable} if one that is not optional is for another platform.
std::vector<const LockedPackage*> wanted_packages(const Lockfile& lockfile,
                                                  const Platform& platform,
                                                  const std::vector<std::string>& failed = {});

}  // namespace belljar::packages
