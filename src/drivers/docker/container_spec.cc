#include "drivers/docker/container_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "drivers/docker/agent/protocol.h"
#include "drivers/docker/engine_answers.h"

namespace belljar::docker {
namespace {

json::array texts(std::initializer_list<std::string_view> list) {
  json::array array;
  for (const std::string_view text : list) array.emplace_back(text);
  return array;
}

struct Ulimit {
  const char* name;
  uint64_t value;
};

// As in the native driver's resource_limits(), where 1 keeps cores also from a program that the
// host pipes them to. Not what the kernel counts per user, over all containers: processes, and
// signals that wait.
std::vector<Ulimit> ulimit_table(const ContainerWishes& wishes) {
  std::vector<Ulimit> list{{"core", 1},           {"nofile", 4096},   {"fsize", wishes.limits.disk},
                           {"memlock", 64 << 10}, {"stack", 8 << 20}, {"msgqueue", 0},
                           {"rtprio", 0},         {"nice", 0},        {"locks", 1024}};
  // Podman would ask for the most that a kernel has, which not every service of it may.
  if (wishes.for_podman) list.push_back({"nproc", 16384});
  return list;
}

json::array ulimits(const ContainerWishes& wishes) {
  json::array array;
  for (const Ulimit& one : ulimit_table(wishes)) {
    json::object object;
    object["Name"] = one.name;
    object["Soft"] = one.value;
    object["Hard"] = one.value;
    array.emplace_back(std::move(object));
  }
  return array;
}

json::object bind_mount(std::string_view from, std::string_view to, bool is_read_only) {
  json::object options;
  options["Propagation"] = "rprivate";
  json::object mount;
  mount["Type"] = "bind";
  mount["Source"] = from;
  mount["Target"] = to;
  mount["ReadOnly"] = is_read_only;
  mount["BindOptions"] = std::move(options);
  return mount;
}

// A tmpfs of the host's, with a name that the engine makes up: it is removed with the container.
json::object workspace_volume(const ContainerWishes& wishes, uint64_t bytes, uint64_t inodes) {
  json::object options;
  options["type"] = "tmpfs";
  options["device"] = "tmpfs";
  options["o"] = fmt::format("nosuid,nodev,size={},mode=0755,nr_inodes={},uid={},gid={}", bytes,
                             std::max<uint64_t>(inodes, 16), wishes.uid, wishes.gid);
  json::object driver;
  driver["Name"] = "local";
  driver["Options"] = std::move(options);
  json::object volume;
  volume["NoCopy"] = true;
  volume["DriverConfig"] = std::move(driver);
  json::object mount;
  mount["Type"] = "volume";
  mount["Target"] = "/workspace";
  mount["ReadOnly"] = false;
  mount["VolumeOptions"] = std::move(volume);
  return mount;
}

// What of limits.disk and its like is for /workspace; of the rest /tmp has two parts.
uint64_t workspace_share(uint64_t all) {
  return all - 3 * (all / 8);
}

// Mounts, not Binds: an engine makes a directory where the source of a bind is missing.
json::array mounts(const ContainerWishes& wishes) {
  json::array array;
  array.emplace_back(bind_mount(wishes.agent_program, kAgentPath, true));
  array.emplace_back(bind_mount(wishes.host_directory, kHostPath, true));
  if (!wishes.authority.empty())
    array.emplace_back(bind_mount(wishes.authority, kAuthorityPath, true));
  if (wishes.has_own_kernel) {
    array.emplace_back(workspace_volume(wishes, workspace_share(wishes.limits.disk),
                                        workspace_share(wishes.limits.inodes)));
  }
  if (!wishes.files.empty())
    array.emplace_back(bind_mount(wishes.files, "/workspace/files", false));
  return array;
}

// An image could name a place that we use, or one that the options of a mount would misread.
void check_volume(const std::string& path) {
  const auto is_beneath = [&path](std::string_view directory) {
    return path == directory || path.rfind(std::string{directory} + "/", 0) == 0;
  };
  const bool is_plain =
      path.size() > 1 && path.size() <= 255 && path.front() == '/' && path.back() != '/' &&
      path.find("..") == path.npos && path.find("//") == path.npos &&
      std::all_of(path.begin(), path.end(), [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
               c == '/' || c == '.' || c == '_' || c == '-';
      });
  if (!is_plain || is_beneath("/.belljar") || is_beneath("/workspace") || is_beneath("/proc") ||
      is_beneath("/sys") || is_beneath("/dev"))
    fail(Code::invalid, "the image has a volume at '{}', which cannot be had in a sandbox",
         one_line(path, 64));
}

// Podman's has no limit of inodes and says otherwise that the container's user owns it. It would
// copy what the image has there.
std::string tmpfs(const ContainerWishes& wishes, const char* mode, uint64_t bytes,
                  uint64_t inodes) {
  const std::string options = fmt::format("rw,exec,nosuid,nodev,size={},mode={}", bytes, mode);
  if (wishes.for_podman) return options + ",U,notmpcopyup";
  return fmt::format("{},nr_inodes={},uid={},gid={}", options, std::max<uint64_t>(inodes, 16),
                     wishes.uid, wishes.gid);
}

// Where there is little to write: homes and what the image calls volumes.
std::vector<std::string> small_places(const ContainerWishes& wishes) {
  std::vector<std::string> places{"/home/node"};
  // Podman makes a root that is only read writable there, without a limit.
  if (wishes.for_podman) places.insert(places.end(), {"/run", "/var/tmp"});
  for (const std::string& path : wishes.volumes) {
    check_volume(path);
    const bool is_new = std::find(places.begin(), places.end(), path) == places.end();
    if (is_new && path != "/tmp") places.push_back(path);
  }
  constexpr size_t kMostPlaces = 16;
  if (places.size() > kMostPlaces)
    fail(Code::invalid, "the image has {} volumes, which are too many", wishes.volumes.size());
  return places;
}

// All that can be written shares limits.disk: a container has no quota over several places.
json::object scratch(const ContainerWishes& wishes) {
  const std::vector<std::string> small = small_places(wishes);
  const uint64_t bytes = wishes.limits.disk / 8;
  const uint64_t inodes = wishes.limits.inodes / 8;
  json::object object;
  if (!wishes.has_own_kernel) {
    object["/workspace"] = tmpfs(wishes, "0755", workspace_share(wishes.limits.disk),
                                 workspace_share(wishes.limits.inodes));
  }
  object["/tmp"] = tmpfs(wishes, "1777", 2 * bytes, 2 * inodes);
  for (const std::string& path : small)
    object[path] = tmpfs(wishes, "0755", bytes / small.size(), inodes / small.size());
  return object;
}

// What a kernel needs for itself, and it counts in the host's cgroup, too. gVisor has some threads
// of the host's for each process of a container.
uint64_t memory_limit(const ContainerWishes& wishes) {
  constexpr uint64_t kOwnKernel = 64u << 20;
  return wishes.limits.memory + (wishes.has_own_kernel ? kOwnKernel : 0);
}

uint64_t pids_limit(const ContainerWishes& wishes) {
  constexpr uint64_t kOwnKernel = 64;
  constexpr uint64_t kPerProcess = 10;
  const uint64_t wanted = wishes.limits.pids;
  return wishes.has_own_kernel ? kOwnKernel + kPerProcess * wanted : wanted;
}

json::object host_config(const ContainerWishes& wishes) {
  json::object log;
  log["Type"] = "none";
  log["Config"] = json::object{};
  json::object restart;
  restart["Name"] = "no";
  restart["MaximumRetryCount"] = 0;
  json::object host;
  host["Privileged"] = false;
  host["CapAdd"] = json::array{};
  host["CapDrop"] = texts({"ALL"});
  host["SecurityOpt"] = texts({"no-new-privileges", "seccomp=" + wishes.seccomp});
  host["ReadonlyRootfs"] = true;
  host["NetworkMode"] = "none";
  host["PidMode"] = "";
  host["IpcMode"] = "none";
  host["UTSMode"] = "";
  host["UsernsMode"] = "";
  host["CgroupnsMode"] = "private";
  host["CgroupParent"] = "";
  host["Sysctls"] =
      json::object{{"net.ipv6.conf.all.disable_ipv6", "0"}};  // Docker's loopback has none
  host["Devices"] = json::array{};
  host["DeviceCgroupRules"] = json::array{};
  host["GroupAdd"] = json::array{};
  host["PublishAllPorts"] = false;
  host["Memory"] = memory_limit(wishes);
  host["MemorySwap"] = memory_limit(wishes);
  host["OomKillDisable"] = false;
  host["NanoCpus"] = static_cast<int64_t>(std::llround(wishes.limits.cpus * 1e9));
  host["PidsLimit"] = pids_limit(wishes);
  host["Ulimits"] = ulimits(wishes);
  host["Binds"] = json::array{};
  host["Mounts"] = mounts(wishes);
  host["Tmpfs"] = scratch(wishes);
  host["LogConfig"] = std::move(log);
  host["RestartPolicy"] = std::move(restart);
  host["AutoRemove"] = false;
  host["Init"] = false;
  if (!wishes.runtime.empty()) host["Runtime"] = wishes.runtime;
  return host;
}

}  // namespace

json::object container_spec(const ContainerWishes& wishes) {
  json::object health;
  health["Test"] = texts({"NONE"});  // the image's own would be run by the engine
  json::object labels;
  for (const auto& [name, value] : wishes.labels) labels[name] = value;
  json::object spec;
  spec["Image"] = wishes.image;
  spec["User"] = fmt::format("{}:{}", wishes.uid, wishes.gid);
  spec["WorkingDir"] = "/workspace";
  spec["Hostname"] = "belljar";
  spec["Entrypoint"] = texts({kAgentPath});
  spec["Cmd"] = wishes.has_own_kernel ? texts({agent::kCarried}) : json::array{};
  spec["Tty"] = false;
  spec["OpenStdin"] = wishes.has_own_kernel;
  spec["StdinOnce"] = wishes.has_own_kernel;  // it ends with belljar's connection
  spec["AttachStdin"] = wishes.has_own_kernel;
  spec["AttachStdout"] = wishes.has_own_kernel;
  spec["AttachStderr"] = false;
  spec["NetworkDisabled"] = false;  // true takes the loopback interface, too, on some engines
  spec["StopSignal"] = "SIGKILL";
  spec["StopTimeout"] = 0;
  spec["Healthcheck"] = std::move(health);
  spec["Labels"] = std::move(labels);
  spec["HostConfig"] = host_config(wishes);
  return spec;
}

}  // namespace belljar::docker
