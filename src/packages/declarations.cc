#include "packages/declarations.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "base/json.h"
#include "base/utf8.h"
#include "packages/references.h"
#include "packages/semver.h"

namespace belljar::packages {
namespace {

// `typesVersions` is read as the newest TypeScript would.
const Version kTypeScript{.major = 99, .prerelease = {}};

// Real packages have some hundreds; a hostile one could name millions that are not there.
constexpr size_t kMaxReferences = 20'000;

constexpr std::string_view kDeclarations[] = {".d.ts", ".d.mts", ".d.cts"};

bool is_declaration(std::string_view path) {
  return std::any_of(std::begin(kDeclarations), std::end(kDeclarations),
                     [path](std::string_view ending) { return path.ends_with(ending); });
}

// Where the types of a module stand that a specifier names: "lib/a.js" → "lib/a.d.ts".
std::string find_beside(const PackageFiles& files, const std::string& path) {
  constexpr std::pair<std::string_view, std::string_view> kEndings[] = {
      {".js", ".d.ts"}, {".mjs", ".d.mts"}, {".cjs", ".d.cts"}, {".jsx", ".d.ts"},
      {".ts", ".d.ts"}, {".mts", ".d.mts"}, {".cts", ".d.cts"}, {".tsx", ".d.ts"},
  };
  if (is_declaration(path)) return files.contains(path) ? path : "";
  for (const auto& [code, types] : kEndings) {
    if (!path.ends_with(code)) continue;
    std::string candidate = path.substr(0, path.size() - code.size());
    candidate += types;
    if (files.contains(candidate)) return candidate;
  }
  for (const std::string_view ending : kDeclarations)
    if (std::string candidate = path + std::string{ending}; files.contains(candidate))
      return candidate;
  const std::string folder = path.empty() ? "" : path + "/";
  for (const std::string_view ending : kDeclarations)
    if (std::string candidate = folder + "index" + std::string{ending}; files.contains(candidate))
      return candidate;
  return "";
}

// The same for what package.json says.
std::string find_named(const PackageFiles& files, std::string_view path) {
  const auto inside = path_beneath("", path);
  return inside ? find_beside(files, *inside) : "";
}

// How a program loads the package.
enum class Loading { import, require };

bool holds(std::string_view condition, Loading loading) {
  return condition == "node" || condition == "default" || condition == "module-sync" ||
         condition == (loading == Loading::import ? "import" : "require");
}

// A target of `exports`: a path, a list of which the first fits, or targets by condition.
std::string find_exported(const PackageFiles& files, const json::value& target, Loading loading) {
  if (const json::string* path = target.if_string())
    return path->starts_with("./") ? find_named(files, *path) : "";
  if (const json::array* list = target.if_array()) {
    for (const json::value& one : *list)
      if (std::string found = find_exported(files, one, loading); !found.empty()) return found;
    return "";
  }
  const json::object* conditions = target.if_object();
  if (conditions == nullptr) return "";
  if (const json::value* types = find(*conditions, "types"))
    if (std::string found = find_exported(files, *types, loading); !found.empty()) return found;
  for (const auto& [condition, one] : *conditions)
    if (holds(condition, loading))
      if (std::string found = find_exported(files, one, loading); !found.empty()) return found;
  return "";
}

std::string find_in_exports(const PackageFiles& files, const json::object& manifest) {
  const json::value* exports = find(manifest, "exports");
  if (const json::object* entries = exports != nullptr ? exports->if_object() : nullptr)
    if (!entries->empty() && entries->begin()->key().starts_with('.'))
      exports = find(*entries, ".");
  if (exports == nullptr) return "";
  // Programs are ES modules.
  std::string found = find_exported(files, *exports, Loading::import);
  return found.empty() ? find_exported(files, *exports, Loading::require) : found;
}

// "ts5/*" for "lib/a.d.ts" under the pattern "lib/*" is "ts5/a.d.ts".
std::optional<std::string> remap(std::string_view path, std::string_view pattern,
                                 std::string_view target) {
  const size_t star = pattern.find('*');
  if (star == std::string_view::npos)
    return path == pattern ? std::optional{std::string{target}} : std::nullopt;
  const std::string_view before = pattern.substr(0, star);
  const std::string_view after = pattern.substr(star + 1);
  if (path.size() < before.size() + after.size() || !path.starts_with(before) ||
      !path.ends_with(after))
    return std::nullopt;
  const std::string_view matched =
      path.substr(before.size(), path.size() - before.size() - after.size());
  std::string result{target};
  if (const size_t at = result.find('*'); at != std::string::npos) result.replace(at, 1, matched);
  return result;
}

std::string find_in_types_versions(const PackageFiles& files, const json::object& manifest,
                                   std::string_view types) {
  const json::object* versions = find_object(manifest, "typesVersions");
  const auto path = path_beneath("", types.empty() ? "index.d.ts" : types);
  if (versions == nullptr || !path) return "";
  for (const auto& [range_text, paths] : *versions) {
    const auto range = Range::parse(range_text);
    if (!range || !range->accepts(kTypeScript) || !paths.is_object()) continue;
    for (const auto& [pattern, targets] : paths.get_object()) {
      if (!targets.is_array()) continue;
      for (const json::value& target : targets.get_array()) {
        if (!target.is_string()) continue;
        if (const auto mapped = remap(*path, pattern, target.get_string()))
          if (std::string found = find_named(files, *mapped); !found.empty()) return found;
      }
    }
    return "";  // the first range that fits decides
  }
  return "";
}

std::string_view cut_at_line(std::string_view text, size_t limit) {
  text = text.substr(0, utf8_prefix(text, limit));
  const size_t line = text.rfind('\n');
  return line == std::string_view::npos ? text : text.substr(0, line + 1);
}

// The text that a model reads, made file by file until it is full.
class Text {
 public:
  explicit Text(size_t limit) : limit_{limit} {}

