#include "sandbox/capabilities.h"

#include <gmock/gmock.h>

namespace belljar {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Need = Feature::Need;
using State = Feature::State;
using Grade = Isolation::Grade;

Feature feature(const char* name, Need need, State state, const char* group = "") {
  return {name, group, state, need, "", ""};
}

TEST(Isolation, IsFullWhenEverythingIsEnforcedButConveniences) {
  const Isolation isolation = isolation_of({feature("a", Need::required, State::enforced),
                                            feature("b", Need::optional, State::enforced),
                                            feature("c", Need::convenience, State::missing)});
  EXPECT_EQ(isolation.grade, Grade::full);
  EXPECT_THAT(isolation.weaker, IsEmpty());
}

TEST(Isolation, IsReducedByWhatIsOptionalAndRefusedByWhatIsRequired) {
  std::vector<Feature> features{feature("a", Need::optional, State::degraded),
                                feature("b", Need::optional, State::missing)};
  EXPECT_EQ(isolation_of(features).grade, Grade::reduced);
  EXPECT_THAT(isolation_of(features).weaker, ElementsAre("a", "b"));
  features.insert(features.begin(), feature("c", Need::required, State::missing));
  EXPECT_EQ(isolation_of(features).grade, Grade::refused);
  EXPECT_THAT(isolation_of(features).weaker, ElementsAre("c", "a", "b"));
}

TEST(Isolation, WhatIsRequiredIsDemandedWithoutBeingNamed) {
  const std::vector<Feature> features{feature("a", Need::required, State::missing),
                                      feature("b", Need::optional, State::missing)};
  ASSERT_EQ(find_unmet(features, {}).size(), 1u);
  EXPECT_EQ(find_unmet(features, {})[0].name, "a");
}

TEST(Isolation, DemandsAreMetByNameAndByGroup) {
  const std::vector<Feature> features{
      feature("memory-limit", Need::optional, State::degraded, "limits"),
      feature("cpu-limit", Need::optional, State::enforced, "limits"),
      feature("landlock", Need::optional, State::missing)};
  EXPECT_THAT(find_unmet(features, {}), IsEmpty());
  EXPECT_THAT(find_unmet(features, {"cpu-limit"}), IsEmpty());
  ASSERT_EQ(find_unmet(features, {"limits"}).size(), 1u);
  EXPECT_EQ(find_unmet(features, {"limits"})[0].name, "memory-limit");
  EXPECT_EQ(find_unmet(features, {"landlock", "limits"}).size(), 2u);
}

}  // namespace
}  // namespace belljar
