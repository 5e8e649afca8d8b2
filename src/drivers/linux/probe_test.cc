#include "drivers/linux/probe.h"

#include <gtest/gtest.h>

#include "drivers/linux/feature_table.h"

namespace belljar::linux_driver {
namespace {

const std::string kFailure = "make the owner's user namespace: Operation not permitted";

std::string fix_for(Privileges privileges) {
  return fix_for_failure(kFailure, HostFiles{}, privileges);
}

// Whoever runs this test: the launcher decides, because belljar is not root any more when it asks.
TEST(Probe, TheFixIsForTheLauncherThatFailed) {
  EXPECT_EQ(with_fix(kFailure, launcher::kFactRoot),
            kFailure + ". To fix it: " + fix_for(Privileges::root));
  EXPECT_EQ(with_fix(kFailure, 0), kFailure + ". To fix it: " + fix_for(Privileges::ordinary_user));
  EXPECT_EQ(with_fix("something else", 0), "something else");
}

TEST(Probe, ASandboxThatFailedIsAFeatureThatIsMissing) {
  for (const uint32_t facts : {0u, static_cast<uint32_t>(launcher::kFactRoot)}) {
    launcher::Reply found{};
    found.facts = facts;
    const Feature sandbox = describe_host(found, kFailure).features.front();
    EXPECT_EQ(sandbox.name, "sandbox");
    EXPECT_EQ(sandbox.state, Feature::State::missing);
    EXPECT_EQ(sandbox.fix, fix_for(privileges_of(facts)));
  }
}

}  // namespace
}  // namespace belljar::linux_driver
