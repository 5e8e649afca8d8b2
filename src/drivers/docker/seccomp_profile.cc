#include "drivers/docker/seccomp_profile.h"

#include <cerrno>
#include <map>
#include <optional>

#include "base/json.h"
#include "drivers/docker/unavailable_calls.h"

namespace belljar::docker {
namespace {

using syscalls::ArgumentRule;
using syscalls::ArgumentTest;

constexpr unsigned kArguments = 6;

// Bits of the arguments of a call that are known: of argument i those of mask[i], and their value.
struct Known {
  unsigned long long mask[kArguments] = {};
  unsigned long long value[kArguments] = {};

  Known with(unsigned index, unsigned long long bit, bool is_set) const {
    Known more = *this;
    more.mask[index] |= bit;
    if (is_set) more.value[index] |= bit;
    return more;
  }
};

bool may_match(const ArgumentRule& rule, const Known& known) {
  for (unsigned i = 0; i < rule.count; ++i) {
    const ArgumentTest& test = rule.tests[i];
    const auto common = test.mask & known.mask[test.index];
    if (((known.value[test.index] ^ test.wanted) & common) != 0) return false;
  }
  return true;
}

bool must_match(const ArgumentRule& rule, const Known& known) {
  for (unsigned i = 0; i < rule.count; ++i) {
    const ArgumentTest& test = rule.tests[i];
    if ((test.mask & ~known.mask[test.index]) != 0) return false;
  }
  return may_match(rule, known);
}

struct Bit {
  unsigned index = 0;
  unsigned long long bit = 0;
};

// The unknown bit that decides about the most rules: that makes for few forms. If it is a tie, one
// about which the rules agree, whose other value then is a form of its own at once.
Bit choose_bit(const std::vector<ArgumentRule>& rules, const Known& known) {
  Bit best;
  size_t best_score = 0;
  for (unsigned index = 0; index < kArguments; ++index) {
    for (unsigned shift = 0; shift < 64; ++shift) {
      const unsigned long long bit = 1ull << shift;
      if ((known.mask[index] & bit) != 0) continue;
      size_t set = 0;
      size_t clear = 0;
      for (const ArgumentRule& rule : rules) {
        for (unsigned i = 0; i < rule.count; ++i) {
          const ArgumentTest& test = rule.tests[i];
          if (test.index == index && (test.mask & bit) != 0)
            ++((test.wanted & bit) != 0 ? set : clear);
        }
      }
      const size_t score = 2 * (set + clear) + (set == 0 || clear == 0 ? 1 : 0);
      if (set + clear == 0 || score <= best_score) continue;
      best = {index, bit};
      best_score = score;
    }
  }
  return best;
}

// Adds the uses of a call that `known` leaves open and no rule matches.
void add_remaining(const std::vector<ArgumentRule>& rules, const Known& known,
                   std::vector<CallForm>& forms) {
  std::vector<ArgumentRule> open;
  for (const ArgumentRule& rule : rules) {
    if (must_match(rule, known)) return;
    if (may_match(rule, known)) open.push_back(rule);
  }
  if (open.empty()) {
    CallForm form;
    for (unsigned index = 0; index < kArguments; ++index)
      if (known.mask[index] != 0) form.push_back({index, known.mask[index], known.value[index]});
    forms.push_back(std::move(form));
    return;
  }
  const Bit next = choose_bit(open, known);
  add_remaining(open, known.with(next.index, next.bit, false), forms);
  add_remaining(open, known.with(next.index, next.bit, true), forms);
}

json::array only(std::string_view text) {
  json::array array;
  array.emplace_back(text);
  return array;
}

json::object entry(json::array names, const CallForm& form) {
  json::array tests;
  for (const ArgumentTest& test : form) {
    json::object object;
    object["index"] = test.index;
    object["op"] = "SCMP_CMP_MASKED_EQ";
    object["value"] = test.mask;
    object["valueTwo"] = test.wanted;
    tests.emplace_back(std::move(object));
  }
  json::object object;
  object["names"] = std::move(names);
  object["action"] = "SCMP_ACT_ALLOW";
  object["args"] = std::move(tests);
  return object;
}

json::object refusal() {
  json::array names;
  for (const char* name : kUnavailable) names.emplace_back(name);
  json::object object;
  object["names"] = std::move(names);
  object["action"] = "SCMP_ACT_ERRNO";
  object["errnoRet"] = ENOSYS;
  return object;
}

#if defined(__x86_64__)
constexpr const char* kArchitecture = "SCMP_ARCH_X86_64";
#elif defined(__aarch64__)
constexpr const char* kArchitecture = "SCMP_ARCH_AARCH64";
#else
#error "belljar does not know this architecture"
#endif

}  // namespace

// To say "any number but these" takes a form per bit; of small numbers only, a few. A kernel
// refuses all others anyway. It is worth it: runtimes translate the whole profile for each
// container, which took 20 ms without this and takes 7.
CallForm meaningful(std::string_view call) {
  if (call == "setrlimit") return {{0, 0xfffffff0, 0}};  // RLIM_NLIMITS is 16
  if (call == "prlimit64") return {{1, 0xfffffff0, 0}};
  if (call == "setsockopt") return {{1, 0xfffffe00, 0}, {2, 0xffffff00, 0}};  // SOL_VSOCK is 287
  if (call == "prctl") return {{0, 0xffffff80, 0}};  // and PR_SET_VMA: see below
  return {};
}

std::vector<CallForm> remaining_forms(const std::vector<ArgumentRule>& denied,
                                      const CallForm& within) {
  Known known;
  for (const ArgumentTest& test : within) {
    known.mask[test.index] = test.mask;
    known.value[test.index] = test.wanted;
  }
  std::vector<CallForm> forms;
  add_remaining(denied, known, forms);
  return forms;
}

std::string seccomp_profile() {
  std::map<std::string, std::vector<ArgumentRule>> denied;
  for (const ArgumentRule& rule : syscalls::kDeniedForms) denied[rule.name].push_back(rule);
  json::array plain;
  for (const char* name : syscalls::kAllowed)
    if (denied.count(name) == 0) plain.emplace_back(name);
  json::array entries;
  entries.emplace_back(entry(std::move(plain), {}));
  entries.emplace_back(refusal());
  for (const ArgumentRule& rule : syscalls::kAllowedForms)
    entries.emplace_back(entry(only(rule.name), CallForm{rule.tests, rule.tests + rule.count}));
  for (const auto& [name, rules] : denied)
    for (const CallForm& form : remaining_forms(rules, meaningful(name)))
      entries.emplace_back(entry(only(name), form));
  // By which allocators give names to memory: the one large number that prctl() is called with.
  constexpr unsigned kSetVma = 0x53564d41;
  entries.emplace_back(entry(only("prctl"), {{0, 0xffffffff, kSetVma}}));
  json::object profile;
  profile["defaultAction"] = "SCMP_ACT_ERRNO";
  profile["architectures"] = only(kArchitecture);
  profile["syscalls"] = std::move(entries);
  return json::serialize(profile);
}

}  // namespace belljar::docker
