#pragma once

namespace belljar::zygote {

// Ends the process, as soon as its end can be known: what it leaves to the kernel to take apart,
// somebody else holds a little longer.
[[noreturn]] void leave(int code);

}  // namespace belljar::zygote
