#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

// What container engines answer, read without trust: what is missing or of another type counts as
// not there.
namespace belljar::docker {

struct EngineVersion {
  std::string product;  // "Docker Engine" or "Podman"
  std::string version;  // "20.10.24+dfsg1"
  std::string api;      // what we speak with it: "1.41"
  std::string runc;     // "1.1.5+ds1"; "" unknown, or another runtime is used
};

struct EngineInfo {
  std::vector<std::string> runtimes;  // those it knows by name; Podman also names absent ones
  std::vector<std::string> own_kernel_runtimes;  // of these: with which containers have a kernel
  std::string default_runtime;
  int cgroup_version = 0;  // 1, 2; 0 unknown
  bool has_seccomp = false;
  bool is_rootless = false;
  bool has_user_namespaces = false;
  bool limits_memory = false;
  bool limits_swap = false;
  bool limits_pids = false;
  bool limits_cpu = false;
  std::string os;
  std::string architecture;
};

struct ImageDetails {
  std::string id;
  uint64_t size = 0;  // bytes, unpacked
  int layers = 0;
  std::string architecture;  // "amd64"
  std::vector<std::string> env;
  // Directories for which the engine would make volumes on the host's disk, without any limit,
  // unless something else is mounted there.
  std::vector<std::string> volumes;
};

// Where the host has what a container sees at `place`; "" if the engine does not say.
std::string read_mount_source(const json::object& answer, std::string_view place);

struct ContainerState {
  bool running = false;
  bool out_of_memory = false;
  int exit_code = 0;
  int pid = 0;        // on the host; 0 if it does not run
  std::string error;  // why it could not be started
};

struct ContainerSummary {
  std::string id;
  std::map<std::string, std::string> labels;
  int64_t created = 0;  // seconds since 1970
};

// Throws Error{unavailable} if no version of the API is left that both know.
EngineVersion read_version(const json::object& answer);
EngineInfo read_info(const json::object& answer);
ImageDetails read_image(const json::object& answer);
ContainerState read_state(const json::object& answer);
std::vector<ContainerSummary> read_containers(const json::array& answer);

// The engine's own words about why it refused ({"message": …}), in one clean line.
std::string read_refusal(std::string_view body, size_t longest = 400);

// `text` as one line of at most `longest` bytes of UTF-8, without control characters.
std::string one_line(std::string_view text, size_t longest = 400);

}  // namespace belljar::docker
