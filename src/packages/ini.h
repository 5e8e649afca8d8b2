#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace belljar::packages {

struct IniEntry {
  std::string key;    // of `ca[] = …` it is "ca"
  std::string value;  // "true" for a key without "="
  bool is_list_item = false;
};

// What `${NAME}` stands for; nothing if there is no such variable.
using Variable = std::function<const std::string*(std::string_view name)>;

// Reads the text of an .npmrc as npm's `ini` does: comments (; and #), quotes, escapes, lists, and
// `${NAME}` in keys and values. A variable that is not set stays as it is written; `${NAME?}`
// becomes empty instead. Sections mean nothing to npm and what stands in them is left out. Never
// fails.
std::vector<IniEntry> parse_ini(std::string_view text, const Variable& variable);

}  // namespace belljar::packages
