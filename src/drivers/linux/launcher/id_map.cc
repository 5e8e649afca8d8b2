#include "drivers/linux/launcher/id_map.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <cerrno>
#include <string>

#include "drivers/linux/launcher/files.h"
#include "drivers/linux/launcher/kernel.h"
#include "drivers/linux/launcher/template.h"

namespace belljar::launcher {

int make_user_namespace(int proc, const char* uid_map, const char* gid_map, Fd& result) {
  int done[2];
  if (::pipe2(done, O_CLOEXEC) != 0) return errno;
  Fd done_read{done[0]};
  Fd done_write{done[1]};
  const pid_t child = clone_process(CLONE_NEWUSER);
  if (child < 0) return errno;
  if (child == 0) {
    done_write.reset();
    char byte = 0;
    [[maybe_unused]] const ssize_t ignored = ::read(done_read.get(), &byte, 1);
    ::_exit(0);
  }
  const std::string pid = std::to_string(child);
  int error = write_file_at(proc, (pid + "/uid_map").c_str(), uid_map);
  if (error == 0) error = write_file_at(proc, (pid + "/gid_map").c_str(), gid_map);
  if (error == 0) {
    result.reset(::openat(proc, (pid + "/ns/user").c_str(), O_RDONLY | O_CLOEXEC));
    if (!result) error = errno;
  }
  done_write.reset();
  wait_for(child);
  return error;
}

int clone_id_mapped(int proc, int directory, unsigned id, Fd& result) {
  struct stat info;
  if (::fstat(directory, &info) != 0) return errno;
  if (!S_ISDIR(info.st_mode)) return ENOTDIR;
  const auto line = [id](unsigned on_disk) {
    return std::to_string(on_disk) + " " + std::to_string(id) + " 1\n";
  };
  Fd ids;
  if (const int error =
          make_user_namespace(proc, line(info.st_uid).c_str(), line(info.st_gid).c_str(), ids))
    return error;
  return clone_mount(directory, ids.get(), result);
}

int clone_mount(int directory, int ids, Fd& result) {
  result.reset(open_tree(directory, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH));
  if (!result) return errno;
  mount_attr attributes{};
  attributes.attr_set = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
  if (ids >= 0) {
    attributes.attr_set |= MOUNT_ATTR_IDMAP;
    attributes.userns_fd = static_cast<uint64_t>(ids);
  }
  attributes.propagation = MS_PRIVATE;
  return mount_setattr(result.get(), "", AT_EMPTY_PATH, &attributes) == 0 ? 0 : errno;
}

}  // namespace belljar::launcher
