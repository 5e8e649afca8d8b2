#include "drivers/linux/host_checks.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "base/error.h"
#include "base/id.h"
#include "base/posix.h"

namespace belljar::linux_driver {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using State = HostSetting::State;

// A host of which only these files exist.
class HostChecks : public ::testing::Test {
 protected:
  ~HostChecks() override { std::filesystem::remove_all(root_); }
  void put(const std::string& path, const std::string& content) {
    const std::filesystem::path file = root_ + path;
    make_directories(file.parent_path().string());
    write_file_atomically(file.string(), content);
  }
  HostSetting setting(const std::string& name) {
    for (HostSetting& each : check_settings(host_)) {
      if (each.name == name) return each;
    }
    ADD_FAILURE() << name << " is not checked";
    return {};
  }
  std::string root_ =
      (std::filesystem::temp_directory_path() / ("belljar-test-" + random_hex(8))).string();
  HostFiles host_{root_};
};

TEST_F(HostChecks, ASettingIsGoodOrWeakAndAWeakOneComesWithItsFix) {
  put("/proc/sys/kernel/kptr_restrict", "2\n");
  EXPECT_EQ(setting("kernel.kptr_restrict").state, State::good);
  EXPECT_THAT(setting("kernel.kptr_restrict").fix, IsEmpty());
  put("/proc/sys/kernel/kptr_restrict", "0\n");
  EXPECT_EQ(setting("kernel.kptr_restrict").state, State::weak);
  EXPECT_EQ(setting("kernel.kptr_restrict").value, "0");
  EXPECT_EQ(setting("kernel.kptr_restrict").fix, "sysctl -w kernel.kptr_restrict=1");
}

TEST_F(HostChecks, WhatAKernelDoesNotHaveIsGoodOnlyIfItCannotHarm) {
  EXPECT_EQ(setting("kernel.unprivileged_bpf_disabled").state, State::good);
  EXPECT_EQ(setting("dev.tty.legacy_tiocsti").state, State::weak);
  EXPECT_EQ(setting("dev.tty.legacy_tiocsti").value, "absent");
}

TEST_F(HostChecks, AValueThatIsNoNumberIsUnknown) {
  put("/proc/sys/fs/protected_fifos", "");
  EXPECT_EQ(setting("fs.protected_fifos").state, State::unknown);
}

TEST_F(HostChecks, CoreDumpsSwapAndModulesAreLookedAt) {
  put("/proc/sys/kernel/core_pattern", "core\n");
  EXPECT_EQ(setting("kernel.core_pattern").state, State::weak);
  put("/proc/sys/kernel/core_pattern", "|/usr/lib/systemd/systemd-coredump %P\n");
  EXPECT_EQ(setting("kernel.core_pattern").state, State::good);
  put("/proc/swaps", "Filename Type Size Used Priority\n");
  EXPECT_EQ(setting("swap").state, State::good);
  put("/proc/swaps", "Filename Type Size Used Priority\n/dev/sda2 partition 1 0 -2\n");
  EXPECT_EQ(setting("swap").state, State::weak);
  put("/proc/modules", "ext4 1 1 - Live 0x0\nesp4_offload 1 0 - Live 0x0\nrxrpc 1 0 - Live 0x0\n");
  EXPECT_EQ(setting("modules").value, "rxrpc");
}

TEST(KernelAge, IsComparedWithTheFixedReleaseOfTheSameLine) {
  EXPECT_THAT(check_kernel("6.18.44-fc-v445").warnings, IsEmpty());
  EXPECT_THAT(check_kernel("6.18.29").warnings, IsEmpty());
  ASSERT_THAT(check_kernel("6.18.28").warnings, SizeIs(1));
  EXPECT_THAT(check_kernel("6.18.28").warnings[0], HasSubstr("6.18.29 or newer"));
  EXPECT_THAT(check_kernel("7.0.0-rc3").warnings, SizeIs(1));
  EXPECT_THAT(check_kernel("7.1.0").warnings, IsEmpty());
  EXPECT_THAT(check_kernel("10.2.1").warnings, IsEmpty());
}

TEST(KernelAge, IsUnknownForLinesThatAreNotInTheTable) {
  ASSERT_THAT(check_kernel("5.15.0-91-generic").warnings, SizeIs(1));
  EXPECT_THAT(check_kernel("5.15.0-91-generic").warnings[0], HasSubstr("not known here"));
  EXPECT_THAT(check_kernel("mine").warnings, SizeIs(1));
}

TEST_F(HostChecks, TheFixForNamespacesIsTheOneThatThisHostNeeds) {
  const auto fix = [this] { return namespace_fix(host_, Privileges::ordinary_user); };
  EXPECT_THAT(fix(), HasSubstr("CONFIG_USER_NS"));
  put("/.dockerenv", "");
  EXPECT_THAT(fix(), HasSubstr("container"));
  put("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1\n");
  EXPECT_THAT(fix(), HasSubstr("belljar doctor --apparmor-profile"));
  EXPECT_THAT(namespace_fix(host_, Privileges::root), HasSubstr("container"));
  put("/proc/sys/kernel/unprivileged_userns_clone", "0\n");
  EXPECT_THAT(fix(), HasSubstr("sysctl -w kernel.unprivileged_userns_clone=1"));
  put("/proc/sys/user/max_user_namespaces", "0\n");
  EXPECT_THAT(fix(), HasSubstr("sysctl -w user.max_user_namespaces="));
  EXPECT_THAT(namespace_fix(host_, Privileges::root), HasSubstr("user.max_user_namespaces="));
}

TEST(AppArmorProfile, IsForTheLauncherOnly) {
  const std::string profile = apparmor_profile("/opt/my tools/belljar-launcher");
  EXPECT_THAT(profile, HasSubstr("profile belljar-launcher \"/opt/my tools/belljar-launcher\" "
                                 "flags=(unconfined) {\n  userns,\n"));
}

TEST(AppArmorProfile, IsNotMadeForPathsThatWouldMeanMoreThanOneFile) {
  for (const char* path : {"/opt/*/belljar-launcher", "/a\"b", "/a{b,c}", "/a\nb", "relative", ""})
    EXPECT_THROW(apparmor_profile(path), Error) << path;
}

}  // namespace
}  // namespace belljar::linux_driver
