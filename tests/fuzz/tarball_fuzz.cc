// A tarball, gzipped or plain → files in memory, files on disk, and a Node.js runtime.
#include <signal.h>
#include <sys/resource.h>

#include <cstring>
#include <optional>

#include "base/posix.h"
#include "fuzz.h"
#include "packages/tarball.h"
#include "runtime/unpack_runtime.h"
#include "unpack_place.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace belljar {
namespace {

using fuzz::expect;
using packages::UnpackOptions;

constexpr size_t kBlock = 512;

void check_unpacking(int tarball, const UnpackOptions& options) {
  const fuzz::Place place;
  std::optional<packages::Unpacked> unpacked;
  fuzz::may_refuse([&] {
    const Fd directory = open_directory(place.path());
    unpacked = packages::unpack_tarball(tarball, directory.get(), options);
  });
  const size_t files = place.check();
  if (!unpacked) return;
  expect(unpacked->files == files, "files are counted");
  expect(unpacked->bytes <= options.max_bytes, "the limit is kept");
  expect(packages::read_tarball(tarball, options, {}).size() == files,
         "memory gets the same files");
}

void check_runtime(int tarball) {
  const fuzz::Place place;
  runtime::unpack_runtime(tarball, tarball, place.path());
}

// A changed header has a wrong checksum and would only ever be refused for that.
void repair_checksums(uint8_t* data, size_t size) {
  constexpr size_t kMagic = 257, kChecksum = 148;
  for (size_t at = 0; at + kBlock <= size; at += kBlock) {
    uint8_t* header = data + at;
    if (std::memcmp(header + kMagic, "ustar", 5) != 0) continue;
    std::memset(header + kChecksum, ' ', 8);
    unsigned sum = 0;
    for (size_t i = 0; i < kBlock; ++i) sum += header[i];
    fmt::format_to(header + kChecksum, "{:06o}", sum);
    header[kChecksum + 6] = 0;
  }
}

}  // namespace
}  // namespace belljar

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  // A sparse file may be gigabytes of nothing: allowed, but too slow to write here.
  ::signal(SIGXFSZ, SIG_IGN);
  const rlimit largest{4u << 20, 4u << 20};
  ::setrlimit(RLIMIT_FSIZE, &largest);
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned) {
  size = LLVMFuzzerMutate(data, size, max_size);
  belljar::repair_checksums(data, size);
  return size;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace belljar;
  const Fd tarball = fuzz::memory_file(fuzz::text_of(data, size));
  packages::UnpackOptions options;
  options.max_entries = 64;
  options.max_bytes = 1u << 20;
  check_unpacking(tarball.get(), options);
  options.wanted = [](std::string_view path) { return path.ends_with(".json"); };
  fuzz::may_refuse([&] { packages::read_tarball(tarball.get(), options, {}); });
  fuzz::may_refuse([&] { check_runtime(tarball.get()); });
  return 0;
}
