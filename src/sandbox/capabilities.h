#pragma once

#include <optional>
#include <string>
#include <vector>

// What a driver can enforce on this host, in words for the operator and as a grade for results.
namespace belljar {

// One protection or limit.
struct Feature {
  enum class State { enforced, degraded, missing };
  // Without a required one there are no sandboxes; without an optional one isolation is reduced; a
  // convenience makes no difference to isolation.
  enum class Need { required, optional, convenience };
  std::string name;   // "memory-limit"
  std::string group;  // "limits": names several at once; may be empty
  State state = State::enforced;
  Need need = Need::required;
  std::string detail;  // how, or why not
  std::string fix;     // what the operator can do about it; empty when enforced
};

// A setting of the host that helps or harms every program on it. Never a reason to refuse.
struct HostSetting {
  enum class State { good, weak, unknown };
  std::string name;  // "kernel.kptr_restrict"
  std::string value;
  std::string wanted;
  State state = State::good;
  std::string why;
  std::string fix;  // empty when good
};

struct KernelReport {
  std::string release;
  std::string as_of;  // the date of what is known about fixed versions
  std::vector<std::string> warnings;
};

struct Capabilities {
  std::string driver;
  std::string boundary = "native";  // see Isolation
  std::vector<Feature> features;
  std::vector<HostSetting> settings;
  KernelReport kernel;
};

// How strong the walls are. Full: everything is enforced. Reduced: optional features are not; they
// are named in `weaker`. Refused: a required one is not, and there are no sandboxes.
struct Isolation {
  enum class Grade { full, reduced, refused };
  Grade grade = Grade::full;
  std::vector<std::string> weaker;
  std::string boundary = "native";  // what stands between programs and the host
};

Isolation isolation_of(const std::vector<Feature>& features);

// "full", "reduced" or "refused".
const char* name_of(Isolation::Grade grade);

// What keeps belljar from starting: those that are not enforced although they are required, or
// demanded by their name or group.
std::vector<Feature> find_unmet(const std::vector<Feature>& features,
                                const std::vector<std::string>& demanded);

}  // namespace belljar
