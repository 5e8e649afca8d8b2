#pragma once

#include <elf.h>

#include <cstring>
#include <string>

// For unit tests only.
namespace belljar::runtime {

// The head of an ELF program for this machine (or another one), with something behind it.
inline std::string fake_program(const std::string& rest = "", bool for_this_machine = true) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_type = ET_DYN;
#if defined(__x86_64__)
  header.e_machine = for_this_machine ? EM_X86_64 : EM_AARCH64;
#else
  header.e_machine = for_this_machine ? EM_AARCH64 : EM_X86_64;
#endif
  return std::string{reinterpret_cast<const char*>(&header), sizeof(header)} + rest;
}

}  // namespace belljar::runtime
