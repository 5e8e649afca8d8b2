#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <exception>
#include <new>
#include <string_view>

#include "app/cli.h"
#include "base/error.h"

namespace {

// Half of what follows a failed allocation lies in libraries and cannot be undone. The end of this
// process is: the launcher sees it and removes every sandbox.
[[noreturn]] void end_without_memory() {
  constexpr std::string_view kMessage = "belljar: out of memory\n";
  [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, kMessage.data(), kMessage.size());
  ::_exit(1);
}

// The usual 1024 descriptors are for programs that wait with select(); connections of sandboxes
// need more.
void allow_many_files() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
}

}  // namespace

int main(int argc, char** argv) {
  std::set_new_handler(end_without_memory);
  std::signal(SIGPIPE, SIG_IGN);  // a reader that goes away is an error of write(), not our end
  allow_many_files();
  try {
    return belljar::app::run_command_line(argc, argv);
  } catch (const belljar::Error& e) {
    fmt::print(stderr, "belljar: {}\n", e.what());
    return e.code() == belljar::Code::invalid ? 2 : 1;
  } catch (const std::exception& e) {
    fmt::print(stderr, "belljar: internal error: {}\n", e.what());
    return 1;
  }
}
