#include "drivers/docker/agent/c_library.h"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/fd.h"

namespace belljar::agent {

namespace {

template <class Part>
bool read_part(int file, uint64_t offset, Part& part) {
  return ::pread(file, &part, sizeof part, static_cast<off_t>(offset)) == ssize_t{sizeof part};
}

}  // namespace

bool is_for_musl(const char* path) {
  constexpr unsigned kMostParts = 64;
  const Fd file{::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  Elf64_Ehdr head{};
  if (!file || !read_part(file.get(), 0, head) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
      head.e_ident[EI_CLASS] != ELFCLASS64)
    return false;
  for (unsigned i = 0; i < std::min<unsigned>(head.e_phnum, kMostParts); ++i) {
    Elf64_Phdr part{};
    if (!read_part(file.get(), head.e_phoff + i * sizeof part, part)) return false;
    if (part.p_type != PT_INTERP) continue;
    char loader[256];
    const size_t size = std::min<size_t>(part.p_filesz, sizeof loader);
    const ssize_t count = ::pread(file.get(), loader, size, static_cast<off_t>(part.p_offset));
    const std::string_view name{loader, count > 0 ? static_cast<size_t>(count) : 0};
    return name.find("ld-musl-") != name.npos;
  }
  return false;
}

}  // namespace belljar::agent
