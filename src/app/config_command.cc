#include <fmt/format.h>

#include <algorithm>

#include "app/commands.h"
#include "base/json.h"

namespace belljar::app {

int config_command(const LoadedConfig& loaded, bool json) {
  if (json) {
    json::object values;
    for (const Setting& setting : settings()) {
      values[setting.name] = json::object{{"value", setting.show(loaded.config)},
                                          {"source", loaded.sources.at(setting.name)},
                                          {"help", setting.help},
                                          {"form", setting.form}};
    }
    json::array secrets;
    for (const SecretSetting& setting : loaded.config.secrets) secrets.push_back(to_json(setting));
    json::array tokens;
    for (const TokenSetting& token : loaded.config.serve.tokens) tokens.push_back(to_json(token));
    const json::object all{
        {"file", loaded.file}, {"settings", values}, {"secrets", secrets}, {"tokens", tokens}};
    fmt::print("{}\n", json::serialize(all));
    return 0;
  }
  fmt::print("# {}\n", loaded.file.empty() ? "no configuration file was found"
                                           : "configuration file: " + loaded.file);
  for (const Setting& setting : settings()) {
    const std::string value = setting.show(loaded.config);
    // JSON's numbers and strings are TOML's, too; an address is no number.
    const bool number = !value.empty() &&
                        value.find_first_not_of("0123456789.") == std::string::npos &&
                        std::count(value.begin(), value.end(), '.') <= 1;
    // What is not set has no value that could stand in a file.
    const std::string line = (value.empty() ? "# " : "") + setting.name + " = " +
                             (number ? value : json::serialize(json::value(value)));
    fmt::print("{:<41} # {}: {}\n", line, loaded.sources.at(setting.name), setting.help);
  }
  for (const SecretSetting& setting : loaded.config.secrets) fmt::print("\n{}", to_toml(setting));
  for (const TokenSetting& token : loaded.config.serve.tokens) fmt::print("\n{}", to_toml(token));
  return 0;
}

}  // namespace belljar::app
