#include "drivers/linux/zygote/shown_command.h"

#include <linux/prctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <memory>

namespace belljar::zygote {

namespace {

constexpr const char* kOwnNames[] = {"/run/zygotemain.cjs", "/tmp/parkednode.cjs"};
constexpr char kProgram[] = "/workspace/index.js";  // as long as each of them

// Where the kernel believes the parts of this process to be. False if it does not tell.
bool read_map(prctl_mm_map& map) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file{std::fopen("/proc/self/stat", "re"),
                                                   std::fclose};
  char line[2048];
  if (!file || std::fgets(line, sizeof line, file.get()) == nullptr) return false;
  const char* const rest = std::strrchr(line, ')');  // the name before it may contain anything
  if (rest == nullptr) return false;
  unsigned long long code[3];
  unsigned long long data[7];  // and where arguments and environment are
  // proc(5): the state is field 3.
  const int found = std::sscanf(
      rest + 2,
      "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %*u %*u %*d %*u "
      "%llu %llu %llu %*u %*u %*u %*u %*u %*u %*u %*u %*u %*d %*d %*u %*u %*u %*u %*d "
      "%llu %llu %llu %llu %llu %llu %llu",
      &code[0], &code[1], &code[2], &data[0], &data[1], &data[2], &data[3], &data[4], &data[5],
      &data[6]);
  if (found != 10) return false;
  map.start_code = code[0];
  map.end_code = code[1];
  map.start_stack = code[2];
  map.start_data = data[0];
  map.end_data = data[1];
  map.start_brk = data[2];
  map.brk = reinterpret_cast<unsigned long long>(::sbrk(0));
  map.arg_start = data[3];
  map.arg_end = data[4];
  map.env_start = data[5];
  map.env_end = data[6];
  map.exe_fd = ~0u;  // as it is
  return true;
}

// Every copy of a name that lies there.
void replace_names(char* first, char* end) {
  for (const char* const name : kOwnNames) {
    for (char* at = first; (at = static_cast<char*>(::memmem(at, static_cast<size_t>(end - at),
                                                             name, sizeof kProgram))) != nullptr;
         at += sizeof kProgram) {
      std::memcpy(at, kProgram, sizeof kProgram);
    }
  }
}

char* pointer(unsigned long long address) {
  return reinterpret_cast<char*>(address);
}

}  // namespace

void show_command_of_program() {
  prctl_mm_map map{};
  if (!read_map(map)) return;
  replace_names(pointer(map.arg_start), pointer(map.arg_end));
  replace_names(pointer(map.start_brk), pointer(map.brk));  // what process.report shows
  // The environment ends where the zygote's own variables begin.
  const char* const own = static_cast<char*>(
      ::memmem(pointer(map.env_start), map.env_end - map.env_start, "LD_PRELOAD=", 11));
  if (own == nullptr) return;
  map.env_end = reinterpret_cast<unsigned long long>(own);
  ::prctl(PR_SET_MM, PR_SET_MM_MAP, &map, sizeof map, 0);
}

}  // namespace belljar::zygote
