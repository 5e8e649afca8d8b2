#include "drivers/docker/engine_check.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "base/error.h"

namespace belljar::docker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using State = Feature::State;

EngineInfo good_info() {
  EngineInfo info;
  info.os = "linux";
  info.has_seccomp = info.limits_memory = info.limits_swap = info.limits_pids = info.limits_cpu =
      info.has_user_namespaces = true;
  return info;
}

Feature find(const std::vector<Feature>& features, std::string_view name) {
  const auto found = std::find_if(features.begin(), features.end(),
                                  [name](const Feature& feature) { return feature.name == name; });
  return found == features.end() ? Feature{} : *found;
}

State runc_state(std::string version) {
  EngineVersion engine;
  engine.runc = std::move(version);
  return find(check_engine(engine, good_info()), "runc").state;
}

TEST(EngineCheck, FindsNothingWrongWithAGoodOne) {
  EngineVersion version;
  version.runc = "1.4.3";
  const auto features = check_engine(version, good_info());
  EXPECT_EQ(isolation_of(features).grade, Isolation::Grade::full);
  for (const Feature& feature : features) EXPECT_EQ(feature.fix, "") << feature.name;
}

TEST(EngineCheck, RefusesOneWithoutLimitsOrSeccomp) {
  EngineInfo info;
  info.os = "windows";
  std::vector<std::string> unmet;
  for (const Feature& feature : find_unmet(check_engine({}, info), {})) {
    unmet.push_back(feature.name);
    EXPECT_NE(feature.fix, "") << feature.name;
  }
  EXPECT_THAT(unmet, ElementsAre("linux-containers", "seccomp", "memory-limit", "swap",
                                 "pids-limit", "cpu-limit"));
}

TEST(EngineCheck, NamesWhatIsWeaker) {
  EngineInfo info = good_info();
  info.has_user_namespaces = false;
  EngineVersion version;
  version.runc = "1.1.5";
  EXPECT_THAT(isolation_of(check_engine(version, info)).weaker,
              ElementsAre("user-namespace", "runc"));
  version.product = "Podman";
  info.cgroup_version = 1;
  info.is_rootless = true;
  EXPECT_THAT(isolation_of(check_engine(version, info)).weaker,
              ElementsAre("cgroup-namespace", "runc"));
}

// Attack DK05.
TEST(EngineCheck, DK05KnowsWhichVersionsOfRuncAreFixed) {
  for (const char* fixed : {"1.3.6", "1.3.7", "1.4.3", "1.4.10", "1.5.0-rc.3", "1.5.0-rc.10",
                            "1.5.0", "1.6.0", "2.0.0", "1.4.3+ds1"})
    EXPECT_EQ(runc_state(fixed), State::enforced) << fixed;
  for (const char* old : {"1.1.5", "1.2.8", "1.2.99", "1.3.5", "1.3.6-rc.1", "1.4.2", "1.4.0-rc.3",
                          "1.5.0-rc.2", "0.1.0", "", "crun", "1.4", "1.4.x"})
    EXPECT_EQ(runc_state(old), State::degraded) << old;
}

TEST(EngineCheck, KnowsRuntimesWithAKernelOfTheirOwn) {
  EngineInfo info = good_info();
  info.own_kernel_runtimes = {"runsc"};
  EXPECT_TRUE(has_own_kernel(info, "runsc"));
  EXPECT_FALSE(has_own_kernel(info, "runc"));
  EngineVersion podman;
  podman.product = "Podman";
  info.default_runtime = "runsc";
  EXPECT_THROW(check_runtime(podman, info, ""), Error);
  EXPECT_NO_THROW(check_runtime({}, info, ""));
  info.has_seccomp = false;
  EngineVersion version;
  version.runc = "1.0.0";
  const auto features = check_engine(version, info, true);
  EXPECT_EQ(find(features, "seccomp").state, Feature::State::enforced) << "by the agent";
  EXPECT_EQ(find(features, "runc").need, Feature::Need::convenience) << "it is not used";
}

TEST(EngineCheck, HasNamesAndGroupsThatCanBeRequired) {
  EXPECT_THAT(feature_names(), ElementsAre("linux-containers", "seccomp", "memory-limit", "limits",
                                           "swap", "pids-limit", "cpu-limit", "user-namespace",
                                           "namespaces", "cgroup-namespace", "runc"));
}

TEST(EngineCheck, KnowsThatDistributionsCarryFixesOver) {
  EngineVersion version;
  version.runc = "1.1.5+ds1";
  const Feature runc = find(check_engine(version, good_info()), "runc");
  EXPECT_THAT(runc.detail, HasSubstr("unless its distribution carried them over"));
  EXPECT_THAT(runc.fix, HasSubstr("security updates"));
}

TEST(EngineCheck, RefusesARuntimeThatWouldNotServe) {
  EngineInfo info = good_info();
  info.runtimes = {"runc", "runsc"};
  info.default_runtime = "runc";
  EngineVersion version;
  version.product = "Docker Engine";
  check_runtime(version, info, "");
  check_runtime(version, info, "runc");
  check_runtime(version, info, "runsc");
  EXPECT_THROW(check_runtime(version, info, "kata"), Error);
  version.product = "Podman";
  check_runtime(version, info, "runc");
  EXPECT_THROW(check_runtime(version, info, "runsc"), Error);
}

}  // namespace
}  // namespace belljar::docker
