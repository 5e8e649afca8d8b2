#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace belljar::observe {

// Label names and values, in the order in which they are shown.
using Labels = std::vector<std::pair<std::string, std::string>>;

// How often values of certain sizes occurred.
class Histogram {
 public:
  explicit Histogram(std::vector<double> bounds);  // ascending upper bounds; +Inf comes on top
  void observe(double value);

  const std::vector<double>& bounds() const { return bounds_; }
  const std::vector<uint64_t>& counts() const { return counts_; }  // one more than bounds
  double sum() const { return sum_; }

 private:
  std::vector<double> bounds_;
  std::vector<uint64_t> counts_;
  double sum_ = 0;
};

// Numbers about this process, shown as Prometheus text. Belongs to the loop. Families appear in the
// order in which they were first named, their members sorted by labels.
//
//   metrics.describe("belljar_runs_total", Kind::counter, "Runs of programs.");
//   metrics.count("belljar_runs_total", Labels{{"tool", "run_js"}});
//   const std::string page = metrics.text();
//
// Values of labels must come from a fixed set: every new one is kept for good.
class Metrics {
 public:
  enum class Kind { counter, gauge, histogram };

  void describe(std::string name, Kind kind, std::string help);
  void describe_histogram(std::string name, std::vector<double> bounds, std::string help);

  // A gauge that is asked for its value when it is shown.
  void watch(std::string name, std::string help, std::function<double()> value);

  void count(std::string_view name, const Labels& labels = {}, uint64_t by = 1);
  void observe(std::string_view name, const Labels& labels, double value);

  std::string text() const;

 private:
  struct Family {
    std::string name;
    Kind kind;
    std::string help;
    std::vector<double> bounds;
    std::function<double()> value;
    std::map<Labels, uint64_t> counts;
    std::map<Labels, Histogram> histograms;
  };
  Family& find(std::string_view name);

  std::vector<Family> families_;
};

}  // namespace belljar::observe
