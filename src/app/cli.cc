#include "app/cli.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <utility>

#include "app/commands.h"
#include "app/version.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/json.h"
#include "base/log.h"

namespace belljar::app {

namespace {

constexpr const char* kIntroduction =
    "belljar runs untrusted JavaScript with a real Node.js in a fresh, sealed Linux sandbox.";

// With the path of this very program, so that it can be copied as it stands.
std::string footer() {
  std::error_code unknown;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", unknown);
  const std::string command =
      json::serialize(json::value(unknown ? "/path/to/belljar" : path.string()));
  return "Add it to an MCP client (Claude, Cursor, VS Code, ...); no root is needed:\n"
         "  {\"mcpServers\": {\"belljar\": {\"command\": " +
         command +
         ", \"args\": [\"mcp\"]}}}\n\n"
         "Settings are flags, environment variables and lines of ~/.config/belljar/config.toml, in "
         "this order of\n"
         "precedence. `belljar config` shows them all, with their values and where each comes "
         "from.";
}

struct Flags {
  std::map<std::string, std::string> values;  // by setting name; filled by CLI11
  std::string file;
};

enum class Serves { yes, no };

void add_settings(CLI::App& command, Flags& flags, Serves serves = Serves::no) {
  command.add_option("--config", flags.file, "TOML file to read instead of the usual one")
      ->group("Settings");
  for (const Setting& setting : settings()) {
    if (setting.only_serve && serves == Serves::no) continue;
    std::string help =
        setting.help + "; " + setting.form + " [" + setting.environment.front() + "]";
    CLI::Option* const option = command.add_option_function<std::string>(
        "--" + setting.name,
        [&flags, name = setting.name](const std::string& text) { flags.values[name] = text; },
        help);
    option->group(setting.only_serve ? "Settings of the server" : "Settings")->type_name("");
    if (setting.may_stand_alone) option->expected(0, 1);
  }
}

std::map<std::string, std::string> to_map(const std::vector<std::string>& assignments) {
  std::map<std::string, std::string> result;
  for (const std::string& assignment : assignments) {
    const size_t equals = assignment.find('=');
    if (equals == std::string::npos || equals == 0) {
      fail(Code::invalid, "--env is \"{}\"; it must be NAME=VALUE", assignment);
    }
    result[assignment.substr(0, equals)] = assignment.substr(equals + 1);
  }
  return result;
}

// The commands and where their options are kept.
struct CommandLine {
  CLI::App app{kIntroduction, "belljar"};
  Flags flags;
  RunOptions run_options;
  std::vector<std::string> variables;
  ExecOptions exec_options;
  LogsOptions logs_options;
  std::vector<std::string> ids;
  DoctorOptions doctor_options;
  PackagesOptions packages_options;
  std::string disk;
  bool json = false;
  bool apparmor_profile = false;
  std::string version;
  CLI::App* run = nullptr;
  CLI::App* mcp = nullptr;
  CLI::App* serve = nullptr;
  CLI::App* config = nullptr;
  CLI::App* doctor = nullptr;
  CLI::App* runtime = nullptr;
  CLI::App* runtime_list = nullptr;
  CLI::App* install = nullptr;
  CLI::App* remove = nullptr;
  CLI::App* packages = nullptr;
  CLI::App* list = nullptr;
  CLI::App* exec = nullptr;
  CLI::App* logs = nullptr;
  CLI::App* stop = nullptr;

