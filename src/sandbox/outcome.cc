#include "sandbox/outcome.h"

#include <fmt/format.h>

#include <cstring>

namespace belljar {

std::string signal_name(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal);
}

const char* name_of(StartWay way) {
  switch (way) {
    case StartWay::exec: return "exec";
    case StartWay::fork: return "fork";
    case StartWay::parked_fork: return "parked-fork";
    case StartWay::parked_exec: return "parked-exec";
  }
  return "";
}

}  // namespace belljar
