#include "drivers/linux/launcher/zygote.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cerrno>
#include <climits>
#include <string>

#include "drivers/linux/launcher/confine.h"
#include "drivers/linux/launcher/files.h"
#include "drivers/linux/launcher/gate.h"
#include "drivers/linux/launcher/kernel.h"
#include "drivers/linux/launcher/netlink.h"
#include "drivers/linux/launcher/report.h"
#include "drivers/linux/launcher/rights.h"
#include "drivers/linux/launcher/root.h"
#include "drivers/linux/launcher/zygote_program.h"

namespace belljar::launcher {

namespace {

constexpr const char* kNode = "/usr/local/bin/node";
// As long as the name of a program, which takes its place in what /proc shows.
constexpr const char* kProgram = "/run/zygotemain.cjs";

int result_of(int status) {
  return status == 0 ? 0 : errno;
}

int enter_cgroups(ZygoteContext& context) {
  return context.cgroups.enter_sandbox(context.group);
}

// Its copies inherit it. And if there is no memory, a zygote is what can be done without.
int prefer_as_oom_victim(ZygoteContext&) {
  return write_file_at(AT_FDCWD, "/proc/self/oom_score_adj", "900");
}

int enter_template(ZygoteContext& context) {
  if (::setns(context.owner, CLONE_NEWUSER) != 0) return errno;
  if (::setresgid(0, 0, 0) != 0 || ::setresuid(0, 0, 0) != 0) return errno;
  if (::setns(context.base.mounts.get(), CLONE_NEWNS) != 0) return errno;
  return result_of(::unshare(CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS));
}

int make_scratch(ZygoteContext& context) {
  return mount_scratch(context.limits);
}

int fill(ZygoteContext& context) {
  const bool v2 = (context.cgroups.facts() & kFactCgroupV2) != 0;
  return fill_scratch(context.limits, v2, 0);  // there may be no other id here
}

int write_program(ZygoteContext& context) {
  if (::mkdir("/tmp/upper/run", 0755) != 0) return errno;
  if (const int error =
          create_file_at(AT_FDCWD, "/tmp/upper/run/zygotemain.cjs", kZygoteProgram, 0444))
    return error;
  return replace_file("/tmp/upper/run/zygote.so", context.library);
}

int make_root(ZygoteContext&) {
  return mount_root();
}

int add_usr(ZygoteContext&) {
  return attach_usr();
}

int add_dev(ZygoteContext&) {
  return attach_dev();
}

// The host's, as far as a sandbox sees it: a zygote is in no pid namespace of its own.
int add_proc(ZygoteContext& context) {
  if (::mount("/proc", "/mnt/proc", nullptr, MS_BIND | MS_REC, nullptr) != 0) return errno;
  return cover_proc("/mnt/proc/", context.masks);
}

int pivot(ZygoteContext&) {
  return pivot_into_root();
}

// For what it rehearses; it leads nowhere.
int bring_up(ZygoteContext&) {
  return bring_loopback_up();
}

int set_host_name(ZygoteContext&) {
  return result_of(::sethostname("sandbox", 7));
}

int arrange_descriptors(ZygoteContext& context) {
  const Fd null{::open("/dev/null", O_RDWR | O_CLOEXEC)};
  if (!null) return errno;
  const int control = ::fcntl(context.control, F_DUPFD_CLOEXEC, 64);
  const int status = ::fcntl(context.status, F_DUPFD_CLOEXEC, 64);
  if (control < 0 || status < 0) return errno;
  for (const int number : {0, 1, 2}) {
    if (::dup2(null.get(), number) < 0) return errno;
  }
  if (::dup2(control, kZygoteControlFd) < 0) return errno;
  context.status = status;
  const int keep[] = {0, 1, 2, kZygoteControlFd, status};
  return close_all_but(keep, 5);
}

// Node.js remembers where it was started.
int go_to_workspace(ZygoteContext&) {
  return result_of(::chdir("/workspace"));
}

int start_session(ZygoteContext&) {
  if (::setsid() < 0) return errno;
  ::umask(022);
  return reset_signals();
}

// Over sandboxes, which are below its user namespace; not even over its own files.
int keep_one_capability(ZygoteContext&) {
  for (int capability = 0; ::prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; ++capability) {
    if (capability == CAP_SYS_ADMIN) continue;
    if (::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0) return errno;
  }
  return 0;
}

int die_with_launcher(ZygoteContext&) {
  return result_of(::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0));
}

// libuv shares a ring with the kernel, and copies would share it with the zygote.
int forbid_io_uring(ZygoteContext&) {
  constexpr auto number = static_cast<unsigned>(offsetof(seccomp_data, nr));
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, number),
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, SYS_io_uring_setup, 0, 2),
      BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, SYS_io_uring_register, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{sizeof filter / sizeof *filter, filter};
  return result_of(static_cast<int>(::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program)));
}

