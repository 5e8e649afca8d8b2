#include <fmt/format.h>

#include <csignal>
#include <exception>

#include "app/cli.h"
#include "base/error.h"

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a reader that goes away is an error of write(), not our end
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
