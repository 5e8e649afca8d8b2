#include "drivers/linux/launcher/create.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>

#include "drivers/linux/launcher/confine.h"
#include "drivers/linux/launcher/files.h"
#include "drivers/linux/launcher/gate.h"
#include "drivers/linux/launcher/id_map.h"
#include "drivers/linux/launcher/kernel.h"
#include "drivers/linux/launcher/report.h"
#include "drivers/linux/launcher/root.h"

namespace belljar::launcher {

namespace {

int result_of(int status) {
  return status == 0 ? 0 : errno;
}

int await_maps(CreateContext& context) {
  char byte = 0;
  if (::read(context.maps_written, &byte, 1) != 1) return ECANCELED;
  const unsigned id = context.ids.init_inside();
  return ::setresgid(id, id, id) == 0 && ::setresuid(id, id, id) == 0 ? 0 : errno;
}

int close_descriptors(CreateContext& context) {
  int keep[] = {context.status, context.files};
  if (context.files < 0) return close_all_but(keep, 1);
  std::sort(keep, keep + 2);
  return close_all_but(keep, 2);
}

// Bounds of this user namespace for objects that the kernel counts per user, before the host's
// /proc is out of sight: one sandbox must not use up what all share. And no namespaces inside,
// whatever a filter says.
int bound_kernel_objects(CreateContext&) {
  struct Bound {
    const char* path;
    const char* value;
  };
  constexpr Bound kBounds[] = {{"/proc/sys/user/max_inotify_instances", "16"},
                               {"/proc/sys/user/max_inotify_watches", "8192"},
                               {"/proc/sys/user/max_user_namespaces", "0"}};
  for (const Bound& bound : kBounds) {
    if (const int error = write_file_at(AT_FDCWD, bound.path, bound.value)) return error;
  }
  return 0;
}

int make_scratch(CreateContext& context) {
  return mount_scratch(context.limits);
}

int fill(CreateContext& context) {
  const bool v2 = (context.cgroups.facts() & kFactCgroupV2) != 0;
  return fill_scratch(context.limits, v2, kNodeId);
}

int make_root(CreateContext&) {
  return mount_root();
}

int add_usr(CreateContext&) {
  return attach_usr();
}

int add_dev(CreateContext&) {
  return attach_dev();
}

int attach_files(CreateContext& context) {
  if (context.files < 0) return 0;
  if (move_mount(context.files, "", AT_FDCWD, "/mnt/workspace/files", MOVE_MOUNT_F_EMPTY_PATH) != 0)
    return errno;
  ::close(context.files);
  return 0;
}

int mount_own_proc(CreateContext& context) {
  if (const int error = mount_proc("/mnt/proc", context.full_proc)) return error;
  return context.full_proc ? cover_proc("/mnt/proc/", context.masks) : 0;
}

int pivot(CreateContext&) {
  return pivot_into_root();
}

int bring_up(CreateContext&) {
  return bring_loopback_up();
}

int prepare_gate(CreateContext& context) {
  if (!context.gated) return 0;
  if (const int error = lead_to_gate()) return error;
  if (const int error = open_gate_packets(context.gate.packets)) return error;
  return open_gate_connections(context.gate.connections);
}

int set_host_name(CreateContext&) {
  return result_of(::sethostname("sandbox", 7));
}

int start_session(CreateContext&) {
  if (::setsid() < 0) return errno;
  if (const int error = reset_signals()) return error;
  // Orphans of the sandbox become init's children; ignoring SIGCHLD makes the kernel reap them.
  ::signal(SIGCHLD, SIG_IGN);
  return 0;
}

int drop_to_init(CreateContext& context) {
  return drop_privileges(context.ids.init_inside(), context.ids.are_own);
}

int die_with_launcher(CreateContext&) {
  // After the change of ids, which clears it.
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) return errno;
  return result_of(::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0));
}

int load_init_filters(CreateContext& context) {
  return load_filters(context.filters);
}

constexpr Step<CreateContext> kInitSteps[] = {
    {"wait for the id maps", await_maps},
    {"close descriptors", close_descriptors},
    {"bound kernel objects", bound_kernel_objects},
    {"mount the scratch space", make_scratch},
    {"fill the scratch space", fill},
    {"mount the root", make_root},
    {"attach /usr", add_usr},
    {"attach /dev", add_dev},
    {"attach the files directory", attach_files},
    {"mount /proc", mount_own_proc},
    {"pivot into the root", pivot},
    {"bring the loopback interface up", bring_up},
    {kGateStep, prepare_gate},
    {"set the host name", set_host_name},
    {"start a session", start_session},
    {"drop init's privileges", drop_to_init},
    {"die with the launcher", die_with_launcher},
    {"load init's seccomp filters", load_init_filters},  // last: what follows must be on the list
};

