#include <fmt/format.h>

#include <algorithm>

#include "app/commands.h"
#include "app/requirements.h"
#include "app/wiring.h"
#include "base/json.h"
#include "drivers/linux/host_checks.h"

namespace belljar::app {

namespace {

const char* word(Feature::State state) {
  switch (state) {
    case Feature::State::enforced: return "ok";
    case Feature::State::degraded: return "degraded";
    case Feature::State::missing: return "missing";
  }
  return "";
}

const char* word(Feature::Need need) {
  switch (need) {
    case Feature::Need::required: return "required";
    case Feature::Need::optional: return "optional";
    case Feature::Need::convenience: return "convenience";
  }
  return "";
}

const char* word(HostSetting::State state) {
  switch (state) {
    case HostSetting::State::good: return "ok";
    case HostSetting::State::weak: return "weak";
    case HostSetting::State::unknown: return "unknown";
  }
  return "";
}

struct Diagnosis {
  Capabilities capabilities;
  std::vector<CopiesOfNode> copies;
  Isolation isolation;
  std::string unmet;  // of what is required, always or by --require

  bool usable() const { return unmet.empty(); }
};

void print_fix(const std::string& fix, int column) {
  if (!fix.empty()) fmt::print("  {:<{}}fix: {}\n", "", column, fix);
}

void print_features(const std::vector<Feature>& features) {
  int width = 18;
  for (const Feature& feature : features)
    width = std::max(width, static_cast<int>(feature.name.size()) + 1);
  fmt::print("Features, each tried in a process that was thrown away:\n");
  for (const Feature& feature : features) {
    fmt::print("  {:<{}}{:<12}{:<10}{}\n", feature.name, width, word(feature.need),
               word(feature.state), feature.detail);
    print_fix(feature.fix, width + 22);
  }
}

void print_settings(const std::vector<HostSetting>& settings) {
  fmt::print("\nSettings of this host, advice only:\n");
  for (const HostSetting& setting : settings) {
    fmt::print("  {:<34}{:<9}{} (wanted: {}; {})\n", setting.name, word(setting.state),
               setting.value, setting.wanted, setting.why);
    print_fix(setting.fix, 43);
  }
}

void print_kernel(const KernelReport& kernel) {
  fmt::print("\nKernel: Linux {}\n", kernel.release);
  for (const std::string& warning : kernel.warnings) fmt::print("  warning: {}\n", warning);
  if (kernel.warnings.empty() && !kernel.as_of.empty())
    fmt::print("  not older than the fixes known in {}\n", kernel.as_of);
}

std::string detail_of(const linux_driver::CopyVerdict& verdict) {
  switch (verdict.state) {
    case linux_driver::CopyVerdict::State::works: return fmt::format("checked {}", verdict.checked);
    case linux_driver::CopyVerdict::State::differs:
      return fmt::format("checked {}; program {}: {}", verdict.checked, verdict.program,
                         verdict.reason);
    case linux_driver::CopyVerdict::State::unknown: break;
  }
  return verdict.reason.empty() ? "not checked yet" : "cannot be checked: " + verdict.reason;
}

void print_copies(const std::vector<CopiesOfNode>& copies) {
  fmt::print("\nCopies of Node.js instead of executing it, for node-start; only where it works:\n");
  bool all_known = true;
  for (const auto& [version, verdict] : copies) {
    fmt::print("  {:<18}{:<10}{}\n", version, name_of(verdict.state), detail_of(verdict));
    all_known = all_known && verdict.state != linux_driver::CopyVerdict::State::unknown;
  }
  if (copies.empty()) fmt::print("  no Node.js is installed yet\n");
  if (!all_known) fmt::print("  The first use checks it, or: belljar doctor --check-copies\n");
}

std::string joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

void print_verdict(const Diagnosis& diagnosis) {
  const Isolation& isolation = diagnosis.isolation;
  fmt::print("\nIsolation: {}{}{}\n", name_of(isolation.grade),
             isolation.weaker.empty() ? "" : "; not enforced: ", joined(isolation.weaker));
  if (!diagnosis.unmet.empty()) fmt::print("Required, but not enforced:{}\n", diagnosis.unmet);
  fmt::print("{}\n", diagnosis.usable()
                         ? "Sandboxes work on this host."
                         : "Sandboxes do not work on this host: belljar refuses to run programs.");
}

void print_table(const Diagnosis& diagnosis) {
  fmt::print("Driver: {}\n\n", diagnosis.capabilities.driver);
  print_features(diagnosis.capabilities.features);
  print_settings(diagnosis.capabilities.settings);
  print_kernel(diagnosis.capabilities.kernel);
  print_copies(diagnosis.copies);
  print_verdict(diagnosis);
}

json::array to_json(const std::vector<std::string>& words) {
  return json::array(words.begin(), words.end());
}

json::array to_json(const std::vector<Feature>& features) {
  json::array list;
  for (const Feature& feature : features) {
    list.push_back(json::object{{"name", feature.name},
                                {"group", feature.group},
                                {"need", word(feature.need)},
                                {"state", word(feature.state)},
                                {"detail", feature.detail},
                                {"fix", feature.fix}});
  }
  return list;
}

json::array to_json(const std::vector<HostSetting>& settings) {
  json::array list;
  for (const HostSetting& setting : settings) {
    list.push_back(json::object{{"name", setting.name},
                                {"state", word(setting.state)},
                                {"value", setting.value},
                                {"wanted", setting.wanted},
                                {"why", setting.why},
                                {"fix", setting.fix}});
  }
  return list;
}

json::array to_json(const std::vector<CopiesOfNode>& copies) {
  json::array list;
  for (const auto& [version, verdict] : copies) {
    list.push_back(json::object{{"node", version},
                                {"state", name_of(verdict.state)},
                                {"checked", verdict.checked},
                                {"program", verdict.program},
                                {"reason", verdict.reason}});
  }
  return list;
}

void print_json(const Diagnosis& diagnosis, const std::vector<std::string>& required) {
  const Capabilities& capabilities = diagnosis.capabilities;
  json::array unmet;
  for (const Feature& feature : find_unmet(capabilities.features, required))
    unmet.emplace_back(feature.name);
  json::object isolation;
  isolation["grade"] = name_of(diagnosis.isolation.grade);
  isolation["weaker"] = to_json(diagnosis.isolation.weaker);
  isolation["boundary"] = diagnosis.isolation.boundary;
  json::object kernel;
  kernel["release"] = capabilities.kernel.release;
  kernel["asOf"] = capabilities.kernel.as_of;
  kernel["warnings"] = to_json(capabilities.kernel.warnings);
  json::object report;
  report["driver"] = capabilities.driver;
  report["usable"] = diagnosis.usable();
  report["isolation"] = std::move(isolation);
  report["unmet"] = std::move(unmet);
  report["features"] = to_json(capabilities.features);
  report["settings"] = to_json(capabilities.settings);
  report["kernel"] = std::move(kernel);
  report["copies"] = to_json(diagnosis.copies);
  fmt::print("{}\n", json::serialize(report));
}

Task<int> examine(asio::any_io_executor executor, const Config& config, DoctorOptions options,
                  Foundation foundation) {
  Wiring wiring{executor, config, std::move(foundation)};
  Diagnosis diagnosis;
  diagnosis.capabilities = co_await wiring.driver().probe();
  diagnosis.isolation = isolation_of(diagnosis.capabilities.features);
  diagnosis.isolation.boundary = diagnosis.capabilities.boundary;
  diagnosis.unmet = unmet_requirements(diagnosis.capabilities, config.require);
  const bool tries = options.check_copies && diagnosis.usable();
  diagnosis.copies = co_await wiring.copies(tries ? TryCopies::now : TryCopies::no);
  options.json ? print_json(diagnosis, config.require) : print_table(diagnosis);
  co_await wiring.shut_down();
  co_return diagnosis.usable() ? 0 : 1;
}

}  // namespace

int doctor_command(const LoadedConfig& loaded, const DoctorOptions& options) {
  // What is missing is part of the answer, so nothing may fail before.
  auto foundation = lay_bare_foundation(loaded.config);
  return run_to_end([&loaded, &options, &foundation](const asio::any_io_executor& executor) {
    return examine(executor, loaded.config, options, std::move(foundation));
  });
}

int apparmor_profile_command() {
  fmt::print("{}", linux_driver::apparmor_profile(linux_driver::launcher_path()));
  return 0;
}

}  // namespace belljar::app
