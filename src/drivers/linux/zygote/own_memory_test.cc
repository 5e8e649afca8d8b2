#include "drivers/linux/zygote/own_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

namespace belljar::zygote {
namespace {

constexpr size_t kWords = 1 << 20;  // several pieces
constexpr size_t kSize = kWords * sizeof(uint64_t);

uint64_t* map() {
  void* const memory =
      ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<uint64_t*>(memory);
}

// Two words after each other that are nowhere else: not even in this program's text.
bool are_wanted(const uint64_t* words) {
  return words[0] == ~uint64_t{0x1f2e3d4c5b6a7988} && words[1] == ~words[0];
}

void put(uint64_t* place) {
  place[0] = ~uint64_t{0x1f2e3d4c5b6a7988};
  place[1] = ~place[0];
}

std::vector<uint64_t*> find(OwnMemory& memory) {
  std::vector<uint64_t*> places;
  places.reserve(16);
  memory.find(2, false, [&places](const uint64_t* words, uint64_t* place) {
    if (are_wanted(words)) places.push_back(place);
  });
  return places;
}

TEST(OwnMemory, FindsEverythingOnce) {
  uint64_t* const memory = map();
  ASSERT_NE(memory, nullptr);
  const size_t piece = 128 << 10;
  std::vector<uint64_t*> expected{memory, memory + 100, memory + piece - 1, memory + 2 * piece,
                                  memory + kWords - 2};
  for (uint64_t* const place : expected) put(place);
  OwnMemory own;
  EXPECT_EQ(find(own), expected);
  ::munmap(memory, kSize);
}

TEST(OwnMemory, WhatWasGivenBackMeanwhileIsNotThere) {
  uint64_t* const memory = map();
  ASSERT_NE(memory, nullptr);
  put(memory);
  put(memory + kWords / 2);
  OwnMemory own;
  ::munmap(memory + kWords / 4, kSize - kSize / 4);
  EXPECT_EQ(find(own), std::vector<uint64_t*>{memory});
  ::munmap(memory, kSize / 4);
}

TEST(OwnMemory, TheHeapIsWhatMallocGives) {
  const std::vector<uint64_t> small(16);
  bool found = false;
  OwnMemory own;
  own.find(1, true,
           [&](const uint64_t*, const uint64_t* place) { found = found || place == small.data(); });
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace belljar::zygote
