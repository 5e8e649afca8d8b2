#pragma once

#include <sys/resource.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "drivers/linux/launcher/cgroup.h"
#include "drivers/linux/launcher/jar.h"
#include "drivers/linux/launcher/message.h"
#include "drivers/linux/launcher/place.h"
#include "drivers/linux/launcher/proc.h"
#include "drivers/linux/launcher/report.h"
#include "drivers/linux/launcher/seccomp.h"
#include "drivers/linux/launcher/slot.h"
#include "drivers/linux/launcher/template.h"
#include "drivers/linux/launcher/trust.h"
#include "drivers/linux/launcher/zygote.h"

namespace belljar::launcher {

// Before something is tried again for which there was no memory.
constexpr unsigned kPauseMicros = 1000;

// How often a sandbox without a memory cgroup is looked at.
constexpr int kWatchdogMillis = 50;

// The privileged half of the native driver: makes sandboxes, starts programs in them, kills and
// removes them, as belljar asks. One thread, one loop; nothing in it waits for a sandbox. When
// belljar's end of the socket closes, for whatever reason, everything is destroyed; when this
// process ends, for whatever reason, the kernel kills every sandbox with its pid namespace.
class Launcher {
 public:
  Launcher(int control, Place place);
  int run();  // until belljar is gone; the exit status

 private:
  int set_up(std::string& step);
  void handle(Message& message);
  void seal(Message& message);
  int make_view(int files, Fd& view) const;
  void prepare(const Message& message);
  void create(const Message& message);
  void start(Message& message);
  pid_t clone_into(const Jar& jar, uint64_t process);
  void add(Jar& jar, std::unique_ptr<Program> program);
  std::vector<Jar*> busy_jars();
  void make_zygote(const Request& request);
  void park(const Request& request);
  void park_executed(Jar& jar, const Request& request);
  void start_forked(Jar& jar, Message& message);
  void start_copied(Jar& jar, Program& program);
  void start_parked(Jar& jar, Message& message);
  int ask_for_copy(Jar& jar, Program& program, bool is_awaited);
  int pin(const Jar& jar, const Program& program);
  int hand_over(Jar& jar, Program& program, Message& message);
  Zygote* zygote_for(const Jar& jar);
  std::vector<unsigned> programs_per_cpu();
  void kill(const Request& request);
  void kill_program(Jar& jar, uint64_t process);
  void destroy(const Request& request);
  void socket(const Request& request);
  void mount(const Message& message);
  void examine(const Request& request) const;

  void on_jar_status(Jar& jar);
  void on_program_status(Program& program);
  void on_mount_status(Jar& jar);
  void on_out_of_memory();
  void kill_for_memory(Jar& jar);
  bool needs_watchdog() const;
  void watch_memory();
  void on_zygote(Zygote& zygote);
  void on_zygote_ready(Zygote& zygote);
  bool owes_copies(uint64_t zygote) const;  // 0: does any
  void retire(Zygote& zygote);
  void retire_others(uint32_t image, const SandboxLimits& limits, const Zygote* successor);
  void on_copy(const ForkReply& reply);
  void on_parked(Program& program);
  void lose(Zygote& zygote);
  bool reap_zygote(pid_t pid);
  bool bury_zygotes();  // false: try again in a moment
  void reap();
  void on_init_exit(Jar& jar);
  void on_program_exit(Program& program, int status, const rusage& usage);
  void finish_program(Program& program);
  void doom(Jar& jar);
  bool remove(Jar& jar);  // false: try again in a moment
  void close();

  unsigned take_id_block();
  void free_id_block(unsigned block);
  SandboxIds ids_for(unsigned block, bool with_files) const;
  void answer(const Request& request, int error, std::string_view step);
  void answer(ReplyType type, uint32_t serial, uint64_t sandbox, int error, std::string_view step,
              const std::vector<int>& fds = {});
  Reply make_reply(ReplyType type, uint32_t serial, uint64_t sandbox) const;
  void send(const Reply& reply, const std::vector<int>& fds = {}) const;

  int control_;
  Place place_;
  Trust trust_;
  Fd own_pid_namespace_;
  Fd own_net_namespace_;
  Fd children_;       // signalfd for SIGCHLD
  Fd memory_events_;  // epoll, of the out_of_memory of all sandboxes
  bool set_up_done_ = false;
  bool closing_ = false;  // belljar is gone
  unsigned landlock_abi_ = 0;
  Slot slot_;
  Cgroups cgroups_;
  SeccompFilters filters_;
  ProcMasks masks_;
  bool full_proc_ = true;
  Fd owner_;
  uint32_t own_id_ = 0;  // belljar's, once it is not root any more
  std::map<uint32_t, Template> templates_;
  std::map<uint64_t, std::unique_ptr<Jar>> jars_;
  std::set<uint64_t> busy_;  // those that are not quiet, and perhaps others
  std::map<uint64_t, std::unique_ptr<Zygote>> zygotes_;
  uint64_t zygotes_made_ = 0;
  Fd zygote_library_ = open_zygote_library();
  // Copies that ended before their zygote could tell their pid.
  std::map<pid_t, std::pair<int, rusage>> unclaimed_;
  std::optional<Owner> packages_owner_;  // once any were mounted
  uint64_t next_look_ = 0;  // of watch_memory(), in milliseconds of the clock that never goes back
  std::vector<bool> id_blocks_;
  unsigned next_id_block_ = 1;
};

}  // namespace belljar::launcher
