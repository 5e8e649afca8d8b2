#include "packages/references.h"

#include <algorithm>
#include <cctype>

#include "base/utf8.h"

namespace belljar::packages {
namespace {

bool is_word(unsigned char c) {
  return std::isalnum(c) || c == '_' || c == '$' || c >= 0x80;
}

bool is_relative(std::string_view path) {
  return path == "." || path == ".." || path.starts_with("./") || path.starts_with("../");
}

// Passes over the tokens of TypeScript as far as it takes to tell strings from the rest.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_{text} {}

  std::vector<std::string_view> run() {
    while (at_ < text_.size()) step();
    return std::move(found_);
  }

 private:
  void step() {
    const char c = text_[at_];
    if (text_.substr(at_, 2) == "//") {
      comment_line();
    } else if (text_.substr(at_, 2) == "/*") {
      at_ = after("*/", at_ + 2);
    } else if (c == '\'' || c == '"' || c == '`') {
      string(c);
    } else if (is_word(static_cast<unsigned char>(c))) {
      const size_t start = at_;
      while (at_ < text_.size() && is_word(static_cast<unsigned char>(text_[at_]))) ++at_;
      word_ = text_.substr(start, at_ - start);
      called_ = false;
    } else {
      // `import('./a')`: the parenthesis does not end what the word says of the string.
      if (c == '(' && (word_ == "import" || word_ == "require") && !called_)
        called_ = true;
      else if (!std::isspace(static_cast<unsigned char>(c)))
        word_ = {};
      ++at_;
    }
  }

  void comment_line() {
    const size_t end = std::min(text_.find('\n', at_), text_.size());
    const std::string_view line = text_.substr(at_, end - at_);
    at_ = end;
    if (!line.starts_with("///") || line.find("<reference") == line.npos) return;
    const size_t key = line.find("path=");
    if (key == line.npos || key + 5 >= line.size()) return;
    const char quote = line[key + 5];
    const size_t close = line.find(quote, key + 6);
    if ((quote == '"' || quote == '\'') && close != line.npos)
      found_.push_back(line.substr(key + 6, close - key - 6));
  }

  void string(char quote) {
    const size_t start = ++at_;
    while (at_ < text_.size() && text_[at_] != quote && (text_[at_] != '\n' || quote == '`'))
      at_ += text_[at_] == '\\' ? 2 : 1;
    at_ = std::min(at_, text_.size());
    const std::string_view content = text_.substr(start, at_ - start);
    const bool names_a_module =
        word_ == "from" || word_ == "import" || (word_ == "require" && called_);
    if (names_a_module && quote != '`' && is_relative(content)) found_.push_back(content);
    word_ = {};
    at_ = std::min(at_ + 1, text_.size());
  }

  size_t after(std::string_view what, size_t from) const {
    const size_t found = text_.find(what, from);
    return found == text_.npos ? text_.size() : found + what.size();
  }

  std::string_view text_;
  size_t at_ = 0;
  std::string_view word_;  // the last one, unless something stands between it and here
  bool called_ = false;    // … but for a parenthesis
  std::vector<std::string_view> found_;
};

}  // namespace

std::vector<std::string_view> relative_references(std::string_view text) {
  return Scanner{text}.run();
}

std::optional<std::string> path_beneath(std::string_view folder, std::string_view path) {
  constexpr size_t kLongest = 1024;
  if (path.size() > kLongest || path.starts_with('/') || path.find('\\') != path.npos ||
      path.find('\0') != path.npos || !is_utf8(path))
    return std::nullopt;
  std::vector<std::string_view> parts;
  for (const std::string_view whole : {folder, path}) {
    for (std::string_view rest = whole; !rest.empty();) {
      const size_t end = std::min(rest.find('/'), rest.size());
      const std::string_view part = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (part.empty() || part == ".") continue;
      if (part == ".." && parts.empty()) return std::nullopt;
      if (part == "..")
        parts.pop_back();
      else
        parts.push_back(part);
    }
  }
  std::string result;
  for (const std::string_view part : parts) {
    if (!result.empty()) result += '/';
    result += part;
  }
  return result;
}

}  // namespace belljar::packages
