#include "packages/verify.h"

#include "packages/parallel.h"

namespace belljar::packages {
namespace {

// Few enough to end soon after a cancellation, many enough to be worth a thread's while.
constexpr size_t kSlice = 256;

Task<> check_slice(const TreeManifest& manifest, int directory, size_t number,
                   std::string& damage) {
  if (!damage.empty()) co_return;
  auto check = [&manifest, directory, number] {
    return find_changed_file(manifest, directory, number * kSlice, (number + 1) * kSlice);
  };
  const std::string found = co_await run_blocking(check);
  if (damage.empty()) damage = found;
}

}  // namespace

Task<std::string> find_damage(const TreeManifest& manifest, int directory) {
  auto compare = [&manifest, directory] { return find_difference(manifest, directory); };
  std::string damage = co_await run_blocking(compare);
  if (!damage.empty()) co_return damage;
  std::function<Task<>(size_t)> slice = [&manifest, directory, &damage](size_t number) {
    return check_slice(manifest, directory, number, damage);
  };
  co_await in_parallel((manifest.files.size() + kSlice - 1) / kSlice, std::move(slice));
  co_return damage;
}

}  // namespace belljar::packages
