#include "drivers/docker/agent/c_library.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "base/testing.h"

namespace belljar::agent {
namespace {

class CLibrary : public testing::Test {
 protected:
  bool is_musl(const std::string& content) {
    std::ofstream{path_, std::ios::binary} << content;
    return is_for_musl(path_.c_str());
  }

  // A program of which only that much is there.
  static std::string program(const std::string& loader) {
    Elf64_Ehdr head{};
    std::memcpy(head.e_ident, ELFMAG, SELFMAG);
    head.e_ident[EI_CLASS] = ELFCLASS64;
    head.e_phoff = sizeof head;
    head.e_phnum = 2;
    Elf64_Phdr parts[2]{};
    parts[0].p_type = PT_LOAD;
    parts[1].p_type = PT_INTERP;
    parts[1].p_offset = sizeof head + sizeof parts;
    parts[1].p_filesz = loader.size();
    return std::string{reinterpret_cast<const char*>(&head), sizeof head} +
           std::string{reinterpret_cast<const char*>(parts), sizeof parts} + loader;
  }

  TemporaryDirectory directory_;
  std::string path_ = directory_.path() + "/node";
};

TEST_F(CLibrary, IsThatOfTheLoader) {
  EXPECT_TRUE(is_musl(program("/lib/ld-musl-x86_64.so.1")));
  EXPECT_TRUE(is_musl(program("/lib/ld-musl-aarch64.so.1")));
  EXPECT_FALSE(is_musl(program("/lib64/ld-linux-x86-64.so.2")));
  EXPECT_FALSE(is_for_musl("/proc/self/exe"));
}

TEST_F(CLibrary, OfWhatIsNoProgramIsTheUsualOne) {
  EXPECT_FALSE(is_musl(""));
  EXPECT_FALSE(is_musl("#!/bin/sh\necho ld-musl-\n"));
  EXPECT_FALSE(is_musl(program("")));
  EXPECT_FALSE(is_for_musl("/nowhere"));
  const std::string whole = program("/lib/ld-musl-x86_64.so.1");
  for (size_t size = 0; size < whole.size() - 12; ++size)
    EXPECT_FALSE(is_musl(whole.substr(0, size)));
}

TEST_F(CLibrary, BelievesNoNumber) {
  std::string huge = program("/lib/ld-musl-x86_64.so.1");
  Elf64_Ehdr head{};
  std::memcpy(&head, huge.data(), sizeof head);
  head.e_phoff = ~0ull - 8;
  head.e_phnum = 0xffff;
  std::memcpy(huge.data(), &head, sizeof head);
  EXPECT_FALSE(is_musl(huge));
}

}  // namespace
}  // namespace belljar::agent
