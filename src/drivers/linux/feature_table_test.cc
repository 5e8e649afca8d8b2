#include "drivers/linux/feature_table.h"

#include <gmock/gmock.h>

#include <cerrno>
#include <set>

namespace belljar::linux_driver {
namespace {

using launcher::Trial;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A host that has everything.
launcher::Reply good_host() {
  launcher::Reply found{};
  found.facts = ~0u;
  found.landlock_abi = 7;
  return found;
}

Feature feature(const launcher::Reply& found, const std::string& name) {
  for (const Feature& each : describe_features(found, HostFiles{"/nowhere"})) {
    if (each.name == name) return each;
  }
  ADD_FAILURE() << "there is no " << name;
  return {};
}

TEST(FeatureTable, EveryRowHasItsWordsAndEveryTrialItsRow) {
  std::set<std::string> names;
  std::set<Trial> tried{Trial::full_proc};  // the fact `proc` has its result
  for (const FeatureRow& row : feature_table()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_NE(row.trial.has_value(), row.fact != 0) << row.name;
    EXPECT_STRNE(row.how, "") << row.name;
    EXPECT_STRNE(row.otherwise, "") << row.name;
    if (row.trial) tried.insert(*row.trial);
  }
  EXPECT_EQ(tried.size(), launcher::kTrials);
}

TEST(FeatureTable, AHostThatHasEverythingIsFull) {
  const auto features = describe_features(good_host(), HostFiles{"/nowhere"});
  EXPECT_EQ(features.size(), feature_table().size());
  EXPECT_EQ(isolation_of(features).grade, Isolation::Grade::full);
  for (const Feature& each : features) EXPECT_THAT(each.fix, IsEmpty()) << each.name;
  EXPECT_EQ(feature(good_host(), "memory-limit").detail, "by cgroup v2");
  EXPECT_THAT(feature(good_host(), "landlock").detail, HasSubstr("ABI 7"));
  EXPECT_EQ(isolation_of_facts(good_host()).grade, Isolation::Grade::full);
}

TEST(FeatureTable, EveryFeatureThatIsMissingIsReportedWithAFix) {
  for (const FeatureRow& row : feature_table()) {
    launcher::Reply found = good_host();
    if (row.trial) {
      found.trials[static_cast<size_t>(*row.trial)] = EPERM;
    } else {
      found.facts &= ~row.fact;
    }
    const Feature lost = feature(found, row.name);
    EXPECT_NE(lost.state, Feature::State::enforced) << row.name;
    EXPECT_FALSE(lost.fix.empty()) << row.name;
    const auto expected = row.need == Feature::Need::required   ? Isolation::Grade::refused
                          : row.need == Feature::Need::optional ? Isolation::Grade::reduced
                                                                : Isolation::Grade::full;
    EXPECT_EQ(isolation_of(describe_features(found, HostFiles{"/nowhere"})).grade, expected)
        << row.name;
  }
}

TEST(FeatureTable, ResultsSayWhatIsWeakerFromFactsAlone) {
  launcher::Reply facts = good_host();
  facts.facts &= ~(launcher::kFactOwnIds | launcher::kFactCpuLimit | launcher::kFactFullProc);
  facts.landlock_abi = 0;
  const Isolation isolation = isolation_of_facts(facts);
  EXPECT_EQ(isolation.grade, Isolation::Grade::reduced);
  EXPECT_THAT(isolation.weaker, ElementsAre("ids", "cpu-limit", "landlock"));
}

TEST(FeatureTable, WithoutSetUpOnlyTrialsAreReported) {
  launcher::Reply found{};
  found.trials[static_cast<size_t>(Trial::user_namespace)] = EPERM;
  for (const Feature& each : describe_features(found, HostFiles{"/nowhere"}))
    EXPECT_NE(each.group, "limits");
  EXPECT_THAT(feature(found, "user-namespace").fix, HasSubstr("CONFIG_USER_NS"));
}

std::string fix(const char* failure) {
  return fix_for_failure(failure, HostFiles{"/nowhere"}, Privileges::ordinary_user);
}

TEST(FeatureTable, AFailedStepLeadsToTheFixOfItsFeature) {
  EXPECT_THAT(fix("prepare: make the owner's user namespace: Operation not permitted"),
              HasSubstr("CONFIG_USER_NS"));
  EXPECT_THAT(fix("create: mount the root: No such device"), HasSubstr("modprobe overlay"));
  EXPECT_THAT(fix("prepare: find cgroup controllers: no memory: Not supported"),
              HasSubstr("Delegate=yes"));
  EXPECT_THAT(fix("create: mount /proc: Operation not permitted"), HasSubstr("covers parts of"));
  EXPECT_THAT(fix("something else"), IsEmpty());
}

TEST(FeatureTable, WhoHasAsManyServersAsItsIdsAllowIsToldSo) {
  EXPECT_THAT(fix("take a slot among the launchers: Too many users"),
              AllOf(HasSubstr("End one"), HasSubstr("/etc/subuid")));
  EXPECT_THAT(fix("take a slot among the launchers: Operation not permitted"), IsEmpty());
}

TEST(FeatureTable, TheLauncherSaysWhoseItIs) {
  EXPECT_EQ(privileges_of(~0u), Privileges::root);
  EXPECT_EQ(privileges_of(~launcher::kFactRoot), Privileges::ordinary_user);
}

TEST(FeatureTable, AnOrdinaryUserNeedsNoIdMappedMounts) {
  launcher::Reply found = good_host();
  found.trials[static_cast<size_t>(Trial::id_mapped_mounts)] = EINVAL;
  EXPECT_EQ(feature(found, "id-mapped-mounts").state, Feature::State::missing);
  found.facts &= ~launcher::kFactRoot;
  EXPECT_EQ(feature(found, "id-mapped-mounts").state, Feature::State::enforced);
  EXPECT_THAT(feature(found, "id-mapped-mounts").fix, IsEmpty());
}

TEST(FeatureTable, GroupsCanBeNamedToo) {
  EXPECT_THAT(feature_names(), Contains("limits"));
  EXPECT_THAT(feature_names(), Contains("namespaces"));
  EXPECT_THAT(feature_names(), Contains("landlock"));
}

}  // namespace
}  // namespace belljar::linux_driver
