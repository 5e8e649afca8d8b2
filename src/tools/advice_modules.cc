#include <fmt/format.h>

#include <algorithm>

#include "packages/package_document.h"
#include "tools/advice_rules.h"
#include "tools/program_text.h"

namespace belljar::tools::advice {

namespace {

constexpr size_t kMostEntries = 5;
constexpr size_t kLongestSpecifier = 60;

// What could not be found, as it was written: by import of a package, or by require().
std::string missing_specifier(const ErrorReport& error) {
  const std::string package = error.between("Cannot find package '", "' imported from");
  return package.empty() ? error.between("Cannot find module '", "'") : package;
}

bool is_path(std::string_view specifier) {
  return specifier.starts_with('/') || specifier.starts_with('.');
}

std::string entry(std::string_view package) {
  return fmt::format("{{\"name\": \"{}\", \"version\": \"latest\"}}", package);
}

bool has(const std::vector<std::string>& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

std::string builtin_meant(std::string_view written) {
  const std::string meant = nearest_builtin(written);
  return meant.empty() ? "" : fmt::format(" Did you mean \"node:{}\"?", meant);
}

// The name, if it may stand in the code that a sentence shows.
std::string identifier(const std::string& name) {
  const bool plain = !name.empty() && name.size() <= 40 &&
                     std::all_of(name.begin(), name.end(), [](unsigned char c) {
                       return c < 0x80 && (std::isalnum(c) != 0 || c == '_' || c == '$');
                     });
  return plain ? name : "";
}

}  // namespace

std::string missing_package(const Clues& clues) {
  const std::string specifier = missing_specifier(clues.error);
  if (specifier.empty() || is_path(specifier)) return "";
  const std::string package = package_of(specifier);
  if (is_builtin(package)) {
    const std::string path = imported_path(clues.run.code, package);
    return fmt::format("Node.js has no built-in module \"{}\".{}", shown(path, kLongestSpecifier),
                       builtin_meant(path));
  }
  if (package.empty())
    return fmt::format(
        "\"{}\" is neither an npm package nor a file: write the path of a file as "
        "\"./…\", there are no path aliases here.",
        shown(specifier, kLongestSpecifier));
  if (has(clues.run.dependencies, package)) return "";
  std::string entries = entry(package);
  size_t count = 1;
  for (const std::string& other : imported_packages(clues.run.code)) {
    if (other == package || has(clues.run.dependencies, other)) continue;
    if (++count > kMostEntries || entries.size() > 200) break;
    entries += ", " + entry(other);
  }
  return fmt::format("Package \"{}\" is not installed: add {} to \"dependencies\".", package,
                     entries);
}

// `bindings`, `node-gyp-build`, and require() of what a build would have made.
std::string missing_native_build(const Clues& clues) {
  constexpr std::string_view kPlace = "/workspace/node_modules/";
  const bool is_missing = clues.error.has("Could not locate the bindings file") ||
                          clues.error.has("No native build was found") ||
                          missing_specifier(clues.error).ends_with(".node");
  const std::string_view text = clues.error.text;
  const size_t at = text.find(kPlace);
  if (!is_missing || at == std::string_view::npos) return "";
  const std::string_view path = text.substr(at + kPlace.size());
  const std::string package = package_of(path.substr(0, path.find_first_of("\n'\" ")));
  if (package.empty()) return "";
  return fmt::format(
      "Package \"{0}\" has no native code for this Node.js: its install script would build it, and "
      "runs only if the operator allows that (packages-allow-scripts={0}). Without that, use a "
      "package that needs no native code.",
      shown(package, kLongestSpecifier));
}

std::string unknown_builtin(const Clues& clues) {
  if (clues.error.code != "ERR_UNKNOWN_BUILTIN_MODULE") return "";
  const std::string name = shown(clues.error.between("No such built-in module: ", "\n"), 60);
  const std::string package = package_of(name.starts_with("node:") ? name.substr(5) : name);
  const std::string meant = builtin_meant(name);
  if (!meant.empty() || package.empty())
    return fmt::format("Node.js has no built-in module \"{}\".{}", name, meant);
  return fmt::format(
      "Node.js has no built-in module \"{}\". If the npm package is meant, import \"{}\" and add "
      "{} "
      "to \"dependencies\".",
      name, package, entry(package));
}

std::string missing_module_file(const Clues& clues) {
  const std::string path = missing_specifier(clues.error);
  if (!is_path(path)) return "";
  const std::string file = shown(path);
  const std::string meant = clues.error.between("Did you mean to import \"", "\"");
  if (!meant.empty())
    return fmt::format(
        "There is no module {}: an import needs the whole name of the file, here \"{}\".", file,
        shown(meant));
  if (clues.run.session)
    return fmt::format(
        "There is no module {}: write that file first, with sandbox_write_files or by a program; "
        "an "
        "import needs its whole name, with .js.",
        file);
  return fmt::format(
      "There is no module {}: run_js_ephemeral runs one file in an empty directory. Put the code "
      "into it, or use sandbox_initialize, sandbox_write_files and run_js, where files persist.",
      file);
}

std::string commonjs_word(const Clues& clues) {
  if (clues.error.name != "ReferenceError") return "";
  const std::string& message = clues.error.message;
  const auto is = [&message](std::string_view word) {
    return message.starts_with(fmt::format("{} is not defined", word));
  };
  constexpr const char* kModule = "The program is an ES module, which has no {}: {}.";
  if (is("require")) {
    std::string statements;
    for (const std::string& statement : imports_for_requires(clues.run.code, 3))
      statements += (statements.empty() ? "" : " ") + statement;
    if (statements.empty())
      statements =
          "import { createRequire } from 'node:module'; const require = "
          "createRequire(import.meta.url);";
    return fmt::format("The program is an ES module, which has no require(): write {}",
                       shown(statements, 250));
  }
  if (is("module") || is("exports"))
    return fmt::format(kModule, "module.exports",
                       "write export or export default, or leave it out, as nobody imports this "
                       "file");
  if (is("__dirname")) return fmt::format(kModule, "__dirname", "write import.meta.dirname");
  if (is("__filename")) return fmt::format(kModule, "__filename", "write import.meta.filename");
  return "";
}

std::string missing_export(const Clues& clues) {
  if (!clues.syntax_error()) return "";
  std::string module = shown(clues.error.between("The requested module '", "'"), kLongestSpecifier);
  if (clues.error.message.starts_with("Named export '")) {
    const std::string name = identifier(clues.error.between("Named export '", "'"));
    return fmt::format(
        "\"{}\" is a CommonJS package: import it as a whole, import pkg from '{}'; const {{ {} }} "
        "= "
        "pkg;",
        module, module, name.empty() ? "…" : name);
  }
  if (!clues.error.has("does not provide an export named '")) return "";
  const std::string name = identifier(clues.error.between("an export named '", "'"));
  if (name == "default")
    return fmt::format(
        "\"{}\" has no default export: import by name, as in import {{ name }} from '{}'; or all "
        "of "
        "it, import * as all from '{}';",
        module, module, module);
  return fmt::format(
      "\"{}\" has no export named \"{}\": check the spelling, or see what there is with "
      "console.log(Object.keys(await import('{}'))).",
      module, name, module);
}

std::string unsupported_typescript(const Clues& clues) {
  if (clues.error.code != "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX") return "";
  constexpr std::pair<const char*, const char*> kInstead[] = {
      {"enum", "Instead of an enum write const Color = { red: 0, green: 1 } as const;"},
      {"namespace", "Instead of a namespace write a const object, or export from the module."},
      {"parameter property",
       "Instead of a parameter property declare the field in the class and assign it in the "
       "constructor."},
  };
  std::string instead = "Write that part as plain JavaScript.";
  for (const auto& [word, sentence] : kInstead) {
    if (clues.error.message.find(word) == std::string::npos) continue;
    instead = sentence;
    break;
  }
  return "Types are only stripped, so TypeScript that makes code does not work. " + instead;
}

std::string typescript_as_javascript(const Clues& clues) {
  if (!clues.syntax_error() || clues.run.language != Program::Language::javascript) return "";
  // Those that types give rise to; with others a line may look so by chance.
  constexpr std::string_view kMessages[] = {
      "Missing initializer",  "Unexpected identifier", "Unexpected strict mode reserved word",
      "Unexpected reserved",  "missing ) after",       "Unexpected token ':'",
      "Unexpected token '{'", "Unexpected token '!'",  "Unexpected token '?'",
      "Unexpected token '='", "Unexpected token '|'",  "Unexpected token ')'",
      "Unexpected token '<'", "Unexpected token '>'",
  };
  const bool fits = std::any_of(
      std::begin(kMessages), std::end(kMessages),
      [&clues](std::string_view text) { return clues.error.message.starts_with(text); });
  if (!fits || !looks_like_typescript(line_of(clues.run.code, clues.error.line))) return "";
  return fmt::format(
      "Line {} is TypeScript: run the program again with \"language\": \"typescript\", or remove "
      "the "
      "types.",
      clues.error.line);
}

std::string not_javascript(const Clues& clues) {
  const std::string_view code = clues.run.code;
  const std::string_view line = line_of(code, clues.error.line);
  const size_t start = std::min(line.find_first_not_of(" \t"), line.size());
  if (clues.error.fatal && code.substr(0, 10).find("```") != std::string_view::npos)
    return "Send the program without the ``` of Markdown around it.";
  if (!clues.syntax_error()) return "";
  if (clues.error.message == "Unexpected token '<'")
    return fmt::format(
        "Line {} has JSX or HTML, which Node.js does not run: build elements with functions such "
        "as "
        "React.createElement, or put the text in a string.",
        clues.error.line);
  if (line.substr(start).starts_with('@'))
    return "Node.js does not run decorators: call the function instead, as in A = decorate(A).";
  if (clues.error.message == "Illegal return statement")
    return fmt::format(
        "Line {} returns outside of a function: at the top level of a module use process.exit(), "
        "or "
        "put the code in a function.",
        clues.error.line);
  const bool reserved = clues.error.message == "Unexpected reserved word" ||
                        clues.error.message.starts_with("await is only valid");
  if (reserved && line.find("await") != std::string_view::npos)
    return fmt::format("Line {} uses await in a function that is not async: write async before it.",
                       clues.error.line);
  return "";
}

}  // namespace belljar::tools::advice
