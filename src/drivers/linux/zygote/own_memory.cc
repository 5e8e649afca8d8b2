#include "drivers/linux/zygote/own_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <memory>

namespace belljar::zygote {

OwnMemory::OwnMemory() : file_{::open("/proc/self/mem", O_RDONLY | O_CLOEXEC)} {
  // Shared, so that it is not looked through: it has the same in it.
  void* const piece = ::mmap(nullptr, kPiece * sizeof(uint64_t), PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (piece != MAP_FAILED) piece_ = static_cast<uint64_t*>(piece);
  const std::unique_ptr<FILE, int (*)(FILE*)> maps{std::fopen("/proc/self/maps", "re"),
                                                   std::fclose};
  char line[512];
  while (maps && std::fgets(line, sizeof line, maps.get()) != nullptr) {
    unsigned long first = 0;
    unsigned long end = 0;
    char rights[5] = {};
    if (std::sscanf(line, "%lx-%lx %4s", &first, &end, rights) != 3) continue;
    if (std::strcmp(rights, "rw-p") != 0 || std::strstr(line, "[stack]") != nullptr) continue;
    mappings_.push_back({reinterpret_cast<uint64_t*>(first), reinterpret_cast<uint64_t*>(end),
                         std::strstr(line, "[heap]") != nullptr});
  }
}

OwnMemory::~OwnMemory() {
  if (piece_ != nullptr) ::munmap(piece_, kPiece * sizeof(uint64_t));
}

size_t OwnMemory::read(const uint64_t* place, const uint64_t* end) {
  if (piece_ == nullptr) return 0;
  const size_t words = std::min<size_t>(kPiece, static_cast<size_t>(end - place));
  const ssize_t size = ::pread(file_.get(), piece_, words * sizeof(uint64_t),
                               static_cast<off_t>(reinterpret_cast<uintptr_t>(place)));
  return size < 0 ? 0 : static_cast<size_t>(size) / sizeof(uint64_t);
}

}  // namespace belljar::zygote
