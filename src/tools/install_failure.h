#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "packages/registry_proxy.h"
#include "sandbox/limits.h"
#include "sandbox/run.h"

namespace belljar::tools {

// What npm said when it gave up.
struct NpmComplaint {
  std::string code;                // "E404", "ERESOLVE", …; "" if it named none
  std::vector<std::string> lines;  // without npm's prefix; the first one may be the reason

  // The package that no version was found of (ETARGET), as npm was asked for it: "lodash@^9".
  std::string unmatched() const;
};

NpmComplaint read_complaint(std::string_view printed);

// All that is known about an install that failed.
struct InstallFailure {
  RunResult run;  // of npm
  NpmComplaint complaint;
  std::optional<packages::RegistryProxy::Trouble> trouble;
  std::string waiting_for;  // package that the registry had not answered yet
  std::string newest;       // version of the package that no version was found of
  Limits limits;            // of the install sandbox
  milliseconds timeout{0};
};

// One line: what is wrong and what to do, with a code that fits.
Error explain(const InstallFailure& failure);

// "lodash@^9" → "lodash", "@types/node@1" → "@types/node".
std::string name_in_spec(std::string_view spec);

}  // namespace belljar::tools
