#pragma once

#include <string>
#include <utility>

namespace belljar::runtime {

// A directory that is deleted with everything in it, unless it is kept. Deleting takes a moment.
class TemporaryTree {
 public:
  explicit TemporaryTree(std::string path) : path_{std::move(path)} {}
  ~TemporaryTree();
  TemporaryTree(const TemporaryTree&) = delete;
  TemporaryTree& operator=(const TemporaryTree&) = delete;

  const std::string& path() const { return path_; }
  void keep() { path_.clear(); }

 private:
  std::string path_;
};

// A directory that everybody may read, whatever the operator's umask is.
void make_public_directory(const std::string& path);

// Builds in `directory` (fresh, empty) what a sandbox has as /usr/local, laid out as in the
// official images: bin/node, lib/node_modules/npm, bin/npm and bin/npx as links to npm's scripts,
// LICENSE and README.md of Node.js. The tarballs have been checked against the registry's
// integrity; still they are unpacked as hostile, and bin/node must be a program for this machine.
// Everything is readable for all, as sandboxes run under other users. Blocks for a second or two.
// Throws what unpack_tarball() throws, and Error{denied} if the result is no runtime.
//
// Left out: include/ (60 MB, only for building native addons with node-gyp) and share/ (manuals).
void unpack_runtime(int node_tarball, int npm_tarball, const std::string& directory);

}  // namespace belljar::runtime
