#pragma once

#include <filesystem>
#include <string>

#include "base/error.h"
#include "base/posix.h"
#include "sandbox/spec.h"

// Helpers for the unit tests of this folder only.
namespace belljar::tools {

// A directory that looks like an installed Node.js with npm, deleted afterwards.
class Prefix {
 public:
  Prefix() {
    sys(::mkdtemp(path_.data()) == nullptr ? -1 : 0, "make a directory");
    make_directories(path_ + "/lib/node_modules/npm/bin");
    write_file_atomically(path_ + "/lib/node_modules/npm/bin/npm-cli.js", "");
  }
  ~Prefix() { std::filesystem::remove_all(path_); }
  Prefix(const Prefix&) = delete;
  Prefix& operator=(const Prefix&) = delete;

  Image image() const { return Image{"node:lts-slim", "24.1.0", path_}; }

 private:
  std::string path_ = "/tmp/belljar-prefix-XXXXXX";
};

}  // namespace belljar::tools
