#include "drivers/docker/seccomp_profile.h"

#include <gmock/gmock.h>
#include <seccomp.h>

#include <cerrno>
#include <map>
#include <random>
#include <set>

#include "base/json.h"

namespace belljar::docker {
namespace {

using syscalls::ArgumentRule;
using syscalls::ArgumentTest;
using Arguments = std::array<unsigned long long, 6>;

template <class Tests>
bool matches(const Tests& tests, size_t count, const Arguments& arguments) {
  for (size_t i = 0; i < count; ++i)
    if ((arguments[tests[i].index] & tests[i].mask) != tests[i].wanted) return false;
  return true;
}

bool is_denied(const std::vector<ArgumentRule>& rules, const Arguments& arguments) {
  for (const ArgumentRule& rule : rules)
    if (matches(rule.tests, rule.count, arguments)) return true;
  return false;
}

size_t count_matches(const std::vector<CallForm>& forms, const Arguments& arguments) {
  size_t count = 0;
  for (const CallForm& form : forms)
    if (matches(form, form.size(), arguments)) ++count;
  return count;
}

std::map<std::string, std::vector<ArgumentRule>> denied_by_name() {
  std::map<std::string, std::vector<ArgumentRule>> denied;
  for (const ArgumentRule& rule : syscalls::kDeniedForms) denied[rule.name].push_back(rule);
  return denied;
}

// What a rule denies, what differs from that in one bit, and what has bits that the kernel does not
// look at.
std::vector<Arguments> samples(const ArgumentRule& rule, std::mt19937_64& random) {
  Arguments exact{};
  Arguments noisy{random(), random(), random(), random(), random(), random()};
  for (unsigned i = 0; i < rule.count; ++i) {
    const ArgumentTest& test = rule.tests[i];
    exact[test.index] = test.wanted;
    noisy[test.index] = (noisy[test.index] & ~test.mask) | test.wanted;
  }
  std::vector<Arguments> list{exact, noisy};
  for (unsigned i = 0; i < rule.count; ++i) {
    for (unsigned bit = 0; bit < 64; ++bit) {
      for (Arguments near : {exact, noisy}) {
        near[rule.tests[i].index] ^= 1ull << bit;
        list.push_back(near);
      }
    }
  }
  return list;
}

TEST(SeccompProfile, AllowsExactlyWhatNoRuleDenies) {
  std::mt19937_64 random{7};
  for (const auto& [name, rules] : denied_by_name()) {
    const std::vector<CallForm> forms = remaining_forms(rules);
    for (const ArgumentRule& rule : rules) {
      for (const Arguments& arguments : samples(rule, random))
        EXPECT_EQ(count_matches(forms, arguments), is_denied(rules, arguments) ? 0u : 1u) << name;
    }
    for (int i = 0; i < 10'000; ++i) {
      // Small numbers, as most arguments are, and any.
      const unsigned shift = i % 60;
      const Arguments arguments{random() >> shift, random() >> shift, random() >> shift,
                                random() >> shift, random() >> shift, random() >> shift};
      ASSERT_EQ(count_matches(forms, arguments), is_denied(rules, arguments) ? 0u : 1u) << name;
    }
  }
}

TEST(SeccompProfile, AllowsOfWhatMeansSomethingWhatNoRuleDenies) {
  std::mt19937_64 random{7};
  for (const auto& [name, rules] : denied_by_name()) {
    const CallForm within = meaningful(name);
    const std::vector<CallForm> forms = remaining_forms(rules, within);
    const auto check = [&](const Arguments& arguments) {
      const bool is_allowed =
          !is_denied(rules, arguments) && matches(within, within.size(), arguments);
      ASSERT_EQ(count_matches(forms, arguments), is_allowed ? 1u : 0u) << name;
    };
    for (const ArgumentRule& rule : rules)
      for (const Arguments& arguments : samples(rule, random)) check(arguments);
    for (unsigned long long first = 0; first < 256; ++first)
      for (unsigned long long second = 0; second < 256; ++second)
        check({first, first, second, random(), random(), random()});
  }
}

TEST(SeccompProfile, TestsAnArgumentOncePerForm) {
  for (const auto& [name, rules] : denied_by_name()) {
    for (const CallForm& form : remaining_forms(rules, meaningful(name))) {
      std::set<unsigned> seen;
      for (const ArgumentTest& test : form)
        EXPECT_TRUE(seen.insert(test.index).second) << name << " argument " << test.index;
    }
  }
}

// A runtime needs time for each of them, whenever a container starts.
TEST(SeccompProfile, IsSmallEnoughForAnEngine) {
  const json::value profile = json::parse(seccomp_profile());
  EXPECT_LT(profile.at("syscalls").as_array().size(), 200u);
}

// By name: how the entries of the profile without arguments answer.
std::map<std::string, std::string> plain_entries() {
  std::map<std::string, std::string> plain;
  const json::value profile = json::parse(seccomp_profile());
  for (const json::value& entry : profile.at("syscalls").as_array()) {
    const json::object& object = entry.as_object();
    const json::value* const arguments = belljar::find(object, "args");
    if (arguments != nullptr && !arguments->as_array().empty()) continue;
    for (const json::value& name : entry.at("names").as_array()) {
      const bool is_new = plain.emplace(name.as_string(), entry.at("action").as_string()).second;
      EXPECT_TRUE(is_new) << name;
    }
  }
  return plain;
}

TEST(SeccompProfile, AllowsWithoutConditionsOnlyWhatHasNone) {
  const auto plain = plain_entries();
  for (const ArgumentRule& rule : syscalls::kDeniedForms) EXPECT_EQ(plain.count(rule.name), 0u);
  for (const ArgumentRule& rule : syscalls::kAllowedForms) EXPECT_EQ(plain.count(rule.name), 0u);
  const auto denied = denied_by_name();
  for (const char* name : syscalls::kAllowed)
    if (denied.count(name) == 0) EXPECT_EQ(plain.at(name), "SCMP_ACT_ALLOW") << name;
  EXPECT_EQ(json::parse(seccomp_profile()).at("defaultAction"), "SCMP_ACT_ERRNO");
}

TEST(SeccompProfile, NamesEveryCallThatLibseccompKnows) {
  std::set<std::string> named;
  const json::value profile = json::parse(seccomp_profile());
  for (const json::value& entry : profile.at("syscalls").as_array())
    for (const json::value& name : entry.at("names").as_array()) named.emplace(name.as_string());
  for (int number = 0; number < 600; ++number) {
    char* const name = ::seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, number);
    if (name != nullptr) EXPECT_EQ(named.count(name), 1u) << name;
    std::free(name);
  }
}

TEST(SeccompProfile, AnswersEnosysToWhatIsNotOnTheList) {
  const auto plain = plain_entries();
  for (const char* name : {"clone3", "unshare", "mount", "ptrace", "bpf", "openat2"})
    EXPECT_EQ(plain.at(name), "SCMP_ACT_ERRNO") << name;
  const json::value profile = json::parse(seccomp_profile());
  for (const json::value& entry : profile.at("syscalls").as_array())
    if (entry.at("action") == "SCMP_ACT_ERRNO") EXPECT_EQ(entry.at("errnoRet"), ENOSYS);
}

}  // namespace
}  // namespace belljar::docker
