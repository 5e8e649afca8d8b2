#include "packages/ini.h"

#include "base/json.h"

namespace belljar::packages {
namespace {

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n\f\v";
  const size_t start = text.find_first_not_of(kBlank);
  if (start == std::string_view::npos) return {};
  return text.substr(start, text.find_last_not_of(kBlank) - start + 1);
}

bool is_quoted(std::string_view text, char quote) {
  return text.size() >= 2 && text.front() == quote && text.back() == quote;
}

std::string unquote(std::string_view text) {
  if (is_quoted(text, '"')) {
    boost::system::error_code error;
    const json::value value = json::parse(text, error);
    if (!error && value.is_string()) return std::string{value.as_string()};
    return std::string{text};
  }
  return std::string{text.substr(1, text.size() - 2)};
}

std::string plain(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ';' || c == '#') break;
    if (c == '\\' && i + 1 < text.size() &&
        (text[i + 1] == '\\' || text[i + 1] == ';' || text[i + 1] == '#')) {
      result += text[++i];
    } else {
      result += c;
    }
  }
  return std::string{trim(result)};
}

std::string decode(std::string_view text) {
  text = trim(text);
  return is_quoted(text, '"') || is_quoted(text, '\'') ? unquote(text) : plain(text);
}

std::string expand(std::string_view text, const Variable& variable) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool starts = text.substr(i, 2) == "${" && (i == 0 || text[i - 1] != '\\');
    const size_t end = starts ? text.find('}', i) : std::string_view::npos;
    if (end == std::string_view::npos || end == i + 2) {
      result += text[i];
      continue;
    }
    std::string_view name = text.substr(i + 2, end - i - 2);
    const bool optional = name.ends_with('?');
    if (optional) name.remove_suffix(1);
    if (const std::string* value = variable(name); value != nullptr) {
      result += *value;
    } else if (!optional) {
      result += text.substr(i, end - i + 1);
    }
    i = end;
  }
  return result;
}

}  // namespace

std::vector<IniEntry> parse_ini(std::string_view text, const Variable& variable) {
  std::vector<IniEntry> entries;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.front() == ';' || line.front() == '#') continue;
    if (line.front() == '[' && line.back() == ']') break;  // sections come last
    const size_t equals = line.find('=');
    IniEntry entry;
    entry.key = expand(decode(line.substr(0, equals)), variable);
    entry.value = equals == std::string_view::npos
                      ? "true"
                      : expand(decode(line.substr(equals + 1)), variable);
    if (entry.key.size() > 2 && entry.key.ends_with("[]")) {
      entry.key.resize(entry.key.size() - 2);
      entry.is_list_item = true;
    }
    if (!entry.key.empty()) entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace belljar::packages
