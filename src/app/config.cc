#include "app/config.h"

#include <toml++/toml.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/posix.h"
#include "drivers/both/driver.h"
#include "drivers/docker/engine_check.h"
#include "drivers/linux/feature_table.h"
#include "files/uri.h"

namespace belljar::app {

Config default_config();  // settings.cc

namespace {

std::string usual_file() {
  const std::string config_home = environment("XDG_CONFIG_HOME");
  const std::string home = environment("HOME");
  std::vector<std::string> places;
  if (!config_home.empty()) places.push_back(config_home + "/belljar/config.toml");
  if (config_home.empty() && !home.empty()) places.push_back(home + "/.config/belljar/config.toml");
  places.emplace_back("/etc/belljar/config.toml");
  for (const std::string& place : places) {
    std::error_code ignored;
    if (std::filesystem::exists(place, ignored)) return place;
  }
  return "";
}

// A TOML value as the text that a flag would have.
std::string to_text(const toml::node& node, const std::string& where) {
  if (const auto* value = node.as_string()) return value->get();
  if (const auto* value = node.as_integer()) return std::to_string(value->get());
  if (const auto* value = node.as_boolean()) return value->get() ? "yes" : "no";
  if (const auto* value = node.as_floating_point()) return fmt::format("{}", value->get());
  fail(Code::invalid, "{}: a value must be a string or a number", where);
}

std::map<std::string, std::string> read_toml(const std::string& file, Config& config) {
  std::map<std::string, std::string> values;
  const std::string content = read_file(file);
  try {
    const toml::table table = toml::parse(content, file);
    for (const auto& [key, node] : table) {
      const std::string name{key.str()};
      if (name == "secrets") {
        config.secrets = read_secrets(node, file);
        continue;
      }
      if (name == "tokens") {
        config.serve.tokens = read_tokens(node, file);
        continue;
      }
      values[name] = to_text(node, file + ": " + name);
    }
  } catch (const toml::parse_error& e) {
    fail(Code::invalid, "{}, line {}: {}", file, e.source().begin.line, e.description());
  }
  return values;
}

const Setting* find_setting(const std::string& name) {
  for (const Setting& setting : settings()) {
    if (setting.name == name) return &setting;
  }
  return nullptr;
}

void apply(LoadedConfig& loaded, const Setting& setting, const std::string& value,
           const std::string& source) {
  std::string why;
  bool fits = false;
  try {
    fits = setting.set(loaded.config, value);
  } catch (const Error& e) {
    why = ": " + files::display_name(e.what());
  }
  if (!fits) {
    fail(Code::invalid, "{} is \"{}\"{}; it must be {}", source, files::display_name(value), why,
         setting.form);
  }
  loaded.sources[setting.name] = source;
}

// Each driver has features of its own; with both, those of the engine are called so.
std::vector<std::string> feature_names(DriverName driver) {
  if (driver == DriverName::docker) return docker::feature_names();
  std::vector<std::string> names = linux_driver::feature_names();
  if (driver == DriverName::native) return names;
  for (const std::string& name : docker::feature_names()) names.push_back(kEnginePrefix + name);
  return names;
}

void check_required(const LoadedConfig& loaded) {
  const Config& config = loaded.config;
  const std::vector<std::string> known = feature_names(config.driver);
  for (const std::string& name : config.require) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    fail(Code::invalid,
         "{} is \"{}\"; with this driver it must be one or more, separated by commas, of {}",
         loaded.sources.at("require"),
         files::display_name(fmt::format("{}", fmt::join(config.require, ","))),
         fmt::join(known, " "));
  }
}

void suit_driver(LoadedConfig& loaded) {
  const std::vector<std::string>& images = loaded.config.docker.images;
  const bool has_others = std::any_of(images.begin(), images.end(), [](const std::string& pattern) {
    return pattern != "node" && !pattern.starts_with("node:");
  });
  if (loaded.config.driver == DriverName::both && !has_others) {
    fail(Code::invalid,
         "driver is both, but docker-images offers only node:* images, which are those of this "
         "host then: name others, such as docker-images = \"ghcr.io/acme/tools:*\"");
  }
}

}  // namespace

LoadedConfig load_config(const std::map<std::string, std::string>& flags, const std::string& file) {
  LoadedConfig loaded;
  loaded.config = default_config();
  for (const Setting& setting : settings()) loaded.sources[setting.name] = "default";
  loaded.file = !file.empty()                            ? file
                : !environment("BELLJAR_CONFIG").empty() ? environment("BELLJAR_CONFIG")
                                                         : usual_file();
  if (!loaded.file.empty()) {
    for (const auto& [name, value] : read_toml(loaded.file, loaded.config)) {
      const Setting* setting = find_setting(name);
      if (setting == nullptr) {
        fail(Code::invalid, "{}: there is no setting \"{}\"; `belljar config` lists them",
             loaded.file, name);
      }
      apply(loaded, *setting, value, loaded.file + ": " + name);
    }
  }
  for (const Setting& setting : settings()) {
    for (const std::string& variable : setting.environment) {
      const std::string value = environment(variable.c_str());
      if (value.empty()) continue;
      apply(loaded, setting, value, variable);
      break;
    }
    const auto flag = flags.find(setting.name);
    if (flag != flags.end()) apply(loaded, setting, flag->second, "--" + setting.name);
  }
  loaded.config.tools.secrets = describe(loaded.config.secrets);
  suit_driver(loaded);
  check_required(loaded);
  return loaded;
}

}  // namespace belljar::app