// The environment decides what Node.js reads at its start, so it is that of a program, and what
// makes it a zygote, which that removes again.
int execute(ZygoteContext&) {
  const char* const arguments[] = {kNode, kProgram, nullptr};
  std::vector<const char*> environment{std::begin(kProgramEnvironment),
                                       std::end(kProgramEnvironment)};
  // From here on the zygote's.
  environment.insert(environment.end(), {"LD_PRELOAD=/run/zygote.so", "LD_BIND_NOW=1", nullptr});
  ::execve(kNode, const_cast<char**>(arguments), const_cast<char**>(environment.data()));
  return errno;
}

constexpr Step<ZygoteContext> kSteps[] = {
    {"enter the cgroups", enter_cgroups},
    {"set the OOM score", prefer_as_oom_victim},
    {"enter the template", enter_template},
    {"mount the scratch space", make_scratch},
    {"fill the scratch space", fill},
    {"write the zygote's program", write_program},
    {"mount the root", make_root},
    {"attach /usr", add_usr},
    {"attach /dev", add_dev},
    {"attach /proc", add_proc},
    {"pivot into the root", pivot},
    {"bring the loopback interface up", bring_up},
    {"set the host name", set_host_name},
    {"arrange descriptors", arrange_descriptors},
    {"go to /workspace", go_to_workspace},
    {"start a session", start_session},
    {"keep one capability", keep_one_capability},
    {"die with the launcher", die_with_launcher},
    {"forbid io_uring", forbid_io_uring},
    {"execute", execute},
};

}  // namespace

void start_zygote(ZygoteContext context) {
  run_steps(kSteps, context);
  ::_exit(125);
}

const char* const kProgramEnvironment[8] = {
    "HOME=/home/node", "LANG=C.UTF-8",
    "LOGNAME=node",    "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "PWD=/workspace",  "SHELL=/bin/sh",
    "TMPDIR=/tmp",     "USER=node",
};

Fd open_zygote_library() {
  char path[PATH_MAX];
  const ssize_t length = ::readlink("/proc/self/exe", path, sizeof path);
  if (length <= 0) return Fd{};
  const std::string program(path, static_cast<size_t>(length));
  const std::string library = program.substr(0, program.rfind('/')) + "/belljar-zygote.so";
  const Fd file{::open(library.c_str(), O_RDONLY | O_CLOEXEC)};
  struct stat info {};
  if (!file || ::fstat(file.get(), &info) != 0) return Fd{};
  Fd copy{::memfd_create("zygote.so", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
  constexpr int kSeals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
  const auto size = static_cast<size_t>(info.st_size);
  if (!copy || ::sendfile(copy.get(), file.get(), nullptr, size) != info.st_size ||
      ::fcntl(copy.get(), F_ADD_SEALS, kSeals) != 0)
    return Fd{};
  return copy;
}

namespace {

int send_packet(int control, iovec* parts, size_t count, const std::vector<int>& fds) {
  Rights rights;
  msghdr header{};
  header.msg_iov = parts;
  header.msg_iovlen = count;
  rights.attach(header, fds);
  while (::sendmsg(control, &header, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

}  // namespace

int send_zygote_setup(int control, const SeccompFilters& filters) {
  ZygoteSetup setup{static_cast<uint32_t>(filters.arguments.size()),
                    static_cast<uint32_t>(filters.names.size())};
  const auto part = [](const std::vector<sock_filter>& filter) {
    return iovec{const_cast<sock_filter*>(filter.data()), filter.size() * sizeof(sock_filter)};
  };
  iovec parts[] = {{&setup, sizeof setup}, part(filters.arguments), part(filters.names)};
  return send_packet(control, parts, 3, {});
}

int send_fork_request(int control, const ForkRequest& request, const std::vector<int>& fds) {
  iovec part{const_cast<ForkRequest*>(&request), sizeof request};
  return send_packet(control, &part, 1, fds);
}

}  // namespace belljar::launcher
