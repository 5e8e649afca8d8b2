#include "drivers/docker/engine_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>

#include "base/error.h"

namespace belljar::docker {
namespace {

using Need = Feature::Need;
using State = Feature::State;

constexpr const char* kCgroupFix =
    "Run the engine as root, or rootless with cgroup v2 and the memory, pids and cpu controllers "
    "delegated to its user (systemd: Delegate=memory pids cpu cpuset of user@.service).";
constexpr const char* kSwapFix = "Boot with swapaccount=1, or use cgroup v2.";

Feature limit(const char* name, bool holds, const char* what, const char* fix) {
  return {.name = name,
          .group = "limits",
          .state = holds ? State::enforced : State::missing,
          .need = Need::required,
          .detail = holds ? fmt::format("{}, by the container's cgroup", what)
                          : fmt::format("the engine cannot limit {}", what),
          .fix = holds ? "" : fix};
}

Feature seccomp(const EngineInfo& info, bool own_kernel) {
  if (own_kernel) {
    return {.name = "seccomp",
            .group = "",
            .state = State::enforced,
            .need = Need::required,
            .detail = "a filter of belljar's agent, before a kernel of the container's own",
            .fix = ""};
  }
  return {.name = "seccomp",
          .group = "",
          .state = info.has_seccomp ? State::enforced : State::missing,
          .need = Need::required,
          .detail = info.has_seccomp ? "belljar's own profile, for every container"
                                     : "the engine was built without it, or the kernel has none",
          .fix = info.has_seccomp ? "" : "Use an engine and a kernel with seccomp."};
}

Feature linux_containers(const EngineInfo& info) {
  const bool holds = info.os == "linux";
  return {.name = "linux-containers",
          .group = "",
          .state = holds ? State::enforced : State::missing,
          .need = Need::required,
          .detail = holds ? "the engine runs them" : "the engine runs containers of another system",
          .fix = holds ? "" : "Switch the engine to Linux containers."};
}

Feature user_namespace(const EngineInfo& info) {
  const bool holds = info.is_rootless || info.has_user_namespaces;
  const char* const how = info.is_rootless           ? "the engine runs rootless"
                          : info.has_user_namespaces ? "the engine remaps ids (userns-remap)"
                                                     : "user ids in containers are ids of the host";
  return {.name = "user-namespace",
          .group = "namespaces",
          .state = holds ? State::enforced : State::missing,
          .need = Need::optional,
          .detail = how,
          .fix = holds ? ""
                       : "Set \"userns-remap\": \"default\" in /etc/docker/daemon.json, or run the "
                         "engine rootless."};
}

// Podman's API takes the wish and keeps to its own default.
Feature cgroup_namespace(const EngineVersion& version, const EngineInfo& info) {
  const bool holds = version.product != "Podman" || info.cgroup_version == 2;
  return {.name = "cgroup-namespace",
          .group = "namespaces",
          .state = holds ? State::enforced : State::missing,
          .need = Need::optional,
          .detail = holds ? "every container has its own"
                          : "programs see the names of the host's cgroups",
          .fix = holds ? "" : "Use cgroup v2, or set cgroupns = \"private\" in containers.conf."};
}

// A version of runc as numbers; a candidate (-rc.3) comes before its release.
struct Version {
  std::array<int, 3> numbers{};
  int candidate = 1'000'000;

