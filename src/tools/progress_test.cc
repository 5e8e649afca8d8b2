#include "tools/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/utf8.h"
#include "tools/testing.h"

namespace belljar::tools {
namespace {

using testing::ElementsAre;

TEST(OutputProgress, IsSilentForAClientThatDidNotAsk) {
  FakeClock clock;
  FakeCall call;
  EXPECT_FALSE(OutputProgress(call, clock).live());
}

TEST(OutputProgress, SendsPiecesAsTheyComeWithoutCuttingCharacters) {
  FakeClock clock;
  FakeCall call;
  call.ask_for_progress();
  OutputProgress progress{call, clock};
  const LiveOutput live = progress.live();
  live(Stream::out, "a\xc3");
  live(Stream::err, "b");
  live(Stream::out, "\xa9z");
  live(Stream::out, "\xff!");
  EXPECT_THAT(call.messages, ElementsAre("a", "b", "éz", "\xef\xbf\xbd!"));
}

TEST(OutputProgress, ShowsTheEndOfALongPiece) {
  FakeClock clock;
  FakeCall call;
  call.ask_for_progress();
  OutputProgress progress{call, clock};
  std::string piece;
  for (int i = 0; i < 5000; ++i) piece += "é";
  progress.live()(Stream::out, piece + "z");
  ASSERT_EQ(call.messages.size(), 1u);
  EXPECT_TRUE(call.messages[0].starts_with("…é"));
  EXPECT_TRUE(call.messages[0].ends_with("éz"));
  EXPECT_LT(call.messages[0].size(), 1010u);
  EXPECT_TRUE(is_utf8(call.messages[0]));
}

TEST(OutputProgress, DoesNotFloodTheClient) {
  FakeClock clock;
  FakeCall call;
  call.ask_for_progress();
  OutputProgress progress{call, clock};
  const LiveOutput live = progress.live();
  for (int i = 0; i < 1000; ++i) live(Stream::out, "x");
  EXPECT_EQ(call.messages.size(), 50u);
  clock.advance(std::chrono::seconds{1});
  for (int i = 0; i < 1000; ++i) live(Stream::out, "x");
  EXPECT_EQ(call.messages.size(), 70u);
}

}  // namespace
}  // namespace belljar::tools
