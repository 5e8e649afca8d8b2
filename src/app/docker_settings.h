#pragma once

#include <string>
#include <vector>

namespace belljar::app {

// Both: images of the engine that are offered beside the Node.js of this host.
enum class DriverName { native, docker, both };

// What the docker driver can be told.
struct DockerConfig {
  std::string host;          // "": DOCKER_HOST is not set, the usual socket
  std::string certificates;  // directory of ca.pem, cert.pem and key.pem; "": no TLS
  std::string runtime;       // "": the engine's own
  std::string config_file;   // of a Docker client, with logins to registries; "": none
  std::vector<std::string> images = {"node:*"};
  bool pull = false;
  size_t warm = 2;
};

}  // namespace belljar::app
