#include "app/requirements.h"

#include <fmt/format.h>

#include "base/error.h"

namespace belljar::app {

std::string unmet_requirements(const Capabilities& capabilities,
                               const std::vector<std::string>& names) {
  std::string text;
  for (const Feature& feature : find_unmet(capabilities.features, names)) {
    text += fmt::format("\n  {}: {}\n    fix: {}", feature.name, feature.detail, feature.fix);
  }
  return text;
}

Task<> require_features(Driver& driver, std::vector<std::string> names) {
  if (names.empty()) co_return;
  const Capabilities capabilities = co_await driver.probe();
  const std::string unmet = unmet_requirements(capabilities, names);
  if (unmet.empty()) co_return;
  fail(Code::unavailable,
       "this host does not enforce what is required (--require, "
       "BELLJAR_REQUIRE):{}",
       unmet);
}

}  // namespace belljar::app
