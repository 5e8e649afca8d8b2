// A Node.js that is executed ahead and waits in its sandbox for a program: where there are no
// zygotes.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "drivers/linux/launcher/kernel.h"
#include "drivers/linux/launcher/launcher.h"
#include "drivers/linux/launcher/start.h"
#include "drivers/linux/launcher/zygote_program.h"

namespace belljar::launcher {

namespace {

char node[] = "/usr/local/bin/node";
// As long as the name of a program, which takes its place in what /proc shows.
char path[] = "/tmp/parkednode.cjs";

Fd program_file() {
  Fd file{::memfd_create("parked", MFD_CLOEXEC)};
  const size_t size = std::strlen(kZygoteProgram);
  if (!file || ::write(file.get(), kZygoteProgram, size) != static_cast<ssize_t>(size) ||
      ::lseek(file.get(), 0, SEEK_SET) != 0)
    return Fd{};
  return file;
}

}  // namespace

void Launcher::park_executed(Jar& jar, const Request& request) {
  if (!zygote_library_) return answer(request, ENOENT, "find belljar-zygote.so");
  const Fd null{::open("/dev/null", O_RDWR | O_CLOEXEC)};
  const Fd source = program_file();
  int status[2] = {-1, -1};
  int job[2] = {-1, -1};
  const bool made = null && source && ::pipe2(status, O_CLOEXEC | O_NONBLOCK) == 0 &&
                    ::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, job) == 0;
  int error = made ? cgroups_.create_process(jar.id, request.process) : errno;
  auto program = std::make_unique<Program>();
  program->sandbox = jar.id;
  program->id = request.process;
  program->serial = request.serial;
  program->takes_job = true;
  program->status.reset(status[0]);
  program->job.reset(job[0]);
  const Fd their_status{status[1]};
  const Fd their_job{job[1]};
  if (error == 0) program->pid = clone_into(jar, request.process);
  if (error == 0 && program->pid < 0) error = errno;
  if (error == 0 && program->pid == 0) {
    std::vector<char*> environment;
    for (const char* variable : kProgramEnvironment)
      environment.push_back(const_cast<char*>(variable));
    environment.push_back(nullptr);
    StartContext context{cgroups_,
                         filters_,
                         jar.init_pidfd.get(),
                         jar.ids,
                         jar.id,
                         request.process,
                         jar.limits,
                         {},
                         {node, path, nullptr},
                         std::move(environment),
                         path,
                         null.get(),
                         null.get(),
                         null.get(),
                         source.get(),
                         their_status.get()};
    context.job = their_job.get();
    context.library = zygote_library_.get();
    start_program(std::move(context));
  }
  if (error != 0) {
    cgroups_.remove_process(jar.id, request.process);
    return answer(request, error, "start a process");
  }
  add(jar, std::move(program));
}

}  // namespace belljar::launcher
