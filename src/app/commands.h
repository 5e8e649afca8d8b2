#pragma once

#include <map>
#include <string>
#include <vector>

#include "app/config.h"

// The sub-commands of belljar: one file each. Each returns the exit status.
namespace belljar::app {

struct RunOptions {
  std::string file;  // path, "-" for stdin, or "" with `code`
  std::string code;
  std::string language;  // "", "javascript" or "typescript"; "" goes by the file's name
  std::vector<std::string> args;
  std::map<std::string, std::string> env;
  bool pass_stdin = false;
  bool json = false;
  bool show_time = false;
};

int run_command(const LoadedConfig& loaded, const RunOptions& options);
int mcp_command(const LoadedConfig& loaded);
int config_command(const LoadedConfig& loaded, bool json);
int doctor_command(const LoadedConfig& loaded, bool json);
int runtime_list_command(const LoadedConfig& loaded, bool json);
int runtime_install_command(const LoadedConfig& loaded, const std::string& version);
int runtime_remove_command(const LoadedConfig& loaded, const std::string& version);

}  // namespace belljar::app