[[noreturn]] void run_init(CreateContext& context) {
  run_steps(kInitSteps, context);
  if (context.gated) {
    report_ready(context.status, {context.gate.packets.get(), context.gate.connections.get()});
    // The packet socket stays open here. The kernel holds whoever closes the last descriptor of one
    // for some ten milliseconds. If belljar is killed, that must be nobody through whom others
    // learn of its end; as inits die at the same time, they wait at the same time.
    context.gate.connections.reset();
  } else {
    report_ready(context.status);
  }
  ::close(context.status);
  for (;;) ::pause();
}

int yield_to_others(CreateContext& context) {
  // Init keeps this, too: it has nothing to do. Programs do not descend from it.
  return context.in_background ? result_of(::setpriority(PRIO_PROCESS, 0, 19)) : 0;
}

int enter_cgroups(CreateContext& context) {
  return context.cgroups.enter_sandbox(context.sandbox);
}

// With the launcher's rights, while it still has them: what the sandbox gets is a mount of exactly
// this directory, in which its owner looks like `node`.
int map_files(CreateContext& context) {
  if (context.files < 0) return 0;
  Fd mount;
  const int error = context.place.is_root ? clone_id_mapped(context.place.proc.get(), context.files,
                                                            context.ids.node_here, mount)
                                          : clone_mount(context.files, -1, mount);
  if (error != 0) return error;
  context.files = mount.release();
  return 0;
}

int enter_template(CreateContext& context) {
  if (::setns(context.owner, CLONE_NEWUSER) != 0) return errno;
  // A user namespace can be made only by a uid that its parent knows.
  if (::setresgid(0, 0, 0) != 0 || ::setresuid(0, 0, 0) != 0) return errno;
  // Init is a copy of this process. While it is dumpable its id maps can be written by its creator;
  // it ends that before it is ready. Nothing that could look into it exists yet.
  if (::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) != 0) return errno;
  return result_of(::setns(context.base.mounts.get(), CLONE_NEWNS));
}

constexpr Step<CreateContext> kCreatorSteps[] = {
    {"yield to others", yield_to_others},
    {"enter the cgroups", enter_cgroups},
    {kMapOwnerStep, map_files},
    {"enter the template", enter_template},
};

int write_maps(int proc, pid_t child, const SandboxIds& ids) {
  const auto line = [](unsigned inside, unsigned outside) {
    return std::to_string(inside) + " " + std::to_string(outside) + " 1\n";
  };
  const std::string map =
      ids.are_own ? line(kInitId, ids.init) + line(kNodeId, ids.node) : line(kNodeId, ids.node);
  const std::string pid = std::to_string(child);
  if (const int error = write_file_at(proc, (pid + "/uid_map").c_str(), map)) return error;
  return write_file_at(proc, (pid + "/gid_map").c_str(), map);
}

constexpr unsigned long kNamespaces = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET |
                                      CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;

}  // namespace

void create_sandbox(CreateContext context) {
  run_steps(kCreatorSteps, context);
  int maps[2];
  if (::pipe2(maps, O_CLOEXEC) != 0) report_failure_and_exit(context.status, "make a pipe", errno);
  // CLONE_PARENT: init is the launcher's child, and this helper is gone when the sandbox runs.
  const unsigned long shared = is_left_out("own network") ? CLONE_NEWNET : 0;
  const pid_t init = clone_process((kNamespaces & ~shared) | CLONE_PARENT);
  if (init < 0) report_failure_and_exit(context.status, "make the namespaces", errno);
  if (init == 0) {
    ::close(maps[1]);
    context.maps_written = maps[0];
    run_init(context);
  }
  report_pid(context.status, init);
  ::close(maps[0]);
  if (const int error = write_maps(context.place.proc.get(), init, context.ids)) {
    report_failure_and_exit(context.status, "write the id maps", error);
  }
  [[maybe_unused]] const ssize_t ignored = ::write(maps[1], "m", 1);
  Fd ids;
  // If that fails it is made, or reported, when it is needed.
  if (context.packages &&
      make_owner_map(context.place.proc.get(), *context.packages, context.ids.node, ids) == 0)
    report_mapped(context.status, ids.get());
  ::_exit(0);
}

int try_full_proc(int owner, const Template& base, bool& possible) {
  const pid_t child = clone_process(0);
  if (child < 0) return errno;
  if (child == 0) {
    if (::setns(owner, CLONE_NEWUSER) != 0 || ::setns(base.mounts.get(), CLONE_NEWNS) != 0)
      ::_exit(errno);
    // The same as a sandbox does, but for the user namespace: the owner's rights over the mounts
    // are enough.
    const pid_t inner = clone_process(CLONE_NEWPID | CLONE_NEWNS);
    if (inner < 0) ::_exit(errno);
    if (inner == 0) ::_exit(mount_proc("/mnt", true));
    const int status = wait_for(inner);
    ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : ECHILD);
  }
  const int status = wait_for(child);
  const int error = WIFEXITED(status) ? WEXITSTATUS(status) : ECHILD;
  possible = error == 0;
  return error == EPERM || error == EACCES || error == EINVAL ? 0 : error;
}

}  // namespace belljar::launcher
