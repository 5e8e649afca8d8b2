#include "drivers/linux/feature_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace belljar::linux_driver {

namespace {

using launcher::Trial;
using Need = Feature::Need;
using State = Feature::State;

constexpr const char* kNewKernel = "Use Linux 5.12 or newer.";
constexpr const char* kNamespaceFix = "";  // depends on the host: namespace_fix()
// The kernel lets nobody mount a procfs that shows more than the one that is there.
constexpr const char* kUncover =
    "Something covers parts of /proc. In a container: run it with an unmasked /proc (docker: "
    "--security-opt systempaths=unconfined).";
constexpr const char* kDelegate =
    "As root: mount cgroup v2 with the memory, pids and cpu controllers, or the v1 controllers. As "
    "an ordinary user: start belljar where systemd delegates them (systemd-run --user --scope -p "
    "Delegate=yes belljar …).";

// Nothing that the host lacks, so no row of the table.
constexpr const char* kFewerServers =
    "So many belljars run already that no user ids are left for another (the usual range of 65536 "
    "is enough for 16 of one user). End one, or give the user a larger range in /etc/subuid and "
    "/etc/subgid.";

// clang-format off
constexpr FeatureRow kTable[] = {
    {"user-namespace", "namespaces", Need::required, Trial::user_namespace, 0,
     "made, with its id maps written", "sandboxes cannot be made without rights on the host",
     kNamespaceFix, "user namespace"},
    {"mount-namespace", "namespaces", Need::required, Trial::mount_namespace, 0,
     "made, all mounts private", "programs would see the host's mounts", kNamespaceFix, "mounts private"},
    {"pid-namespace", "namespaces", Need::required, Trial::pid_namespace, 0,
     "made, with a process 1", "programs would see the host's processes", kNamespaceFix, "make the namespaces"},
    {"network-namespace", "namespaces", Need::required, Trial::network_namespace, 0,
     "made", "programs would have the host's network", kNamespaceFix, ""},
    {"ipc-namespace", "namespaces", Need::required, Trial::ipc_namespace, 0,
     "made", "programs would share memory with the host's", kNamespaceFix, ""},
    {"uts-namespace", "namespaces", Need::required, Trial::uts_namespace, 0,
     "made", "programs would see the host's name", kNamespaceFix, ""},
    {"cgroup-namespace", "namespaces", Need::required, Trial::cgroup_namespace, 0,
     "made", "programs would see the host's cgroups", kNamespaceFix, ""},
    {"pivot-root", "", Need::required, Trial::pivot_root, 0,
     "a root replaced, the old one detached", "the host's files would stay in reach", kNamespaceFix, "pivot into"},
    {"overlay", "", Need::required, Trial::overlay, 0,
     "mounted in a user namespace and written to", "a sandbox has no root of its own",
     "Load the overlay module (modprobe overlay); Linux 5.11 or newer.", "mount the root"},
    {"tmpfs", "", Need::required, Trial::sized_tmpfs, 0,
     "what is over its size was refused", "what programs write would have no bound", kNewKernel, "mount the scratch space"},
    {"mount-api", "", Need::required, Trial::mount_api, 0,
     "a tree copied, made read-only and attached by descriptors", "mounts would follow paths",
     kNewKernel, "copy the mount"},
    {"procfs", "", Need::required, Trial::process_proc, 0,
     "mounted with subset=pid in a pid namespace", "programs would have no /proc of their own", kUncover, "mount /proc"},
    {"seccomp", "", Need::required, Trial::seccomp, 0,
     "a filter loaded and asked", "programs could make every system call",
     "Use a kernel with CONFIG_SECCOMP_FILTER.", "seccomp"},
    {"no-new-privs", "", Need::required, Trial::no_new_privs, 0,
     "set and read back", "set-user-ID programs would work", kNewKernel, "drop privileges"},
    {"openat2", "", Need::required, Trial::openat2, 0,
     "a path that leads out was refused", "links in sandboxes could lead out", kNewKernel, ""},
    {"close-range", "", Need::required, Trial::close_range, 0,
     "a descriptor closed", "programs could inherit descriptors", kNewKernel, "close descriptors"},
    {"pidfd", "", Need::required, Trial::pidfd, 0,
     "a process found by it", "a signal could hit another process", kNewKernel, ""},
    {"clone3", "", Need::required, Trial::clone3, 0,
     "a process born by it", "processes cannot be born in their cgroup", kNewKernel, ""},
    {"ids", "", Need::optional, std::nullopt, launcher::kFactOwnIds,
     "each sandbox has user ids of its own", "all sandboxes have the user id of whoever started belljar: limits that the kernel counts per user are shared",
     "Install newuidmap and newgidmap (package uidmap) and give the user a range of at least 65536 ids in /etc/subuid and /etc/subgid.", "id maps"},
    {"memory-limit", "limits", Need::optional, std::nullopt, launcher::kFactMemoryLimit,
     "by cgroup {cgroup}", "by a watchdog and the size of the tmpfs: a fast program can go over it for a moment",
     kDelegate, "cgroup"},
    {"pids-limit", "limits", Need::optional, std::nullopt, launcher::kFactPidsLimit,
     "processes and threads, by cgroup {cgroup}", "by RLIMIT_NPROC, which counts all processes of one user", kDelegate, ""},
    {"cpu-limit", "limits", Need::optional, std::nullopt, launcher::kFactCpuLimit,
     "by cgroup {cgroup}", "by affinity: whole processors only", kDelegate, ""},
    {"swap", "", Need::optional, std::nullopt, launcher::kFactMemorySwapOff,
     "sandboxes use none", "the host does not account swap, so a sandbox may use it",
     "Boot with swapaccount=1, or turn swap off.", ""},
    {"landlock", "", Need::optional, Trial::landlock, 0,
     "a directory was refused (ABI {landlock})", "files are guarded by mounts and permissions only",
     "Use Linux 5.13 or newer with `landlock` in the lsm= list of the kernel's command line.", "Landlock"},
    {"cgroup-kill", "", Need::convenience, std::nullopt, launcher::kFactCgroupKill,
     "programs are killed by cgroup.kill and the end of the pid namespace",
     "programs are killed by the freezer and SIGKILL, or by the end of the pid namespace",
     "Use Linux 5.14 or newer with cgroup v2.", ""},
    {"devices", "", Need::convenience, std::nullopt, launcher::kFactDeviceCgroup,
     "five nodes, also by the device cgroup", "five nodes; every other mount is nodev",
     "Nothing needs to be done: the device cgroup of v1 would be a second wall.", ""},
    {"proc", "", Need::convenience, std::nullopt, launcher::kFactFullProc,
     "masked to an allow-list, with the sandbox's own CPU and memory figures",
     "processes only (subset=pid): os.cpus() is empty in programs",
     kUncover, ""},
    {"network", "", Need::convenience, Trial::gate, 0,
     "a connection came to the gate of a network namespace, and nowhere else",
     "programs cannot be given network access; calls that ask for it are refused",
     "Load the modules nf_tables and nft_tproxy (modprobe nft_tproxy), or set network = \"none\".", launcher::kGateStep},
    {"id-mapped-mounts", "", Need::convenience, Trial::id_mapped_mounts, 0,
     "tried with the file system of /", "a files directory (FILES_DIR) may be refused",
     "As root: keep it on ext4, XFS or Btrfs (or, from Linux 6.3, tmpfs).", ""},
};
// clang-format on

int error_of(const FeatureRow& row, const launcher::Reply& found) {
  return found.trials[static_cast<size_t>(*row.trial)];
}

bool holds(const FeatureRow& row, const launcher::Reply& found) {
  return row.trial ? error_of(row, found) == 0 : (found.facts & row.fact) != 0;
}

std::string fix_of(const FeatureRow& row, const HostFiles& host, Privileges privileges) {
  return *row.fix == '\0' ? namespace_fix(host, privileges) : row.fix;
}

bool says(std::string_view failure, std::string_view words) {
  return failure.find(words) != std::string_view::npos;
}

Feature describe(const FeatureRow& row, const launcher::Reply& found, const HostFiles& host) {
  Feature feature;
  feature.name = row.name;
  feature.group = row.group;
  feature.need = row.need;
  if (holds(row, found)) {
    feature.detail =
        fmt::format(fmt::runtime(row.how),
                    fmt::arg("cgroup", (found.facts & launcher::kFactCgroupV2) != 0 ? "v2" : "v1"),
                    fmt::arg("landlock", found.landlock_abi));
    return feature;
  }
  // An ordinary user is the owner of such a directory, whom each sandbox knows as `node` anyway.
  if (row.trial == Trial::id_mapped_mounts &&
      privileges_of(found.facts) == Privileges::ordinary_user) {
    feature.detail = "not needed: an ordinary user's files directory is mounted as it is";
    return feature;
  }
  feature.state = row.trial ? State::missing : State::degraded;
  feature.detail = row.otherwise;
  if (row.trial) feature.detail = std::strerror(error_of(row, found)) + (": " + feature.detail);
  feature.fix = fix_of(row, host, privileges_of(found.facts));
  return feature;
}

}  // namespace

