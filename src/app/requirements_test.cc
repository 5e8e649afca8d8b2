#include "app/requirements.h"

#include <gmock/gmock.h>

namespace belljar::app {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

Capabilities host_without_landlock() {
  Capabilities capabilities;
  Feature landlock{"landlock",
                   "",
                   Feature::State::missing,
                   Feature::Need::optional,
                   "the kernel has none",
                   "use another kernel"};
  Feature memory{"memory-limit",          "limits", Feature::State::enforced,
                 Feature::Need::optional, "",       ""};
  Feature cpu{"cpu-limit",   "limits",     Feature::State::degraded, Feature::Need::optional,
              "by affinity", "delegate it"};
  capabilities.features = {landlock, memory, cpu};
  return capabilities;
}

TEST(Requirements, AreMetByWhatIsEnforced) {
  EXPECT_EQ(unmet_requirements(host_without_landlock(), {}), "");
  EXPECT_EQ(unmet_requirements(host_without_landlock(), {"memory-limit"}), "");
}

TEST(Requirements, ThatAreNotMetAreNamedWithReasonAndFix) {
  EXPECT_EQ(unmet_requirements(host_without_landlock(), {"landlock"}),
            "\n  landlock: the kernel has none\n    fix: use another kernel");
  EXPECT_THAT(unmet_requirements(host_without_landlock(), {"limits"}),
              AllOf(HasSubstr("cpu-limit: by affinity"), Not(HasSubstr("memory-limit"))));
}

}  // namespace
}  // namespace belljar::app
