#include "observe/metrics.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace belljar::observe {
namespace {

using Kind = Metrics::Kind;

TEST(Metrics, CountersShowTheirLabelsSortedAndEscaped) {
  Metrics metrics;
  metrics.describe("runs_total", Kind::counter, "Runs.");
  metrics.count("runs_total", {{"tool", "b"}});
  metrics.count("runs_total", {{"tool", "a\"\\\n"}}, 5);
  metrics.count("runs_total", {{"tool", "b"}});
  EXPECT_EQ(metrics.text(),
            "# HELP runs_total Runs.\n# TYPE runs_total counter\n"
            "runs_total{tool=\"a\\\"\\\\\\n\"} 5\nruns_total{tool=\"b\"} 2\n");
}

TEST(Metrics, HistogramsAreCumulativeAndTheBoundBelongsToItsBucket) {
  Metrics metrics;
  metrics.describe_histogram("seconds", {0.1, 1}, "Time.");
  for (const double value : {0.0625, 0.1, 0.5, 7.0})
    metrics.observe("seconds", {{"x", "y"}}, value);
  EXPECT_EQ(metrics.text(),
            "# HELP seconds Time.\n# TYPE seconds histogram\n"
            "seconds_bucket{x=\"y\",le=\"0.1\"} 2\nseconds_bucket{x=\"y\",le=\"1\"} 3\n"
            "seconds_bucket{x=\"y\",le=\"+Inf\"} 4\nseconds_sum{x=\"y\"} 7.6625\n"
            "seconds_count{x=\"y\"} 4\n");
}

TEST(Metrics, GaugesAreAskedWhenTheyAreShown) {
  Metrics metrics;
  double now = 1;
  metrics.watch("live", "Live.", [&now] { return now; });
  now = 3;
  EXPECT_EQ(metrics.text(), "# HELP live Live.\n# TYPE live gauge\nlive 3\n");
}

TEST(Metrics, AFamilyThatNobodyDescribedIsOurMistake) {
  Metrics metrics;
  EXPECT_THROW(metrics.count("nope"), Error);
}

}  // namespace
}  // namespace belljar::observe
