#include "drivers/docker/agent/packages.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "drivers/docker/agent/protocol.h"

namespace belljar::agent {

namespace {

// Until it is in its place. A program may make something of this name: then it is removed.
constexpr const char* kNewLink = ".node_modules.belljar";

bool is_link_into(int workspace, const std::string& packages) {
  char target[PATH_MAX];
  const ssize_t size = ::readlinkat(workspace, kNodeModules, target, sizeof target);
  return size > 0 && std::string_view{target, static_cast<size_t>(size)}.starts_with(packages);
}

// 0 if the place is free or may be taken. The answer may be wrong a moment later; what is lost
// then is what a program has put into the sandbox's own files.
int clear_place(int workspace, const std::string& packages) {
  struct stat info {};
  if (::fstatat(workspace, kNodeModules, &info, AT_SYMLINK_NOFOLLOW) != 0)
    return errno == ENOENT ? 0 : errno;
  if (S_ISLNK(info.st_mode)) return is_link_into(workspace, packages) ? 0 : EEXIST;
  if (!S_ISDIR(info.st_mode)) return EEXIST;
  return ::unlinkat(workspace, kNodeModules, AT_REMOVEDIR) == 0 ? 0 : EEXIST;
}

}  // namespace

int link_packages(int workspace, const std::string& host_directory, uint32_t number) {
  const std::string packages = host_directory + "/" + kPackages + "/";
  if (const int error = clear_place(workspace, packages)) return error;
  const std::string target = packages + std::to_string(number) + "/" + kNodeModules;
  ::unlinkat(workspace, kNewLink, 0);
  if (::symlinkat(target.c_str(), workspace, kNewLink) != 0) return errno;
  if (::renameat(workspace, kNewLink, workspace, kNodeModules) == 0) return 0;
  const int error = errno;
  ::unlinkat(workspace, kNewLink, 0);
  return error == EISDIR || error == ENOTEMPTY ? EEXIST : error;
}

}  // namespace belljar::agent
