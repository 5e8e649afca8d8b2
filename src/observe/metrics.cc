#include "observe/metrics.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace belljar::observe {

namespace {

constexpr std::string_view name_of(Metrics::Kind kind) {
  switch (kind) {
    case Metrics::Kind::counter: return "counter";
    case Metrics::Kind::gauge: return "gauge";
    case Metrics::Kind::histogram: break;
  }
  return "histogram";
}

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\n') {
      result += "\\n";
      continue;
    }
    if (c == '\\' || c == '"') result += '\\';
    result += c;
  }
  return result;
}

std::string in_braces(const Labels& labels) {
  std::string text;
  for (const auto& [name, value] : labels) {
    text += fmt::format("{}{}=\"{}\"", text.empty() ? "{" : ",", name, escaped(value));
  }
  return text.empty() ? "" : text + "}";
}

Labels with(Labels labels, std::string name, std::string value) {
  labels.emplace_back(std::move(name), std::move(value));
  return labels;
}

void show(std::string& text, const std::string& name, const Labels& labels,
          const Histogram& histogram) {
  uint64_t seen = 0;
  for (size_t i = 0; i < histogram.counts().size(); ++i) {
    seen += histogram.counts()[i];
    const std::string bound =
        i < histogram.bounds().size() ? fmt::format("{}", histogram.bounds()[i]) : "+Inf";
    text += fmt::format("{}_bucket{} {}\n", name, in_braces(with(labels, "le", bound)), seen);
  }
  text += fmt::format("{}_sum{} {}\n", name, in_braces(labels), histogram.sum());
  text += fmt::format("{}_count{} {}\n", name, in_braces(labels), seen);
}

}  // namespace

Histogram::Histogram(std::vector<double> bounds)
    : bounds_{std::move(bounds)}, counts_(bounds_.size() + 1) {}

void Histogram::observe(double value) {
  const auto at = std::lower_bound(bounds_.begin(), bounds_.end(), value);
  ++counts_[static_cast<size_t>(at - bounds_.begin())];
  sum_ += value;
}

void Metrics::describe(std::string name, Kind kind, std::string help) {
  families_.push_back(Family{std::move(name), kind, std::move(help), {}, {}, {}, {}});
}

void Metrics::describe_histogram(std::string name, std::vector<double> bounds, std::string help) {
  describe(std::move(name), Kind::histogram, std::move(help));
  families_.back().bounds = std::move(bounds);
}

void Metrics::watch(std::string name, std::string help, std::function<double()> value) {
  describe(std::move(name), Kind::gauge, std::move(help));
  families_.back().value = std::move(value);
}

Metrics::Family& Metrics::find(std::string_view name) {
  for (Family& family : families_) {
    if (family.name == name) return family;
  }
  fail(Code::internal, "there is no metric {}", name);
}

void Metrics::count(std::string_view name, const Labels& labels, uint64_t by) {
  find(name).counts[labels] += by;
}

void Metrics::observe(std::string_view name, const Labels& labels, double value) {
  Family& family = find(name);
  family.histograms.try_emplace(labels, family.bounds).first->second.observe(value);
}

std::string Metrics::text() const {
  std::string text;
  for (const Family& family : families_) {
    text += fmt::format("# HELP {} {}\n# TYPE {} {}\n", family.name, family.help, family.name,
                        name_of(family.kind));
    if (family.value) text += fmt::format("{} {}\n", family.name, family.value());
    for (const auto& [labels, value] : family.counts) {
      text += fmt::format("{}{} {}\n", family.name, in_braces(labels), value);
    }
    for (const auto& [labels, histogram] : family.histograms) {
      show(text, family.name, labels, histogram);
    }
  }
  return text;
}

}  // namespace belljar::observe