  bool operator<(const Version& other) const {
    return std::tie(numbers, candidate) < std::tie(other.numbers, other.candidate);
  }
};

std::optional<Version> parse_version(const std::string& text) {
  Version version;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (int& number : version.numbers) {
    if (&number != version.numbers.data()) {
      if (at == end || *at != '.') return std::nullopt;
      ++at;
    }
    const auto [rest, bad] = std::from_chars(at, end, number);
    if (bad != std::errc{}) return std::nullopt;
    at = rest;
  }
  const std::string tail{at, end};
  constexpr std::string_view kCandidate = "-rc.";
  if (tail.rfind(kCandidate, 0) == 0)
    std::from_chars(at + kCandidate.size(), end, version.candidate);
  return version;
}

// The first releases of each line with the fixes of November 2025 (CVE-2025-31133, -52565, -52881)
// and for CVE-2026-41579. An older line has none. A later line has them.
constexpr const char* kFixed[] = {"1.3.6", "1.4.3", "1.5.0-rc.3"};

bool has_fixes(const Version& version) {
  const auto line = [](const Version& one) { return std::pair{one.numbers[0], one.numbers[1]}; };
  for (const char* text : kFixed) {
    const Version fixed = *parse_version(text);
    if (line(version) == line(fixed)) return !(version < fixed);
  }
  return line(*parse_version(kFixed[std::size(kFixed) - 1])) < line(version);
}

// Distributions carry fixes over to older versions and say so in their own part: "+ds1",
// "-0ubuntu".
bool is_of_distribution(std::string_view version) {
  return version.find("+ds") != version.npos || version.find("ubuntu") != version.npos ||
         version.find("deb") != version.npos || version.find(".el") != version.npos ||
         version.find(".fc") != version.npos;
}

Feature runc(const EngineVersion& version) {
  Feature feature{.name = "runc",
                  .group = "",
                  .state = State::enforced,
                  .need = Need::optional,
                  .detail = version.runc + " has the known fixes",
                  .fix = ""};
  const auto parsed = parse_version(version.runc);
  if (parsed && has_fixes(*parsed)) return feature;
  feature.state = State::degraded;
  feature.fix =
      "Update runc to 1.3.6, 1.4.3 or 1.5.0 (CVE-2025-31133, CVE-2025-52565, CVE-2025-52881, "
      "CVE-2026-41579).";
  if (!parsed) {
    feature.detail = "the engine does not say which version it uses, or uses another runtime";
    feature.fix = "See that the engine's runtime is up to date.";
  } else if (is_of_distribution(version.runc)) {
    feature.detail =
        fmt::format("{} is older than the known fixes, unless its distribution carried them over",
                    version.runc);
    feature.fix = "See that the distribution's security updates are installed. " + feature.fix;
  } else {
    feature.detail = version.runc + " lacks known fixes: hostile images and programs may get out";
  }
  return feature;
}

}  // namespace

bool has_own_kernel(const EngineInfo& info, const std::string& runtime) {
  const auto& all = info.own_kernel_runtimes;
  return std::find(all.begin(), all.end(), runtime) != all.end();
}

std::vector<Feature> check_engine(const EngineVersion& version, const EngineInfo& info,
                                  bool own_kernel) {
  Feature of_runc = runc(version);
  if (own_kernel) of_runc.need = Need::convenience;  // it runs none of our containers
  return {linux_containers(info),
          seccomp(info, own_kernel),
          limit("memory-limit", info.limits_memory, "memory", kCgroupFix),
          limit("swap", info.limits_swap, "swap", kSwapFix),
          limit("pids-limit", info.limits_pids, "processes and threads", kCgroupFix),
          limit("cpu-limit", info.limits_cpu, "processor time", kCgroupFix),
          user_namespace(info),
          cgroup_namespace(version, info),
          of_runc};
}

std::vector<std::string> feature_names() {
  std::vector<std::string> names;
  for (const Feature& feature : check_engine({}, {})) {
    names.push_back(feature.name);
    const bool is_new = std::find(names.begin(), names.end(), feature.group) == names.end();
    if (!feature.group.empty() && is_new) names.push_back(feature.group);
  }
  return names;
}

void check_runtime(const EngineVersion& version, const EngineInfo& info, const std::string& name) {
  const bool own_kernel = has_own_kernel(info, name.empty() ? info.default_runtime : name);
  if (own_kernel && version.product == "Podman")
    fail(Code::unavailable,
         "belljar knows how to use containers with a kernel of their own with Docker only: choose "
         "another runtime in Podman's containers.conf");
  if (name.empty() || name == info.default_runtime) return;
  const auto& runtimes = info.runtimes;
  if (std::find(runtimes.begin(), runtimes.end(), name) == runtimes.end())
    fail(Code::unavailable,
         "the container engine has no runtime '{}': install it and name it in the engine's "
         "configuration, or choose one of {}",
         one_line(name, 64), fmt::join(runtimes, ", "));
  if (version.product == "Podman")
    fail(Code::unavailable,
         "Podman runs containers of its API by its default runtime, {}, only: set `runtime = "
         "\"{}\"` in its containers.conf",
         info.default_runtime, name);
}

}  // namespace belljar::docker
