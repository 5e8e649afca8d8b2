// A package-lock.json of a client → which packages to fetch, and where to put them.
#include "packages/lockfile.h"

#include "base/utf8.h"
#include "fuzz.h"
#include "packages/layer_info.h"
#include "packages/platform.h"

namespace belljar::packages {
namespace {

using fuzz::expect;

void check_lockfile(std::string_view text) {
  const Lockfile lockfile = Lockfile::parse(text);
  for (const LockedPackage& package : lockfile.packages) {
    expect(package.path.starts_with("node_modules/"), "a package is beneath node_modules");
    expect(("/" + package.path + "/").find("/../") == std::string::npos, "and stays there");
    expect(package.in_bundle || !package.integrity.empty(), "what is fetched has a hash");
    expect(package.resolved.empty(), "no address of a client is asked");
  }
  const std::string written = lockfile.serialize();
  expect(is_utf8(written), "what is written is UTF-8");
  const Lockfile again = Lockfile::parse(written);
  expect(again.serialize() == written, "what was written is read and written as it was");
  const LayerTarget target{24, Platform{"linux", "x64", "glibc"}};
  expect(key_of(again, target) == key_of(lockfile, target), "and means the same");
  expect(wanted_packages(lockfile, target.platform).size() <= lockfile.packages.size(),
         "no package is invented");
}

}  // namespace
}  // namespace belljar::packages

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text = belljar::fuzz::text_of(data, size);
  belljar::fuzz::may_refuse([text] { belljar::packages::check_lockfile(text); });
  return 0;
}
