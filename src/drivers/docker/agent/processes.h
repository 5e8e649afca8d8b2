#pragma once

#include <sys/types.h>

#include <cstdint>
#include <set>
#include <vector>

// The processes of the container, as /proc shows them to the agent, and the end of some of them.
namespace belljar::agent {

struct ProcessId {
  pid_t pid = 0;
  uint64_t started = 0;  // when, in ticks since boot: tells it from another of the same number
  auto operator<=>(const ProcessId&) const = default;
};

// What is to be killed: all beneath one process, or all that is left without one.
struct Family {
  pid_t root;                // not itself part of it; -1: only the mark counts
  std::vector<pid_t> apart;  // these and what is beneath them is no part of it either
  uint64_t mark = 0;         // what has this one is part of it wherever it is; 0: there is none
};

// Whether what loses its parents falls to the supervisor above it. gVisor's kernel takes the wish
// and gives all of it to the first process.
bool has_subreapers();

// What the processes of a program have in common there: a limit that is never reached, that every
// child inherits and that nobody can raise again.
uint64_t mark_of_program(uint64_t number);
int set_mark(uint64_t mark);  // of this process; 0 or an errno

// The living ones, as they are found at one time or another. False if /proc does
// not show them.
bool find_family(const Family& family, std::vector<ProcessId>& found);

// Kills a family that may be hostile, have the agent's own user id, and multiply. Each process has
// to be stopped before its children can be counted; so it takes several looks, and may take several
// calls of pass(), until one finds nothing.
class Hunt {
 public:
  enum class Result {
    over,     // nobody is left
    goes_on,  // those found last were killed, but are still there: try again in a moment
    lost,     // they multiply faster, or cannot be seen
  };
  Result pass(const Family& family);

 private:
  std::set<ProcessId> seen_;
  int passes_with_more_ = 0;
};

// Kills all processes of the container but the agent, in one moment: nothing outruns it. False if
// the agent is not the first process there, which is the only one that may do so.
bool kill_everything();

}  // namespace belljar::agent
