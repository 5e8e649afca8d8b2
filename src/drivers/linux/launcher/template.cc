#include "drivers/linux/launcher/template.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/securebits.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "drivers/linux/launcher/files.h"
#include "drivers/linux/launcher/kernel.h"
#include "drivers/linux/launcher/report.h"

namespace belljar::launcher {

namespace {

constexpr const char* kStage =
    "/tmp";  // where the tree is put together; private to the new mount namespace

struct Build {
  int owner;
  int runtime_mount;
  int usr_mount;
  int status;
  const std::string& certificates;
};

int result_of(int status) {
  return status == 0 ? 0 : errno;
}

int in_stage(const char* path, std::string& full) {
  full = std::string{kStage} + path;
  return 0;
}

int enter_owner_namespace(Build& build) {
  if (::setns(build.owner, CLONE_NEWUSER) != 0) return errno;
  if (::setresgid(0, 0, 0) != 0 || ::setresuid(0, 0, 0) != 0) return errno;
  return result_of(::unshare(CLONE_NEWNS));
}

int make_private(Build&) {
  return result_of(::mount(nullptr, "/", nullptr, MS_PRIVATE | MS_REC, nullptr));
}

int mount_stage(Build&) {
  return result_of(
      ::mount("root", kStage, "tmpfs", MS_NOSUID | MS_NODEV, "size=4m,nr_inodes=4096,mode=755"));
}

int make_skeleton(Build&) {
  const Fd stage{::open(kStage, O_PATH | O_DIRECTORY | O_CLOEXEC)};
  if (!stage) return errno;
  ::umask(0);
  for (const char* path : {"lower", "usr", "dev", "proc", "tmp", "mnt", "empty"}) {
    if (::mkdirat(stage.get(), path, 0755) != 0) return errno;
  }
  struct File {
    const char* name;
    const char* content;
  };
  constexpr File kFiles[] = {
      {"blank", ""}, {"uptime", "0.00 0.00\n"}, {"loadavg", "0.00 0.00 0.00 1/1 1\n"}};
  for (const File& file : kFiles) {
    if (const int error = create_file_at(stage.get(), file.name, file.content, 0444)) return error;
  }
  const Fd lower{::openat(stage.get(), "lower", O_PATH | O_DIRECTORY | O_CLOEXEC)};
  if (!lower) return errno;
  // The mount points a sandbox needs, and the empty directories a Unix program expects.
  for (const char* path : {"usr", "dev", "proc", "sys", "etc", "mnt", "srv", "var/tmp", "var/lib",
                           "var/log", "run", "home/node", "workspace", "root", "opt"}) {
    if (const int error = create_directories_at(lower.get(), path, 0755)) return error;
  }
  if (::mkdirat(lower.get(), "tmp", 01777) != 0) return errno;
  for (const char* name : {"bin", "sbin", "lib", "lib64", "lib32", "libx32"}) {
    struct stat host;
    const std::string path = std::string{"/"} + name;
    if (::lstat(path.c_str(), &host) != 0) {
      if (errno == ENOENT) continue;
      return errno;
    }
    if (::symlinkat((std::string{"usr/"} + name).c_str(), lower.get(), name) != 0) return errno;
  }
  return 0;
}

// Debian's /usr/bin/awk and many others are links through /etc/alternatives.
int copy_alternatives(int etc) {
  if (::mkdirat(etc, "alternatives", 0755) != 0) return errno;
  const Fd target{::openat(etc, "alternatives", O_PATH | O_DIRECTORY | O_CLOEXEC)};
  const std::unique_ptr<DIR, int (*)(DIR*)> entries{::opendir("/etc/alternatives"), ::closedir};
  if (!entries) return errno == ENOENT ? 0 : errno;  // not a Debian
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(entries.get());
    if (entry == nullptr) return errno;
    char link[PATH_MAX];
    const ssize_t length =
        ::readlinkat(::dirfd(entries.get()), entry->d_name, link, sizeof link - 1);
    if (length < 0 && errno != EINVAL) return errno;
    if (length <= 0) continue;  // no link
    link[length] = '\0';
    if (std::strncmp(link, "/usr/", 5) == 0 || std::strncmp(link, "/bin/", 5) == 0) {
      if (::symlinkat(link, target.get(), entry->d_name) != 0) return errno;
    }
  }
}

int write_etc(Build&) {
  const Fd etc{
      ::open((std::string{kStage} + "/lower/etc").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
  if (!etc) return errno;
  struct File {
    const char* name;
    const char* content;
  };
  constexpr File kFiles[] = {
      {"passwd",
       "root:x:0:0:root:/root:/usr/sbin/nologin\nnode:x:1000:1000:node:/home/node:/bin/sh\n"
       "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"},
      {"group", "root:x:0:\nnode:x:1000:\nnogroup:x:65534:\n"},
      {"hosts", "127.0.0.1 localhost sandbox\n::1 localhost ip6-localhost ip6-loopback\n"},
      {"hostname", "sandbox\n"},
      {"resolv.conf", "nameserver 10.0.2.3\n"},  // kGateResolver
      {"nsswitch.conf",
       "passwd: files\ngroup: files\nhosts: files dns\nservices: files\nprotocols: files\n"},
      {"host.conf", "multi on\n"},
      {"timezone", "Etc/UTC\n"},
      {"os-release", "NAME=belljar\nID=belljar\nPRETTY_NAME=\"belljar sandbox\"\n"},
      {"shells", "/bin/sh\n/bin/bash\n"},
      // What a Node.js runs once while it waits for its program: zygote/zygote.cjs.
      {"belljar/package.json", "{\"type\":\"module\"}\n"},
      {"belljar/rehearsal.js",
       "import fs from 'node:fs';\nrehearsal.log('hello', fs.constants.O_RDONLY, { a: [1, 'b'] "
       "});\n"
       "await 0;\nsetTimeout(rehearsal.end, 1);\n"},
      {"belljar/rehearsal.cjs", "const path = require('node:path');\nrehearsal.error(path.sep);\n"},
  };
  if (::mkdirat(etc.get(), "belljar", 0755) != 0) return errno;
  for (const File& file : kFiles) {
    if (const int error = create_file_at(etc.get(), file.name, file.content, 0644)) return error;
  }
  if (::symlinkat("/proc/mounts", etc.get(), "mtab") != 0) return errno;
  if (::symlinkat("/usr/share/zoneinfo/Etc/UTC", etc.get(), "localtime") != 0) return errno;
  for (const char* name : {"ld.so.cache", "services", "protocols"}) {
    const std::string content = read_file_at(AT_FDCWD, (std::string{"/etc/"} + name).c_str());
    if (content.empty()) continue;
    if (const int error = create_file_at(etc.get(), name, content, 0644)) return error;
  }
  return copy_alternatives(etc.get());
}

// Whom programs trust: where OpenSSL, and with it curl, git and others, look for it on Debian.
// Node.js has a list of its own, and reads what comes on top from the other file if its environment
// says so.
int write_certificates(Build& build) {
  const Fd etc{
      ::open((std::string{kStage} + "/lower/etc").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
  if (!etc) return errno;
  if (const int error = create_directories_at(etc.get(), "ssl/certs", 0755)) return error;
  std::string all;
  for (const char* path :
       {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt"}) {
    if (all.empty()) all = read_file_at(AT_FDCWD, path);
  }
  all += build.certificates;
  if (const int error = create_file_at(etc.get(), "ssl/certs/ca-certificates.crt", all, 0644))
    return error;
  if (::symlinkat("certs/ca-certificates.crt", etc.get(), "ssl/cert.pem") != 0) return errno;
  if (build.certificates.empty()) return 0;
  return create_file_at(etc.get(), "ssl/belljar.pem", build.certificates, 0644);
}

int attach(int mount, const char* path) {
  std::string target;
  in_stage(path, target);
  return result_of(move_mount(mount, "", AT_FDCWD, target.c_str(), MOVE_MOUNT_F_EMPTY_PATH));
}

int mount_usr(Build& build) {
  return attach(build.usr_mount, "/usr");
}

int mount_runtime(Build& build) {
  return build.runtime_mount < 0 ? 0 : attach(build.runtime_mount, "/usr/local");
}

int mount_dev(Build&) {
  std::string dev;
  in_stage("/dev", dev);
  if (::mount("dev", dev.c_str(), "tmpfs", MS_NOSUID | MS_NOEXEC,
              "size=64k,nr_inodes=32,mode=755") != 0) {
    return errno;
  }
  const Fd directory{::open(dev.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
  if (!directory) return errno;
  if (::mkdirat(directory.get(), "shm", 0755) != 0) return errno;
  struct Node {
    const char* name;
    unsigned minor;
  };
  constexpr Node kNodes[] = {{"null", 3}, {"zero", 5}, {"full", 7}, {"random", 8}, {"urandom", 9}};
  for (const Node& node : kNodes) {
    // The very node, held by a descriptor and checked, not whatever has its name when it is
    // mounted.
    const std::string host = std::string{"/dev/"} + node.name;
    const Fd source{open_tree(AT_FDCWD, host.c_str(), OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC)};
    struct stat info;
    if (!source || ::fstat(source.get(), &info) != 0) return errno;
    if (!S_ISCHR(info.st_mode) || info.st_rdev != makedev(1, node.minor)) return ENODEV;
    // Read-only is about the inode, which is the host's; the device can still be written to.
    mount_attr attributes{};
    attributes.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC;
    if (mount_setattr(source.get(), "", AT_EMPTY_PATH, &attributes) != 0) return errno;
    if (const int error = create_file_at(directory.get(), node.name, "", 0666)) return error;
    if (move_mount(source.get(), "", directory.get(), node.name, MOVE_MOUNT_F_EMPTY_PATH) != 0)
      return errno;
  }
  constexpr const char* kLinks[][2] = {{"/proc/self/fd", "fd"},
                                       {"/proc/self/fd/0", "stdin"},
                                       {"/proc/self/fd/1", "stdout"},
                                       {"/proc/self/fd/2", "stderr"}};
  for (const auto& link : kLinks) {
    if (::symlinkat(link[0], directory.get(), link[1]) != 0) return errno;
  }
  return result_of(::mount(nullptr, dev.c_str(), nullptr,
                           MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NOEXEC, nullptr));
}

int bind_host_proc(Build&) {
  std::string proc;
  in_stage("/proc", proc);
  return result_of(::mount("/proc", proc.c_str(), nullptr, MS_BIND | MS_REC, nullptr));
}

int make_read_only(Build&) {
  constexpr unsigned long kFlags = MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV;
  return result_of(::mount(nullptr, kStage, nullptr, kFlags, nullptr));
}

int pivot(Build&) {
  if (::chdir(kStage) != 0) return errno;
  // The new root stacks on the old one, which is then the top of "." and can be let go.
  if (::syscall(SYS_pivot_root, ".", ".") != 0) return errno;
  return result_of(::umount2(".", MNT_DETACH));
}

constexpr Step<Build> kBuildSteps[] = {
    {"enter the owner's user namespace", enter_owner_namespace},
    {"make mounts private", make_private},
    {"mount the template's root", mount_stage},
    {"make the skeleton", make_skeleton},
    {"write /etc", write_etc},
    {"write certificates", write_certificates},
    {"mount /usr", mount_usr},
    {"mount the Node runtime", mount_runtime},
    {"mount /dev", mount_dev},
    {"bind the host's /proc", bind_host_proc},
    {"make the template read-only", make_read_only},
    {"pivot into the template", pivot},
};

// A detached read-only copy of one mount, made with the launcher's own rights: the directory may be
// one that the owner of the template could not reach by path. What is mounted beneath it stays
// behind, but for an ordinary user: the kernel does not let that one see what is below a mount.
int clone_read_only(int directory, const char* path, Fd& result) {
  const unsigned flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | (*path == '\0' ? AT_EMPTY_PATH : 0u);
  unsigned with_all = 0;
  result.reset(open_tree(directory, path, flags));
  if (!result && errno == EINVAL) {
    with_all = AT_RECURSIVE;
    result.reset(open_tree(directory, path, flags | with_all));
  }
  if (!result) return errno;
  mount_attr attributes{};
  attributes.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
  if (is_left_out("read-only /usr")) attributes.attr_set &= ~uint64_t{MOUNT_ATTR_RDONLY};
  attributes.propagation = MS_PRIVATE;
  return result_of(mount_setattr(result.get(), "", AT_EMPTY_PATH | with_all, &attributes));
}

}  // namespace

int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

int make_owner_namespace(int proc, const OwnerIds& ids, Fd& result) {
  const unsigned first = ids.first;
  int ready[2];
  int done[2];
  if (::pipe2(ready, O_CLOEXEC) != 0 || ::pipe2(done, O_CLOEXEC) != 0) return errno;
  const Fd ready_read{ready[0]};
  Fd ready_write{ready[1]};
  Fd done_read{done[0]};
  Fd done_write{done[1]};
  const pid_t child = clone_process(0);
  if (child < 0) return errno;
  char byte = 0;
  if (child == 0) {
    done_write.reset();
    // What sandboxes use of kernel objects that are counted per user (inotify, pending signals) is
    // also counted for whoever made this namespace: an id that nobody else has, not the host's
    // root.
    // Capabilities stay: on some hosts only those who have them may make a user namespace.
    const bool made = ::prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP, 0, 0, 0) == 0 &&
                      ::setresgid(first, first, first) == 0 &&
                      ::setresuid(first, first, first) == 0 && ::unshare(CLONE_NEWUSER) == 0;
    const unsigned char error = made ? 0 : static_cast<unsigned char>(errno);
    [[maybe_unused]] ssize_t ignored = ::write(ready_write.get(), &error, 1);
    ready_write.reset();                          // if that failed, the launcher sees the end of it
    ignored = ::read(done_read.get(), &byte, 1);  // until the launcher holds the namespace
    ::_exit(0);
  }
  ready_write.reset();
  done_read.reset();
  int error = ::read(ready_read.get(), &byte, 1) == 1 ? static_cast<unsigned char>(byte) : EIO;
  const std::string pid = std::to_string(child);
  std::string map = "0 " + std::to_string(first) + " " + std::to_string(ids.count) + "\n";
  if (ids.has_outsider)
    map += std::to_string(kOutsiderId) + " " + std::to_string(ids.outsider) + " 1\n";
  if (error == 0) error = write_file_at(proc, (pid + "/uid_map").c_str(), map);
  if (error == 0) error = write_file_at(proc, (pid + "/gid_map").c_str(), map);
  if (error == 0) {
    result.reset(::openat(proc, (pid + "/ns/user").c_str(), O_RDONLY | O_CLOEXEC));
    if (!result) error = errno;
  }
  done_write.reset();
  wait_for(child);
  return error;
}

int build_template(int proc, int owner, const TemplateParts& parts, Template& result,
                   std::string& step) {
  const int runtime = parts.runtime;
  Fd usr;
  Fd runtime_mount;
  step = "copy the mount of /usr";
  if (const int error = clone_read_only(AT_FDCWD, "/usr", usr)) return error;
  step = "copy the mount of the Node runtime";
  if (runtime >= 0) {
    if (const int error = clone_read_only(runtime, "", runtime_mount)) return error;
  }
  int status[2];
  int done[2];
  step = "start the builder";
  if (::pipe2(status, O_CLOEXEC) != 0 || ::pipe2(done, O_CLOEXEC) != 0) return errno;
  const Fd status_read{status[0]};
  Fd status_write{status[1]};
  Fd done_read{done[0]};
  Fd done_write{done[1]};
  const pid_t child = clone_process(0);
  if (child < 0) return errno;
  if (child == 0) {
    done_write.reset();
    Build build{owner, runtime_mount.get(), usr.get(), status_write.get(), parts.certificates};
    run_steps(kBuildSteps, build);
    report_ready(status_write.get());
    status_write.reset();  // if that failed, the launcher sees the end of it
    char byte = 0;
    [[maybe_unused]] const ssize_t ignored = ::read(done_read.get(), &byte, 1);
    ::_exit(0);
  }
  status_write.reset();
  done_read.reset();
  Report report{};
  int error = EIO;
  if (::read(status_read.get(), &report, sizeof report) == sizeof report) {
    error = report.kind == Report::ready ? 0 : report.error;
    if (error != 0) step = report.step;
  }
  if (error == 0) {
    const std::string path = std::to_string(child) + "/ns/mnt";
    result.mounts.reset(::openat(proc, path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!result.mounts) error = errno;
  }
  done_write.reset();
  wait_for(child);
  return error;
}

}  // namespace belljar::launcher