  CommandLine();
  void add_run();
  void add_serve();
  void add_doctor();
  void add_runtime();
  void add_packages();
  void add_sessions();
  int execute_packages(const LoadedConfig& loaded);
  int execute_sessions();
  int execute();
};

CommandLine::CommandLine() {
  app.require_subcommand(1);
  app.set_version_flag("--version", kVersion);
  app.footer(footer());
  app.get_formatter()->column_width(30);
  add_run();
  mcp = app.add_subcommand("mcp", "serve MCP on stdin and stdout: what an MCP client starts");
  mcp->footer("Ends when stdin ends or on SIGTERM; every sandbox is destroyed first.");
  add_settings(*mcp, flags);
  add_serve();
  add_sessions();
  add_runtime();
  add_packages();
  config = app.add_subcommand("config", "show every setting, its value and where it comes from");
  config->add_flag("--json", json, "print JSON");
  add_settings(*config, flags, Serves::yes);
  doctor = app.add_subcommand("doctor",
                              "try what this host can enforce, and say how to fix what it cannot");
  add_doctor();
}

void CommandLine::add_serve() {
  serve = app.add_subcommand("serve", "serve MCP over HTTP to several clients and users");
  serve->footer(
      "At its first start it makes a token, keeps it in ~/.config/belljar/token, and prints what "
      "to "
      "put into\na client. Tables [tokens.NAME] of the configuration file give tokens to several "
      "users instead, each with\nsandboxes, limits and files of its own; oauth-issuer accepts "
      "access tokens. docs/serve.md explains it all.\n"
      "/healthz, /readyz and /metrics are for whoever operates it. SIGTERM lets calls end "
      "(drain-timeout); a\nsecond one ends everything at once.\n"
      "Examples: belljar serve\n"
      "          belljar serve --listen 0.0.0.0:8765 --public-url https://mcp.example.com/mcp "
      "--audit-log /var/log/belljar.jsonl");
  add_settings(*serve, flags, Serves::yes);
}

void CommandLine::add_doctor() {
  doctor->add_flag("--json", doctor_options.json, "print JSON");
  doctor->add_flag("--check-copies", doctor_options.check_copies,
                   "try now whether copies of each installed Node.js do what it does (node-start)");
  doctor->add_flag("--apparmor-profile", apparmor_profile,
                   "print the AppArmor profile that lets the launcher use user namespaces");
  doctor->add_option_function<std::string>(
      "--require", [this](const std::string& text) { flags.values["require"] = text; },
      "features that must be enforced, separated by commas [BELLJAR_REQUIRE]");
  doctor->footer(
      "Exit status 0 if sandboxes work, 1 if not. docs/doctor.md explains features and grades.");
}

void CommandLine::add_run() {
  run = app.add_subcommand("run", "run one program in a fresh sandbox");
  run->add_option("FILE", run_options.file, "the program: a path, or - for standard input");
  run->add_option("-e,--eval", run_options.code, "the program's text, instead of FILE")
      ->type_name("CODE");
  run->add_option("ARGS", run_options.args,
                  "arguments of the program; put -- before them if one begins with -");
  run->add_option("--language", run_options.language,
                  "javascript or typescript; default: by the file's name")
      ->check(CLI::IsMember({"javascript", "typescript"}));
  run->add_option("--env", variables,
                  "an environment variable for the program, NAME=VALUE; may be repeated")
      ->type_name("NAME=VALUE")
      ->take_all();
  run->add_option("-d,--dependency", run_options.dependencies,
                  "an npm package for the program, such as lodash or lodash@^4; may be repeated")
      ->type_name("NAME[@VERSION]")
      ->allow_extra_args(false);
  run->add_flag("--stdin", run_options.pass_stdin,
                "give the program what belljar reads on standard input");
  run->add_flag("--time", run_options.show_time, "say where the time went");
  run->add_flag("--json", run_options.json,
                "print the result as JSON instead of the output as it appears");
  run->footer(
      "The exit status is the program's; 124 if its time was up, 128 + N if signal N killed it.\n"
      "Examples: belljar run -e 'console.log(process.version)' --image node:24 --memory 256m\n"
      "          belljar run -d lodash@4 -e 'import _ from \"lodash\"; console.log(_.VERSION)'");
  add_settings(*run, flags);
}

void CommandLine::add_runtime() {
  runtime = app.add_subcommand("runtime", "list, install and remove Node.js versions");
  runtime->require_subcommand(1);
  runtime_list = runtime->add_subcommand("list", "show the installed Node.js versions");
  runtime_list->add_flag("--json", json, "print JSON");
  install = runtime->add_subcommand("install", "install a Node.js from the npm registry");
  install->add_option("VERSION", version, "such as 24, 22.23.3, lts or node:26-slim")->required();
  install->footer(
      "The registry, its certificates, proxies and tokens are those of npm's own configuration.");
  remove = runtime->add_subcommand("remove", "remove an installed Node.js");
  remove->add_option("VERSION", version, "an exact version, as `belljar runtime list` shows it")
      ->required();
  for (CLI::App* command : {runtime_list, install, remove}) add_settings(*command, flags);
}

void CommandLine::add_packages() {
  packages = app.add_subcommand("packages", "list, install and remove sets of npm packages");
  packages->require_subcommand(1);
  const auto add_action = [this](const char* name, const char* help, PackagesAction action) {
    CLI::App* const command = packages->add_subcommand(name, help);
    command->callback([this, action] { packages_options.action = action; });
    return command;
  };
  CLI::App* const show = add_action("list", "show the sets that are kept, the latest used first",
                                    PackagesAction::list);
  show->add_flag("--json", packages_options.json, "print JSON");
  CLI::App* const add = add_action(
      "add", "install a set of packages, so that the first run need not", PackagesAction::add);
  add->add_option("PACKAGE", packages_options.words, "such as lodash or lodash@^4")->required();
  add->footer(
      "A run uses it if its dependencies are exactly these, with the same Node.js (--image).");
  constexpr const char* kKey = "a set, as `belljar packages list` shows it, or how it begins";
  CLI::App* const rm =
      add_action("rm", "remove sets that nobody uses just now", PackagesAction::remove);
  rm->add_option("SET", packages_options.words, kKey)->required();
  CLI::App* const prune =
      add_action("prune", "remove the sets used longest ago, and packages that no set needs",
                 PackagesAction::prune);
  prune->add_option("--to", disk, "what may be left, such as 500m or 0; default: packages-disk")
      ->type_name("SIZE");
  CLI::App* const verify = add_action(
      "verify", "read sets again and compare them with what was installed", PackagesAction::verify);
  verify->add_option("SET", packages_options.words, kKey);
  verify->footer(
      "Without SET all of them. Exit status 1 if one was damaged; it is built again when it is "
      "wanted.");
  for (CLI::App* command : {show, add, rm, prune, verify}) {
    command->add_option("--owner", packages_options.owner,
                        "packages of this owner of `belljar serve` (packages-per-owner): the name "
                        "of a token, or oauth:SUBJECT");
    add_settings(*command, flags);
  }
}

void CommandLine::add_sessions() {
  constexpr const char* kSandbox =
      "the sandbox: its id, or how it begins (js-sbx- may be left out)";
  constexpr const char* kFooterOfAll =
      "Sandboxes live in the server that made them, so this speaks with every running `belljar "
      "mcp` "
      "of\nthis user (one that was started with sudo is root's: use sudo here, too).";
  list = app.add_subcommand("list",
                            "show the sandboxes of running servers, and their published ports");
  list->add_flag("--json", json, "print JSON");
  exec = app.add_subcommand("exec", "run a command in a sandbox of a running server");
  exec->add_option("ID", exec_options.id, kSandbox)->required();
  exec->add_option("COMMAND", exec_options.command,
                   "a line for /bin/sh, or a command and its arguments; put it after --")
      ->required();
  exec->add_option("--timeout", exec_options.timeout_ms, "milliseconds until it is killed")
      ->check(CLI::PositiveNumber);
  exec->footer(
      std::string{"Prints what the command printed when it has ended. The exit status is the "
                  "command's; 124 if its time\nwas up, 128 + N if signal N killed it.\n"} +
      "Example: belljar exec 3f2a -- ls -l /workspace\n\n" + kFooterOfAll);
  logs = app.add_subcommand("logs", "show what a background process in a sandbox printed");
  logs->add_option("ID", logs_options.id, kSandbox)->required();
  logs->add_flag("-f,--follow", logs_options.follow, "go on until the process ends");
  logs->add_option("--process", logs_options.process, "its number; default: the newest");
  stop = app.add_subcommand("stop", "end sandboxes, with all that runs in them");
  stop->add_option("ID", ids, kSandbox)->required();
  for (CLI::App* command : {list, logs, stop}) command->footer(kFooterOfAll);
}

int CommandLine::execute_packages(const LoadedConfig& loaded) {
  if (!disk.empty()) {
    packages_options.disk = parse_bytes(disk);
    if (!packages_options.disk)
      fail(Code::invalid, "--to is \"{}\"; it must be a size such as 500m, 1g or 0", disk);
  }
  return packages_command(loaded, packages_options);
}

int CommandLine::execute_sessions() {
  if (list->parsed()) return session_list_command(json);
  if (exec->parsed()) return session_exec_command(exec_options);
  if (logs->parsed()) return session_logs_command(logs_options);
  return session_stop_command(ids);
}

int CommandLine::execute() {
  const LoadedConfig loaded = load_config(flags.values, flags.file);
  log::configure(loaded.config.log_level, loaded.config.log_format);
  if (run->parsed()) {
    if (run_options.file.empty() && run_options.code.empty()) {
      fail(Code::invalid, "there is no program: give a FILE, - for standard input, or -e CODE");
    }
    // With -e, what stands in the place of FILE is the first argument, as it is with node.
    if (!run_options.code.empty() && !run_options.file.empty()) {
      run_options.args.insert(run_options.args.begin(), std::exchange(run_options.file, ""));
    }
    run_options.env = to_map(variables);
    return run_command(loaded, run_options);
  }
  if (mcp->parsed()) return mcp_command(loaded);
  if (serve->parsed()) return serve_command(loaded);
  if (config->parsed()) return config_command(loaded, json);
  if (doctor->parsed())
    return apparmor_profile ? apparmor_profile_command() : doctor_command(loaded, doctor_options);
  if (runtime_list->parsed()) return runtime_list_command(loaded, json);
  if (install->parsed()) return runtime_install_command(loaded, version);
  if (remove->parsed()) return runtime_remove_command(loaded, version);
  if (packages->parsed()) return execute_packages(loaded);
  return execute_sessions();
}

}  // namespace

int run_command_line(int argc, char** argv) {
  CommandLine line;
  try {
    line.app.parse(argc, argv);
  } catch (const CLI::RequiredError& e) {
    // What stands in the place of a command says more than that one is missing.
    const auto unknown = line.app.remaining(true);
    if (unknown.empty()) return line.app.exit(e) == 0 ? 0 : 2;
    fail(Code::invalid, "there is no command or option \"{}\"; `belljar --help` lists them",
         unknown.front());
  } catch (const CLI::ParseError& e) {
    const int status = line.app.exit(e);
    return status == 0 ? 0 : 2;
  }
  return line.execute();
}

}  // namespace belljar::app
