#include <fmt/format.h>

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
    const json::object all{{"file", loaded.file}, {"settings", values}, {"secrets", secrets}};
    fmt::print("{}\n", json::serialize(all));
    return 0;
  }
  fmt::print("# {}\n", loaded.file.empty() ? "no configuration file was found"
                                           : "configuration file: " + loaded.file);
  for (const Setting& setting : settings()) {
    const std::string value = setting.show(loaded.config);
    const bool number =
        !value.empty() && value.find_first_not_of("0123456789.") == std::string::npos;
    const std::string line = setting.name + " = " + (number ? value : "\"" + value + "\"");
    fmt::print("{:<42}# {}: {}\n", line, loaded.sources.at(setting.name), setting.help);
  }
  for (const SecretSetting& setting : loaded.config.secrets) fmt::print("\n{}", to_toml(setting));
  return 0;
}

}  // namespace belljar::app
