#include "runtime/linter.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/error.h"
#include "base/log.h"
#include "packages/tarball.h"
#include "runtime/elf.h"
#include "runtime/unpack_runtime.h"

namespace belljar::runtime {
namespace {

#if defined(__x86_64__)
constexpr const char* kPackage = "@oxlint/linux-x64-gnu";
#else
constexpr const char* kPackage = "@oxlint/linux-arm64-gnu";
#endif

// The last one that is a program of its own and ends within milliseconds. Later ones are libraries
// for Node.js, whose start alone takes longer than a failing run may be held up.
constexpr const char* kVersion = "1.16.0";

constexpr uint64_t kLargest = 64u << 20;  // unpacked

void unpack_linter(int tarball, const std::string& directory) {
  packages::UnpackOptions options;
  options.max_entries = 100;
  options.max_bytes = kLargest;
  options.wanted = [](std::string_view path) { return path == "oxlint" || path == "LICENSE"; };
  const Fd into{
      sys(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC), "open {}", directory)};
  packages::unpack_tarball(tarball, into.get(), options);
  if (const auto why = why_not_a_program(directory + "/oxlint"))
    fail(Code::denied, "the package does not hold a linter for this machine: {}", *why);
}

}  // namespace

bool has_linter(const std::string& prefix) {
  return ::access((prefix + "/" + kLinter).c_str(), X_OK) == 0;
}

Task<std::optional<Fd>> download_linter(packages::Registry& registry, std::string directory) {
  try {
    const packages::PackageDocument document = co_await registry.document(kPackage);
    const packages::PackageVersion* linter = document.select(kVersion);
    if (linter == nullptr) fail(Code::not_found, "the registry has no {} {}", kPackage, kVersion);
    packages::DownloadProgress silent;
    co_return co_await registry.download(*linter, std::move(directory), std::move(silent));
  } catch (const Error& error) {
    if (error.code() == Code::cancelled) throw;
    log::warning("programs that fail will not be linted: {}", error.what());
  }
  co_return std::nullopt;
}

void add_linter(int tarball, const std::string& prefix) {
  try {
    // Built beside its place and renamed, so that it is there complete or not at all.
    TemporaryTree tree{prefix + "/.tmp-libexec"};
    std::error_code ignored;
    std::filesystem::remove_all(tree.path(), ignored);  // what a crash may have left
    make_public_directory(tree.path());
    make_public_directory(tree.path() + "/belljar");
    unpack_linter(tarball, tree.path() + "/belljar");
    const std::string place = prefix + "/libexec";
    sys(::rename(tree.path().c_str(), place.c_str()), "create {}", place);
    tree.keep();
  } catch (const Error& error) {
    log::warning("programs that fail on {} will not be linted: {}", prefix, error.what());
  }
}

}  // namespace belljar::runtime
