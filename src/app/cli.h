#pragma once

namespace belljar::app {

// Reads the command line and runs the sub-command. The exit status: that of the program for `run`,
// 0 or 1 otherwise, 2 for a command line or configuration that makes no sense.
int run_command_line(int argc, char** argv);

}  // namespace belljar::app
