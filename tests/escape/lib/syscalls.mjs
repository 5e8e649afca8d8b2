// Numbers of the x86-64 system calls that the tests name, and flags. Raw numbers, because that is what an attacker uses.
export const nr = {
  ioctl: 16, mincore: 27, shmget: 29, socket: 41, sendto: 44, setsockopt: 54, socketpair: 53, clone: 56, semget: 64, msgget: 68, fcntl: 72,
  open: 2, creat: 85, chmod: 90, fchmod: 91, ptrace: 101, syslog: 103, setuid: 105, setgid: 106, setgroups: 116, mknod: 133, uselib: 134, personality: 135,
  vhangup: 153, modify_ldt: 154, pivot_root: 155, prctl: 157, adjtimex: 159, chroot: 161, sync: 162, acct: 163, settimeofday: 164, mount: 165,
  umount2: 166, swapon: 167, swapoff: 168, reboot: 169, sethostname: 170, setdomainname: 171, iopl: 172, ioperm: 173, init_module: 175,
  delete_module: 176, quotactl: 179, futex: 202, io_setup: 206, io_submit: 209, lookup_dcookie: 212, remap_file_pages: 216, mbind: 237,
  set_mempolicy: 238, get_mempolicy: 239, mq_open: 240, kexec_load: 246, add_key: 248, request_key: 249, keyctl: 250, ioprio_set: 251,
  inotify_init: 253, migrate_pages: 256, openat: 257, mknodat: 259, fchmodat: 268, unshare: 272, vmsplice: 278, move_pages: 279, perf_event_open: 298,
  fanotify_init: 300, name_to_handle_at: 303, open_by_handle_at: 304, clock_adjtime: 305, syncfs: 306, setns: 308, process_vm_readv: 310,
  process_vm_writev: 311, kcmp: 312, finit_module: 313, sched_setattr: 314, seccomp: 317, kexec_file_load: 320, bpf: 321, execveat: 322,
  userfaultfd: 323, uretprobe: 335, pidfd_send_signal: 424, io_uring_setup: 425, io_uring_enter: 426, io_uring_register: 427, open_tree: 428,
  move_mount: 429, fsopen: 430, fsconfig: 431, fsmount: 432, fspick: 433, pidfd_open: 434, clone3: 435, pidfd_getfd: 438,
  process_madvise: 440, mount_setattr: 442, quotactl_fd: 443, landlock_create_ruleset: 444, landlock_add_rule: 445, landlock_restrict_self: 446,
  memfd_secret: 447, process_mrelease: 448, set_mempolicy_home_node: 450, fchmodat2: 452, map_shadow_stack: 453, futex_wake: 454,
  futex_wait: 455, futex_requeue: 456, statmount: 457, listmount: 458, lsm_get_self_attr: 459, mseal: 462, open_tree_attr: 467,
  setpriority: 141, sched_setparam: 142, sched_setscheduler: 144, mlockall: 151, clock_settime: 227, nfsservctl: 180,
};

export const cloneNew = {
  NEWNS: 0x00020000, NEWCGROUP: 0x02000000, NEWUTS: 0x04000000, NEWIPC: 0x08000000,
  NEWUSER: 0x10000000, NEWPID: 0x20000000, NEWNET: 0x40000000,
};

// The numbers are those of one architecture; elsewhere the tests that use them say so and skip.
export const onlyX64 = process.arch === 'x64' ? {} : { skip: `system call numbers are those of x86-64, this is ${process.arch}` };
