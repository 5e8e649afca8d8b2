#include "drivers/linux/host_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <filesystem>

#include "base/error.h"
#include "base/posix.h"

namespace belljar::linux_driver {

std::optional<std::string> HostFiles::read(const std::string& path) const {
  try {
    std::string content = read_file(root_ + path, 1u << 20);
    while (!content.empty() && content.back() == '\n') content.pop_back();
    return content;
  } catch (const Error&) {
    return std::nullopt;
  }
}

bool HostFiles::exists(const std::string& path) const {
  std::error_code ignored;
  return std::filesystem::exists(root_ + path, ignored);
}

std::optional<std::string> HostFiles::sysctl(std::string name) const {
  std::replace(name.begin(), name.end(), '.', '/');
  return read("/proc/sys/" + name);
}

namespace {

using State = HostSetting::State;

struct Sysctl {
  const char* name;
  int low;
  int high;
  State absent;  // what it means that this kernel does not have it
  const char* why;
};

constexpr int kAny = 1000;

constexpr Sysctl kSysctls[] = {
    {"kernel.unprivileged_bpf_disabled", 1, kAny, State::good, "bpf() has been a way to root"},
    {"kernel.kptr_restrict", 1, kAny, State::weak, "hides kernel addresses that exploits need"},
    {"kernel.dmesg_restrict", 1, 1, State::weak, "the kernel's log shows addresses, too"},
    {"kernel.perf_event_paranoid", 2, kAny, State::good, "perf has been a way to root"},
    {"kernel.yama.ptrace_scope", 1, 3, State::weak, "one program of a user may not read another"},
    {"vm.unprivileged_userfaultfd", 0, 0, State::good, "makes races in the kernel easy to win"},
    {"kernel.io_uring_disabled", 1, 2, State::weak, "a large and young part of the kernel"},
    {"dev.tty.legacy_tiocsti", 0, 0, State::weak, "lets a program type into its terminal"},
    {"fs.protected_symlinks", 1, 1, State::weak, "links planted in /tmp are not followed"},
    {"fs.protected_hardlinks", 1, 1, State::weak, "no hard links to files of others"},
    {"fs.protected_fifos", 2, 2, State::weak, "FIFOs planted in /tmp are not opened"},
    {"fs.protected_regular", 2, 2, State::weak, "files planted in /tmp are not opened"},
    {"fs.suid_dumpable", 0, 0, State::weak, "privileged programs leave no core dumps"},
    {"kernel.kexec_load_disabled", 1, 1, State::good, "root cannot swap the kernel unseen"},
};

std::string wanted_text(const Sysctl& rule) {
  if (rule.low == rule.high) return std::to_string(rule.low);
  return rule.high == kAny ? fmt::format("{} or more", rule.low)
                           : fmt::format("{} to {}", rule.low, rule.high);
}

HostSetting check(const HostFiles& host, const Sysctl& rule) {
  HostSetting setting{rule.name, "", wanted_text(rule), State::good, rule.why, ""};
  std::string path = rule.name;
  std::replace(path.begin(), path.end(), '.', '/');
  const auto text = host.sysctl(rule.name);
  int value = 0;
  if (text && std::from_chars(text->data(), text->data() + text->size(), value).ec == std::errc{}) {
    setting.value = *text;
    setting.state = value >= rule.low && value <= rule.high ? State::good : State::weak;
    if (setting.state == State::weak) {
      setting.fix = fmt::format("sysctl -w {}={}", rule.name, rule.low);
    }
  } else if (text || host.exists("/proc/sys/" + path)) {
    setting.value = "not readable";
    setting.state = State::unknown;
    setting.fix = "Run `belljar doctor` as root to see it.";
  } else {
    setting.value = "absent";
    setting.state = rule.absent;
    if (setting.state == State::weak)
      setting.fix = "This kernel does not have it: use one that does.";
  }
  return setting;
}

HostSetting check_core_pattern(const HostFiles& host) {
  const std::string value = host.sysctl("kernel.core_pattern").value_or("");
  HostSetting setting{"kernel.core_pattern",
                      value,
                      "a pipe or an absolute path",
                      State::good,
                      "core dumps do not land where programs choose",
                      ""};
  if (value.empty()) {
    setting.state = State::unknown;
    setting.fix = "Run `belljar doctor` as root to see it.";
  } else if (value[0] != '|' && value[0] != '/') {
    setting.state = State::weak;
    setting.fix = "sysctl -w kernel.core_pattern=/var/crash/core.%p";
  }
  return setting;
}

HostSetting check_same_page_merging(const HostFiles& host) {
  const std::string value = host.read("/sys/kernel/mm/ksm/run").value_or("absent");
  const bool on = value == "1";
  return {"ksm",
          value,
          "0",
          on ? State::weak : State::good,
          "merged pages tell programs what others have in memory",
          on ? "echo 2 > /sys/kernel/mm/ksm/run" : ""};
}

HostSetting check_swap(const HostFiles& host) {
  const auto table = host.read("/proc/swaps");
  HostSetting setting{"swap",
                      "none",
                      "none, or encrypted",
                      State::good,
                      "what sandboxes had in memory stays on the disk",
                      ""};
  if (!table) {
    setting.value = "not readable";
    setting.state = State::unknown;
    setting.fix = "Run `belljar doctor` as root to see it.";
  } else if (table->find('\n') != std::string::npos) {
    setting.value = "in use";
    setting.state = State::weak;
    setting.fix = "swapoff -a, or use an encrypted swap device (which this check cannot see).";
  }
  return setting;
}

// Loaded when a socket of their kind is asked for; sandboxes cannot, but other programs may.
HostSetting check_modules(const HostFiles& host) {
  constexpr const char* kRisky[] = {"af_alg", "algif_aead", "algif_hash", "algif_skcipher", "rxrpc",
                                    "esp4",   "esp6",       "vsock",      "tipc",           "sctp",
                                    "dccp",   "rds",        "n_hdlc"};
  const std::string modules = "\n" + host.read("/proc/modules").value_or("");
  HostSetting setting{"modules",
                      "",
                      "none of the risky ones loaded",
                      State::good,
                      "parts of the kernel that recent holes were in",
                      ""};
  for (const char* name : kRisky) {
    if (modules.find(fmt::format("\n{} ", name)) == std::string::npos) continue;
    setting.value += (setting.value.empty() ? "" : " ") + std::string{name};
    setting.fix += fmt::format("{}install {} /bin/false", setting.fix.empty() ? "" : "; ", name);
  }
  if (setting.value.empty()) {
    setting.value = "none";
  } else {
    setting.state = State::weak;
    setting.fix = "If nothing needs them, in /etc/modprobe.d/belljar.conf: " + setting.fix;
  }
  return setting;
}

// The first release of each line with the fixes for CVE-2026-43284 and CVE-2026-43500.
struct Line {
  int major, minor, fixed;
};
constexpr Line kLines[] = {{6, 6, 138}, {6, 12, 87}, {6, 18, 29}, {7, 0, 6}};
constexpr const char* kAsOf = "2026-08";
constexpr const char* kHoles =
    "CVE-2026-43284 and CVE-2026-43500 (a program writes into files that it may only read)";

}  // namespace

std::vector<HostSetting> check_settings(const HostFiles& host) {
  std::vector<HostSetting> settings;
  for (const Sysctl& rule : kSysctls) settings.push_back(check(host, rule));
  settings.push_back(check_core_pattern(host));
  settings.push_back(check_same_page_merging(host));
  settings.push_back(check_swap(host));
  settings.push_back(check_modules(host));
  return settings;
}

KernelReport check_kernel(std::string release) {
  KernelReport report{std::move(release), kAsOf, {}};
  int major = 0;
  int minor = 0;
  int patch = 0;
  if (std::sscanf(report.release.c_str(), "%d.%d.%d", &major, &minor, &patch) < 2) {
    report.warnings.emplace_back("the kernel's version cannot be read, so its age is unknown");
    return report;
  }
  for (const Line& line : kLines) {
    if (line.major != major || line.minor != minor) continue;
    if (patch < line.fixed) {
      report.warnings.push_back(
          fmt::format("Linux {}.{}.{} or newer has the fixes for {}: update the kernel", major,
                      minor, line.fixed, kHoles));
    }
    return report;
  }
  const Line& newest = kLines[std::size(kLines) - 1];
  if (std::pair{major, minor} > std::pair{newest.major, newest.minor}) return report;
  report.warnings.push_back(fmt::format(
      "the versions of Linux {}.{} that have the fixes for {} are not known here: ask whoever "
      "makes "
      "this kernel, or use 6.6.138, 6.12.87, 6.18.29, 7.0.6 or a newer one of these lines",
      major, minor, kHoles));
  return report;
}

std::string namespace_fix(const HostFiles& host, Privileges privileges) {
  const auto is = [&host](const char* name, const char* value) {
    return host.sysctl(name) == std::optional<std::string>{value};
  };
  constexpr const char* kKeep = "(and put that line, without `sysctl -w`, into /etc/sysctl.d)";
  if (is("user.max_user_namespaces", "0")) {
    return fmt::format("sysctl -w user.max_user_namespaces=15000 {}.", kKeep);
  }
  if (privileges == Privileges::ordinary_user) {
    if (is("kernel.unprivileged_userns_clone", "0"))
      return fmt::format("sysctl -w kernel.unprivileged_userns_clone=1 {}.", kKeep);
    if (is("kernel.apparmor_restrict_unprivileged_userns", "1")) {
      return "AppArmor lets only programs with a profile use user namespaces. Give the launcher, "
             "and nothing else, one: belljar doctor --apparmor-profile | sudo tee "
             "/etc/apparmor.d/belljar && sudo apparmor_parser -r /etc/apparmor.d/belljar";
    }
  }
  if (host.exists("/.dockerenv") || host.exists("/run/.containerenv")) {
    return "This is a container that may not make namespaces. Run belljar outside of it, or give "
           "the container a seccomp and AppArmor profile that allows unshare, clone and mount "
           "(docker: --security-opt seccomp=unconfined --security-opt apparmor=unconfined "
           "--security-opt systempaths=unconfined).";
  }
  return "The kernel, a security module or a seccomp filter refuses namespaces to this process: "
         "use "
         "a kernel with CONFIG_USER_NS, and see the log of the security module.";
}

std::string apparmor_profile(std::string_view launcher) {
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view{"/._+- "}.find(static_cast<char>(c)) != std::string_view::npos;
  };
  if (!launcher.starts_with('/') || !std::all_of(launcher.begin(), launcher.end(), plain)) {
    fail(Code::invalid,
         "the path {} has characters that mean something else in an AppArmor profile; install "
         "belljar elsewhere",
         launcher);
  }
  return fmt::format(
      "# Lets belljar's launcher, and no other program, use user namespaces where\n"
      "# kernel.apparmor_restrict_unprivileged_userns is 1. Printed with the path of an\n"
      "# installation by `belljar doctor --apparmor-profile`; belongs to /etc/apparmor.d/belljar.\n"
      "abi <abi/4.0>,\n"
      "include <tunables/global>\n"
      "\n"
      "profile belljar-launcher \"{}\" flags=(unconfined) {{\n"
      "  userns,\n"
      "\n"
      "  include if exists <local/belljar>\n"
      "}}\n",
      launcher);
}

}  // namespace belljar::linux_driver
