#pragma once

namespace belljar::zygote {

// Lets /proc/self/cmdline and process.report show the command of a program, and /proc/self/environ
// the variables that every program has; copies inherit that. What one run adds is not shown there.
// Where the kernel does not let it, the zygote's own variables are shown, too.
void show_command_of_program();

}  // namespace belljar::zygote
