#include "base/sha256.h"

#include <gtest/gtest.h>

namespace belljar {
namespace {

TEST(Sha256, KnowsTheExamplesOfItsStandard) {
  Sha256 of_nothing;
  EXPECT_EQ(of_nothing.finish(),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  Sha256 of_pieces;
  of_pieces.add("a");
  of_pieces.add("bc");
  EXPECT_EQ(of_pieces.finish(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace belljar
