#include "drivers/linux/probe.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace belljar::linux_driver {

namespace {

using State = Feature::State;

class Ignore final : public OutputSink {
 public:
  void write(Stream, std::string_view) override {}
};

std::string kernel_release() {
  utsname name{};
  return ::uname(&name) == 0 ? name.release : "unknown";
}

// The one sentence an operator needs for the failures that hosts really have.
std::string fix_for(const std::string& failure) {
  const auto mentions = [&failure](const char* words) {
    return failure.find(words) != std::string::npos;
  };
  if (::geteuid() != 0)
    return "Run belljar as root (sudo); running as an ordinary user is not supported yet.";
  if (mentions("/run/belljar")) return "Make /run writable for root.";
  if (mentions("cgroup")) {
    return "Mount cgroup v2 with the memory, pids and cpu controllers (systemd does), or the v1 "
           "controllers; in a "
           "container give it a writable cgroup file system.";
  }
  if (mentions("user namespace") || mentions("make the namespaces")) {
    return "Allow user namespaces: sysctl user.max_user_namespaces must be above 0.";
  }
  if (mentions("overlay") || mentions("mount the root"))
    return "Load the overlay module (modprobe overlay); Linux 5.11 or newer.";
  if (mentions("seccomp")) return "Use a kernel with CONFIG_SECCOMP_FILTER.";
  return "See the step named in the message; `belljar doctor --json` has all that was learned.";
}

}  // namespace

Task<> try_a_sandbox(Driver& driver) {
  SandboxSpec spec;
  const auto sandbox = co_await driver.create(std::move(spec));
  Ignore sink;
  Command command;
  command.argv.emplace_back("/bin/true");
  const auto process = co_await sandbox->start(std::move(command), sink);
  const Outcome outcome = co_await process->wait();
  if (!outcome.ok())
    fail(Code::unavailable, "a first program in a sandbox ended with status {}", outcome.code);
  co_await sandbox->destroy();
}

Capabilities describe_host(const launcher::Reply& facts,
                           const std::optional<std::string>& failure) {
  Capabilities capabilities;
  capabilities.driver = "native";
  auto& list = capabilities.features;
  const auto has = [&facts](launcher::Fact fact) { return (facts.facts & fact) != 0; };
  if (failure) {
    list.push_back({"sandbox", State::missing, true, *failure, fix_for(*failure)});
  } else {
    list.push_back(
        {"sandbox", State::enforced, true,
         "user, mount, pid, network, ipc, uts and cgroup namespaces; own root, no capabilities, "
         "no_new_privs, two seccomp filters; a program ran and passed the posture check",
         ""});
  }
  list.push_back({"kernel", State::enforced, true, "Linux " + kernel_release(), ""});
  if (facts.facts == 0) return capabilities;  // the set-up failed before these were known
  list.push_back({"limits", State::enforced, true,
                  has(launcher::kFactCgroupV2) ? "memory, processes and CPU by cgroup v2"
                                               : "memory, processes and CPU by cgroup v1",
                  ""});
  list.push_back({"kill", State::enforced, true,
                  has(launcher::kFactCgroupKill)
                      ? "cgroup.kill, and the end of the pid namespace"
                      : "freezer and SIGKILL, and the end of the pid namespace",
                  ""});
  const bool landlock = facts.landlock_abi > 0;
  list.push_back(
      {"landlock", landlock ? State::enforced : State::missing, false,
       landlock ? fmt::format("ABI {}", facts.landlock_abi) : "the kernel has no Landlock",
       landlock ? "" : "Use Linux 5.13 or newer with `landlock` in the lsm= list."});
  const bool proc = has(launcher::kFactFullProc);
  list.push_back({"proc", proc ? State::enforced : State::degraded, false,
                  proc ? "masked to an allow-list, with the sandbox's own CPU and memory figures"
                       : "processes only (subset=pid): os.cpus() is empty in programs",
                  proc ? ""
                       : "Inside a container: run it with an unmasked /proc (docker: "
                         "--security-opt systempaths=unconfined)."});
  const bool swap = has(launcher::kFactMemorySwapOff);
  list.push_back(
      {"swap", swap ? State::enforced : State::degraded, false,
       swap ? "sandboxes use none" : "the host does not account swap, so a sandbox may use it",
       swap ? "" : "Boot with swapaccount=1, or turn swap off."});
  list.push_back({"devices", State::enforced, false,
                  has(launcher::kFactDeviceCgroup) ? "five nodes, also by the device cgroup"
                                                   : "five nodes; every other mount is nodev",
                  ""});
  return capabilities;
}

}  // namespace belljar::linux_driver
