#pragma once

#include <string>
#include <vector>

#include "base/json.h"

namespace toml {
inline namespace v3 {
class node;
}
}  // namespace toml

// Who may call `belljar serve`: tables [tokens.NAME] of the TOML file. NAME is the owner.
namespace belljar::app {

struct TokenSetting {
  std::string where;       // "FILE: [tokens.NAME]"
  std::string name;        // the owner
  std::string sha256;      // of the token; "" until its file is read
  std::string token_file;  // that holds it; "" if the table itself says
  std::string files_dir;   // what the owner's programs see as ./files; "": each sandbox its own
};

// The table `tokens` of a file. Error{invalid} names the file, the owner and what is wrong. Texts
// of tokens are forgotten at once.
std::vector<TokenSetting> read_tokens(const toml::node& table, const std::string& file);

// Reads the files that hold tokens.
void open_tokens(std::vector<TokenSetting>& settings);

json::object to_json(const TokenSetting& setting);
std::string to_toml(const TokenSetting& setting);

}  // namespace belljar::app
