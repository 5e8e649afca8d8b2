#include "runtime/unpack_runtime.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/error.h"
#include "base/fd.h"
#include "packages/tarball.h"
#include "runtime/elf.h"

namespace belljar::runtime {
namespace {

void unpack(int tarball, const std::string& into, const packages::UnpackOptions& options) {
  const Fd directory{
      sys(::open(into.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC), "open {}", into)};
  packages::unpack_tarball(tarball, directory.get(), options);
}

void link_script(const std::string& directory, const std::string& name) {
  const std::string script = "lib/node_modules/npm/bin/" + name + "-cli.js";
  if (::access((directory + "/" + script).c_str(), X_OK) != 0)
    fail(Code::denied, "the npm package has no program bin/{}-cli.js", name);
  const std::string link = directory + "/bin/" + name;
  sys(::symlink(("../" + script).c_str(), link.c_str()), "create {}", link);
}

}  // namespace

TemporaryTree::~TemporaryTree() {
  std::error_code ignored;  // what stays is found by the next install
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

void make_public_directory(const std::string& path) {
  sys(::mkdir(path.c_str(), 0755), "create {}", path);
  sys(::chmod(path.c_str(), 0755), "set the mode of {}", path);
}

void unpack_runtime(int node_tarball, int npm_tarball, const std::string& directory) {
  packages::UnpackOptions node;
  node.wanted = [](std::string_view path) {
    return path == "bin/node" || path == "LICENSE" || path == "README.md";
  };
  unpack(node_tarball, directory, node);
  const std::string program = directory + "/bin/node";
  if (const auto why = why_not_a_program(program))
    fail(Code::denied, "the package does not hold a Node.js for this machine: bin/node: {}", *why);

  make_public_directory(directory + "/lib");
  make_public_directory(directory + "/lib/node_modules");
  make_public_directory(directory + "/lib/node_modules/npm");
  unpack(npm_tarball, directory + "/lib/node_modules/npm", {});
  link_script(directory, "npm");
  link_script(directory, "npx");
}

}  // namespace belljar::runtime
