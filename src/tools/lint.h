#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sandbox/lease.h"

namespace belljar::tools {

inline constexpr milliseconds kLintLimit{500};

// What static checks have to say about a program that failed: lines such as
// "L3:13: 'foo' is not defined (no-undef)", in the order of the program, at most 20 and then
// "… and N more". Syntax, undefined names and what is surely wrong; never style.
//
// `path` is the program's file in the sandbox of the lease. The linter runs there too, for at most
// `limit`. Empty if the program did not end by itself with an error, if its runtime has no linter,
// and whenever something goes wrong: an Error never leaves this, only the cancellation of the task
// does.
Task<std::vector<std::string>> lint(Lease& lease, const Outcome& outcome, std::string path,
                                    milliseconds limit = kLintLimit);

// The lines for what the linter printed, which a hostile program may have had a hand in.
std::vector<std::string> lint_lines(std::string_view report);

}  // namespace belljar::tools
