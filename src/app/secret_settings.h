#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "network/secrets.h"

namespace toml {
inline namespace v3 {
class node;
}
}  // namespace toml

// Secrets in the configuration: tables [secrets.NAME] of the TOML file. Their values are not in it.
namespace belljar::app {

struct SecretSetting {
  std::string where;           // "FILE: [secrets.NAME]"
  network::Secret secret;      // without its value
  std::string value_file;      // a file that holds it,
  std::string value_variable;  // or a variable of belljar's own environment
};

// The table `secrets` of a file. Error{invalid} names the file, the secret and what is wrong.
std::vector<SecretSetting> read_secrets(const toml::node& table, const std::string& file);

// Reads the values, and makes what is needed to use them; null if there are none.
std::unique_ptr<network::Secrets> open_secrets(const std::vector<SecretSetting>& settings);

// For whoever writes programs: which placeholders there are, and where they work. "" if none.
std::string describe(const std::vector<SecretSetting>& settings);

json::object to_json(const SecretSetting& setting);
std::string to_toml(const SecretSetting& setting);

}  // namespace belljar::app
