#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "sandbox/limits.h"

namespace belljar::docker {

// Where things are in a container.
inline constexpr std::string_view kAgentPath = "/.belljar/agent";
inline constexpr std::string_view kHostPath = "/.belljar/host";
// As the native driver's sandboxes have it: network::kAuthorityPath.
inline constexpr std::string_view kAuthorityPath = "/etc/ssl/belljar.pem";

// Everything that differs from one sandbox to the next.
struct ContainerWishes {
  std::string image;           // its id, so that nobody can exchange it meanwhile
  std::string runtime;         // the name of an OCI runtime; "" for the engine's own choice
  std::string agent_program;   // on the host, as all paths are that have no other place
  std::string host_directory;  // with the agent's socket and later packages
  std::string files;           // FILES_DIR; "" for none
  std::string authority;       // the certificate that programs trust for secrets; "" for none
  // Podman wants some of it said otherwise, and then has no limit of inodes but that of memory.
  bool for_podman = false;
  // The runtime has a kernel of its own: belljar speaks to its agent through stdin and stdout, and
  // /workspace is a volume, which belljar can open.
  bool has_own_kernel = false;
  // seccomp_profile() itself; for Podman the path of a file that holds it.
  std::string seccomp;
  uid_t uid = 1000;
  gid_t gid = 1000;
  Limits limits;
  std::vector<std::string> volumes;  // ImageDetails::volumes
  std::map<std::string, std::string> labels;
};

// What the engine is asked to make (POST /containers/create). A pure function: the tests compare
// the whole of it with golden JSON. Nothing of it is left to the image or to the engine's
// configuration where these could open something: no capability, network, device, volume, health
// check or log; what can be written is tmpfs, and together no larger than limits.disk. Throws
// Error{invalid} for an image with a volume that cannot be covered.
json::object container_spec(const ContainerWishes& wishes);

}  // namespace belljar::docker
