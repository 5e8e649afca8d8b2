#pragma once

#include <sys/resource.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "drivers/linux/launcher/cgroup.h"
#include "drivers/linux/launcher/create.h"
#include "drivers/linux/launcher/message.h"
#include "drivers/linux/launcher/place.h"
#include "drivers/linux/launcher/proc.h"
#include "drivers/linux/launcher/report.h"
#include "drivers/linux/launcher/seccomp.h"
#include "drivers/linux/launcher/slot.h"
#include "drivers/linux/launcher/template.h"
#include "drivers/linux/launcher/trust.h"

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
  struct Program {
    uint64_t sandbox = 0;
    uint64_t id = 0;
    uint32_t serial = 0;  // of the start request, while it is unanswered
    pid_t pid = -1;       // 0 once it is reaped
    Fd status;
    bool answered = false;
    bool out_of_memory = false;
    bool ended = false;  // reaped; `exited` is sent once the start is answered
    int wait_status = 0;
    rusage usage{};
  };
  struct Jar {  // one sandbox
    uint64_t id = 0;
    uint32_t create_serial = 0;
    uint32_t destroy_serial = 0;
    SandboxLimits limits{};
    unsigned id_block = 0;
    SandboxIds ids;
    pid_t init = 0;
    Fd init_pidfd;
    Fd status;         // while it is being made
    Fd out_of_memory;  // signalled when it is; see Cgroups
    bool ready = false;
    bool doomed = false;  // to be destroyed as soon as that is possible
    bool init_ended = false;
    uint64_t oom_kills = 0;
    std::map<uint64_t, std::unique_ptr<Program>> programs;
    std::vector<uint64_t> leftovers;  // ended programs whose children may live on
  };
  int set_up(std::string& step);
  void handle(Message& message);
  void seal(Message& message);
  void prepare(const Message& message);
  void create(const Message& message);
  void start(Message& message);
  pid_t clone_into(const Jar& jar, uint64_t process);
  std::vector<unsigned> programs_per_cpu() const;
  void kill(const Request& request);
  void kill_program(Jar& jar, uint64_t process);
  void destroy(const Request& request);
  void socket(const Request& request);
  void examine(const Request& request) const;

  void on_jar_status(Jar& jar);
  void on_program_status(Program& program);
  void on_out_of_memory(Jar& jar);
  void kill_for_memory(Jar& jar);
  bool needs_watchdog() const;
  void watch_memory();
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
  Fd children_;  // signalfd for SIGCHLD
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
  std::map<pid_t, std::pair<int, rusage>>
      unclaimed_;           // ended before the helper could report their pid
  uint64_t next_look_ = 0;  // of watch_memory(), in milliseconds of the clock that never goes back
  std::vector<bool> id_blocks_;
  unsigned next_id_block_ = 1;
};

}  // namespace belljar::launcher
