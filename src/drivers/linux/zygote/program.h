#pragma once

#include "drivers/linux/zygote/node_abi.h"

namespace belljar::zygote {

// Waits in a finished sandbox for a program, and becomes it. Where JavaScript has nothing below it.
void become_program();

// In a copy: makes all ways out of Node.js end the process at once. What it does otherwise would
// wait for ghosts and their loops.
void hook_exits();

// Calls a function of the zygote's program; ends the process if that fails.
napi_value call(napi_ref function, size_t count, const napi_value* arguments);

}  // namespace belljar::zygote
