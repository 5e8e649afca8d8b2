#pragma once

#include <memory>
#include <string>

#include "base/fd.h"
#include "sandbox/limits.h"

namespace belljar {

// A Node.js that programs run on.
struct Image {
  std::string name;          // as the client knows it: "node:lts-slim"
  std::string node_version;  // "24.21.0"
  // Directory on the host with bin/node, bin/npm and lib/node_modules, which the sandbox sees as
  // /usr/local. Empty: the Node of the host's /usr is used.
  std::string prefix;
  // Of an engine's image: what its name meant when it was looked up. It has all files that programs
  // see; the prefix is where it has Node.js. "": a Node.js of this host.
  std::string id = {};

  bool is_of_engine() const { return !id.empty(); }
};

// Where the sandbox has the image's Node.js.
inline std::string node_path(const Image& image) {
  return image.prefix.empty() ? "/usr/bin/node" : "/usr/local/bin/node";
}

enum class Network {
  none,   // a loopback interface of its own and nothing else
  gated,  // and a gate to the rest, or what stands in for one: see Sandbox::take_gate()
};

// Everything that must be known before a sandbox exists and cannot change afterwards.
struct SandboxSpec {
  Image image;
  Limits limits;
  Network network = Network::none;
  // A directory of the host (an O_PATH handle) that the sandbox sees as /workspace/files, to read
  // and to write; what programs make there belongs to the directory's owner. Null: an empty
  // directory of the sandbox itself.
  std::shared_ptr<const Fd> files;
};

}  // namespace belljar
