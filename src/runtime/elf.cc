#include "runtime/elf.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <cstring>

#include "base/fd.h"

namespace belljar::runtime {
namespace {

#if defined(__x86_64__)
constexpr uint16_t kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr uint16_t kMachine = EM_AARCH64;
#else
#error "belljar runs on x86-64 and arm64"
#endif

}  // namespace

std::optional<std::string> why_not_a_program(const std::string& path) {
  const Fd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0) return "it cannot be opened";
  if (!S_ISREG(status.st_mode) || (status.st_mode & 0111) == 0) return "it is not executable";
  Elf64_Ehdr header{};
  if (::pread(file.get(), &header, sizeof(header), 0) != sizeof(header)) return "it is too short";
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return "it is not an ELF program";
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
      header.e_machine != kMachine)
    return "it is for another kind of machine";
  if (header.e_type != ET_EXEC && header.e_type != ET_DYN) return "it is not a program";
  return std::nullopt;
}

}  // namespace belljar::runtime
