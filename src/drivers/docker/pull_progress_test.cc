#include "drivers/docker/pull_progress.h"

#include <gmock/gmock.h>

#include "base/error.h"

namespace belljar::docker {
namespace {

using testing::HasSubstr;

const PullSubject kSubject{"node:24", "docker.io", nullptr};

std::string failure_of(const PullLimits& limits, const std::string& bytes, Code expected) {
  PullProgress progress{kSubject, limits};
  try {
    progress.feed(bytes);
    progress.feed_end();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), expected) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

std::string layer(const std::string& id, uint64_t total) {
  return fmt::format(
      R"({{"status":"Downloading","progressDetail":{{"current":0,"total":{}}},"id":"{}"}})"
      "\n",
      total, id);
}

TEST(PullProgress, ReadsLinesInAnyPieces) {
  const std::string all = layer("a", 1 << 20) + layer("b", 3 << 20) +
                          R"({"status":"Pull complete","progressDetail":{},"id":"a"})"
                          "\r\n";
  PullProgress whole{kSubject, {}};
  whole.feed(all);
  PullProgress pieces{kSubject, {}};
  for (const char c : all) pieces.feed({&c, 1});
  EXPECT_EQ(whole.text(), "pulling node:24: 1 of 2 layers, 1 MiB of 4 MiB");
  EXPECT_EQ(pieces.text(), whole.text());
}

TEST(PullProgress, KnowsWhatIsNowhere) {
  EXPECT_EQ(failure_of({}, R"({"error":"manifest for node:24 not found: manifest unknown"})",
                       Code::not_found),
            "the image node:24 cannot be pulled: manifest for node:24 not found: manifest unknown");
  failure_of({}, R"({"error":"connection refused"})", Code::unavailable);
}

TEST(PullProgress, RefusesTooManyLayers) {
  PullLimits limits;
  limits.layers = 2;
  EXPECT_EQ(failure_of(limits, layer("a", 1) + layer("b", 1) + layer("c", 1), Code::exhausted),
            "the image node:24 has more than 2 layers");
}

TEST(PullProgress, RefusesTooMuchBeforeItIsThere) {
  PullLimits limits;
  limits.download = 100 << 20;
  EXPECT_THAT(failure_of(limits, layer("a", 60 << 20) + layer("b", 60 << 20), Code::exhausted),
              HasSubstr("over the limit of 100 MiB"));
  // Sums of what a registry claims do not wrap around.
  const uint64_t huge = INT64_MAX;
  failure_of(limits, layer("a", huge) + layer("b", huge) + layer("c", huge), Code::exhausted);
}

TEST(PullProgress, RefusesWhatIsNoLine) {
  failure_of({}, "no json\n", Code::unavailable);
  failure_of({}, "[1]\n", Code::unavailable);
  failure_of({}, R"({"status":)", Code::unavailable);
  failure_of({}, std::string(70'000, ' '), Code::unavailable);
  failure_of({}, std::string(5'000, '[') + "\n", Code::unavailable);
}

TEST(PullProgress, IgnoresTypesItDoesNotExpect) {
  PullProgress progress{kSubject, {}};
  progress.feed(R"({"status":5,"id":["a"],"progressDetail":7})"
                "\n"
                R"({"status":"Downloading","id":"a","progressDetail":{"total":-5,"current":"x"}})"
                "\n");
  EXPECT_EQ(progress.text(), "pulling node:24: 0 of 1 layers");
}

}  // namespace
}  // namespace belljar::docker