std::span<const FeatureRow> feature_table() {
  return kTable;
}

Privileges privileges_of(uint32_t facts) {
  return (facts & launcher::kFactRoot) != 0 ? Privileges::root : Privileges::ordinary_user;
}

std::vector<std::string> feature_names() {
  std::vector<std::string> names;
  for (const FeatureRow& row : kTable) {
    names.emplace_back(row.name);
    const bool is_new = std::find(names.begin(), names.end(), row.group) == names.end();
    if (*row.group != '\0' && is_new) names.emplace_back(row.group);
  }
  return names;
}

std::vector<Feature> describe_features(const launcher::Reply& found, const HostFiles& host) {
  std::vector<Feature> features;
  for (const FeatureRow& row : kTable) {
    if (!row.trial && (found.facts & ~launcher::kFactRoot) == 0) continue;
    features.push_back(describe(row, found, host));
  }
  return features;
}

Isolation isolation_of_facts(const launcher::Reply& facts) {
  launcher::Reply found = facts;
  std::memset(found.trials, 0, sizeof found.trials);  // it works: there are sandboxes
  if (facts.landlock_abi == 0) found.trials[static_cast<size_t>(Trial::landlock)] = ENOSYS;
  Isolation isolation;
  for (const FeatureRow& row : kTable) {
    if (row.need != Need::optional || holds(row, found)) continue;
    isolation.grade = Isolation::Grade::reduced;
    isolation.weaker.emplace_back(row.name);
  }
  return isolation;
}

std::string fix_for_failure(std::string_view failure, const HostFiles& host,
                            Privileges privileges) {
  for (const FeatureRow& row : kTable) {
    if (*row.step != '\0' && says(failure, row.step)) return fix_of(row, host, privileges);
  }
  if (says(failure, launcher::kTakeSlotStep) && says(failure, std::strerror(EUSERS)))
    return kFewerServers;
  return "";
}

}  // namespace belljar::linux_driver
