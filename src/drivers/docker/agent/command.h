#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace belljar::agent {

// A program's command as it came: see Package. The pointers lead into `strings`, so it stays where
// it is.
struct StartCommand {
  StartCommand() = default;
  StartCommand(const StartCommand&) = delete;
  StartCommand& operator=(const StartCommand&) = delete;

  std::string strings;
  std::vector<char*> argv;  // both end with a null pointer
  std::vector<char*> envp;
  const char* source_path = nullptr;  // or null
  off_t source_at = 0;                // where its text begins in the file
  off_t source_end = 0;
};

// 0 or an errno: EINVAL if the file is not exactly what a Package describes, or not sealed.
int read_command(int file, StartCommand& command);

}  // namespace belljar::agent
