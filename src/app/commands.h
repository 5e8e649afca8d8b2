#pragma once

#include <cstdint>
#include <map>
#include <optional>
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
  std::vector<std::string> dependencies;  // npm packages: NAME or NAME@VERSION
  bool pass_stdin = false;
  bool json = false;
  bool show_time = false;
};

struct ExecOptions {
  std::string id;                    // of the sandbox, or how it begins
  std::vector<std::string> command;  // one line for the shell, or a command and its arguments
  int64_t timeout_ms = 0;            // 0: the server's default
};

struct LogsOptions {
  std::string id;
  std::optional<int64_t> process;  // the newest if not set
  bool follow = false;
};

struct DoctorOptions {
  bool json = false;
  bool check_copies = false;  // try copies of Node.js now, not only tell what is known
};

enum class PackagesAction { list, add, remove, prune, verify };

struct PackagesOptions {
  PackagesAction action = PackagesAction::list;
  std::vector<std::string> words;  // add: NAME[@VERSION]; remove, verify: how keys begin
  std::optional<uint64_t> disk;    // prune: to this size instead of the configured one
  std::string owner;               // of `belljar serve`, as a person names them; "": everybody
  bool json = false;
};

int run_command(const LoadedConfig& loaded, const RunOptions& options);
int mcp_command(const LoadedConfig& loaded);
int serve_command(const LoadedConfig& loaded);
int config_command(const LoadedConfig& loaded, bool json);
int doctor_command(const LoadedConfig& loaded, const DoctorOptions& options);
int apparmor_profile_command();
int runtime_list_command(const LoadedConfig& loaded, bool json);
int runtime_install_command(const LoadedConfig& loaded, const std::string& version);
int runtime_remove_command(const LoadedConfig& loaded, const std::string& version);
int packages_command(const LoadedConfig& loaded, const PackagesOptions& options);

// Those about the sandboxes in running servers.
int session_list_command(bool json);
int session_exec_command(const ExecOptions& options);
int session_logs_command(const LogsOptions& options);
int session_stop_command(const std::vector<std::string>& ids);

}  // namespace belljar::app
