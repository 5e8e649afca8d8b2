#pragma once

#include <string>
#include <string_view>
#include <vector>

// What can be told from the text of a program without parsing it. Guesses, for advice only.
namespace belljar::tools {

// A line of the program, counted from 1, cut at 300 bytes; "" if there is none.
std::string_view line_of(std::string_view code, size_t number);

// "lodash/fp" → "lodash", "@a/b/c" → "@a/b"; "" for what cannot be a package ("./x", "node:fs").
std::string package_of(std::string_view specifier);

// A module that Node.js itself has: "fs", "node:fs/promises".
bool is_builtin(std::string_view specifier);

// The built-in module that is meant by a name that is nearly one ("fs/promise"); "" if none is.
std::string nearest_builtin(std::string_view name);

// A path of `package` that the program imports, as it is written there: "fs/promise" of "fs"; or
// `package`.
std::string imported_path(std::string_view code, const std::string& package);

// The npm packages that the program imports or requires, each once, in their order.
std::vector<std::string> imported_packages(std::string_view code);

// The import statements for the program's `… = require("…")`, at most `limit` of them.
std::vector<std::string> imports_for_requires(std::string_view code, size_t limit);

bool looks_like_typescript(std::string_view line);

}  // namespace belljar::tools
