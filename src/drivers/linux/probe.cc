#include "drivers/linux/probe.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include "drivers/linux/feature_table.h"
#include "drivers/linux/host_checks.h"

namespace belljar::linux_driver {

namespace {

class Ignore final : public OutputSink {
 public:
  void write(Stream, std::string_view) override {}
};

std::string kernel_release() {
  utsname name{};
  return ::uname(&name) == 0 ? name.release : "unknown";
}

std::string known_fix(const std::string& failure, uint32_t facts) {
  return fix_for_failure(failure, HostFiles{}, privileges_of(facts));
}

// The features one by one say what is there; this one says that together they make a sandbox.
Feature describe_sandbox(const std::optional<std::string>& failure, uint32_t facts) {
  Feature feature;
  feature.name = "sandbox";
  feature.detail = failure.value_or(
      "made, with namespaces, limits, seccomp filters and without capabilities; a program ran in "
      "it "
      "and passed the check of its posture");
  if (failure) {
    feature.state = Feature::State::missing;
    feature.fix = known_fix(*failure, facts);
    if (feature.fix.empty()) feature.fix = "See the step that the message names.";
  }
  return feature;
}

}  // namespace

Task<> try_a_program(Sandbox& sandbox) {
  Ignore sink;
  Command command;
  command.argv.emplace_back("/bin/true");
  const auto process = co_await sandbox.start(std::move(command), sink);
  const Outcome outcome = co_await process->wait();
  if (!outcome.ok())
    fail(Code::unavailable, "a first program in a sandbox ended with status {}", outcome.code);
}

Capabilities describe_host(const launcher::Reply& found,
                           const std::optional<std::string>& failure) {
  const HostFiles host;
  Capabilities capabilities;
  capabilities.driver = "native";
  capabilities.features = describe_features(found, host);
  capabilities.features.insert(capabilities.features.begin(),
                               describe_sandbox(failure, found.facts));
  capabilities.settings = check_settings(host);
  capabilities.kernel = check_kernel(kernel_release());
  return capabilities;
}

std::string with_fix(const std::string& failure, uint32_t facts) {
  const std::string fix = known_fix(failure, facts);
  return fix.empty() ? failure : fmt::format("{}. To fix it: {}", failure, fix);
}

}  // namespace belljar::linux_driver