  void add(const std::string& path, const TarballFile& file) {
    const std::string header = "// " + path + "\n";
    const size_t room = limit_ - std::min(limit_, text_.size() + header.size());
    const std::string content = to_utf8(file.content);
    const bool whole = file.size == file.content.size();
    if (!whole && file.content.size() < room) {  // memory was too short for it, not the text
      ++left_out_;
      return;
    }
    const bool fits = whole && content.size() <= room;
    // A part of a file is worth having only if it is most of what there is room for.
    full_ = full_ || (!fits && room < limit_ / 2);
    if (full_) {
      ++left_out_;
      return;
    }
    text_ += header;
    text_ += fits ? content : cut_at_line(content, room);
    if (!text_.ends_with('\n')) text_ += '\n';
    if (fits) return;
    full_ = true;
    text_ += fmt::format("// … cut here: the file has {}, the limit is {}.\n",
                         format_bytes(file.size), format_bytes(limit_));
  }

  std::string take() {
    if (left_out_ > 0)
      text_ += fmt::format(
          "// {} left out: the limit is {}.\n",
          left_out_ == 1 ? "1 more file is" : fmt::format("{} more files are", left_out_),
          format_bytes(limit_));
    return std::move(text_);
  }

 private:
  size_t limit_;
  std::string text_;
  bool full_ = false;
  size_t left_out_ = 0;
};

}  // namespace

bool is_about_types(std::string_view path) {
  return path == "package.json" || is_declaration(path);
}

std::string find_declarations(const PackageFiles& files) {
  const auto manifest_file = files.find("package.json");
  boost::system::error_code error;
  json::value parsed;
  if (manifest_file != files.end()) parsed = json::parse(manifest_file->second.content, error);
  const json::object* manifest = parsed.if_object();
  if (error || manifest == nullptr) fail(Code::denied, "it has no package.json that can be read");
  const auto text = [manifest](std::string_view key) {
    const json::string* value = find_string(*manifest, key);
    return value != nullptr ? std::string{*value} : "";
  };
  if (std::string found = find_in_exports(files, *manifest); !found.empty()) return found;
  const std::string types = text("types").empty() ? text("typings") : text("types");
  if (std::string found = find_in_types_versions(files, *manifest, types); !found.empty())
    return found;
  for (const std::string& path : {types, text("main"), std::string{"."}})
    if (!path.empty())
      if (std::string found = find_named(files, path); !found.empty()) return found;
  return "";
}

std::string collect_declarations(const PackageFiles& files, const std::string& entry,
                                 size_t limit) {
  Text text{limit};
  std::vector<std::string> queue{entry};
  std::set<std::string, std::less<>> seen{entry};
  size_t references = 0;
  for (size_t next = 0; next < queue.size(); ++next) {
    const std::string path = queue[next];
    const TarballFile& file = files.at(path);
    text.add(path, file);
    const size_t slash = path.rfind('/');
    const std::string folder = slash == std::string::npos ? "" : path.substr(0, slash);
    for (const std::string_view reference : relative_references(file.content)) {
      if (++references > kMaxReferences) break;
      const auto inside = path_beneath(folder, reference);
      if (!inside) continue;
      std::string needed = find_beside(files, *inside);
      if (!needed.empty() && seen.insert(needed).second) queue.push_back(std::move(needed));
    }
  }
  return text.take();
}

}  // namespace belljar::packages
