#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "app/docker_settings.h"
#include "app/secret_settings.h"
#include "app/serve_settings.h"
#include "base/log.h"
#include "sandbox/sandboxes.h"
#include "sandbox/start_way.h"
#include "tools/settings.h"

namespace belljar::app {

// Everything an operator can set. Read once at start; plain values afterwards.
struct Config {
  tools::Settings tools;
  SessionLimits sessions;
  ServeConfig serve;
  DriverName driver = DriverName::native;
  DockerConfig docker;
  std::vector<SecretSetting> secrets;  // from the TOML file only
  std::vector<std::string> require;    // features without which there are no sandboxes
  size_t spare_sandboxes = 2;          // of each kind in use, made ahead; more if there is demand
  uint64_t spare_memory = 256 << 20;   // of all of them
  NodeStart node_start = NodeStart::automatic;
  uint64_t zygote_copies = 10'000;  // before one is renewed
  std::string data_dir;
  std::string packages_store = "main";

  // Whose packages in that store, by the key of an owner of `belljar serve`; "": everybody's.
  std::string packages_owner;

  // The store's directory beneath the data directory.
  std::string packages_directory() const;

  log::Level log_level = log::Level::warning;
  log::Format log_format = log::Format::text;
};

// One thing that can be set, by flag (--name), environment variable or line of the TOML file, in
// this order of precedence. The table of all of them is the only place that knows their names,
// forms and defaults.
struct Setting {
  std::string name;                      // "run-timeout": the flag and the TOML key
  std::vector<std::string> environment;  // first wins; later ones are older names
  std::string form;                      // what a value looks like, for help and errors
  std::string help;
  // False: not of that form. It may also throw an Error that says where it is not.
  std::function<bool(Config&, const std::string&)> set;
  std::function<std::string(const Config&)> show;
  bool may_stand_alone = false;  // as a flag without a value, which sets it to ""
  bool only_serve = false;       // a flag of `belljar serve` only
};
const std::vector<Setting>& settings();

// A configuration with, for each setting, where its value came from ("default",
// "RUN_SCRIPT_TIMEOUT", …).
struct LoadedConfig {
  Config config;
  std::map<std::string, std::string> sources;
  std::string file;  // the TOML file that was read, or ""
};

// `flags`: setting name → text from the command line. `file`: the TOML file to read, "" for the
// usual places. A value that does not parse is an Error that names where it stands, the value and
// the form it needs.
LoadedConfig load_config(const std::map<std::string, std::string>& flags, const std::string& file);

}  // namespace belljar::app
