#include "tools/error_report.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "base/utf8.h"

namespace belljar::tools {

namespace {

constexpr size_t kLongestReport = 16u << 10;
constexpr size_t kLongestName = 60;
constexpr std::string_view kProgram = "/workspace/index";

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// The line with which Node.js points at a place in the line above: "      ^^^".
bool is_pointer(std::string_view line) {
  return line.find('^') != std::string_view::npos &&
         line.find_first_not_of(" \t^") == std::string_view::npos;
}

// The line above that one: "file:///workspace/index.js:3". Not always is something pointed at.
bool is_place(std::string_view line) {
  constexpr std::string_view kBeginnings[] = {"file:///", "/", "node:", "<anonymous_script>"};
  const size_t colon = line.rfind(':');
  return std::any_of(std::begin(kBeginnings), std::end(kBeginnings),
                     [line](std::string_view text) { return line.starts_with(text); }) &&
         colon != std::string_view::npos && colon + 1 < line.size() &&
         line.find_first_not_of("0123456789", colon + 1) == std::string_view::npos;
}

bool is_word(std::string_view text) {
  return !text.empty() && text.size() <= kLongestName &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return c < 0x80 && (std::isalnum(c) != 0 || c == '_');
         });
}

// "TypeError [ERR_X]: text", "Error: text", "[Error: text] {", "<ref *1> Error: text".
bool read_heading(std::string_view line, ErrorReport& report) {
  if (line.starts_with("<ref *")) line.remove_prefix(std::min(line.find("> ") + 2, line.size()));
  const bool bracketed = line.starts_with('[');
  if (bracketed) line.remove_prefix(1);
  const size_t colon = line.find(": ");
  if (colon == std::string_view::npos) return false;
  std::string_view name = line.substr(0, colon);
  std::string_view code;
  if (const size_t open = name.find(" ["); open != std::string_view::npos && name.ends_with(']')) {
    code = name.substr(open + 2, name.size() - open - 3);
    name = name.substr(0, open);
  }
  const bool of_an_error =
      name.ends_with("Error") || name.ends_with("Exception") || name == "UnhandledPromiseRejection";
  if (!is_word(name) || !of_an_error || (!code.empty() && !is_word(code))) return false;
  std::string_view message = line.substr(colon + 2);
  if (bracketed) message = message.substr(0, message.rfind(']'));
  report.name = name;
  report.code = code;
  report.message = message;
  return true;
}

// Takes the part of stderr that belongs to the error: what Node.js prints last, closed by its
// version. Without that the program printed the error itself, or something else.
std::string_view cut_report(std::string_view err, bool& fatal) {
  const size_t end = err.rfind("\n\nNode.js v");
  fatal = end != std::string_view::npos && err.find('\n', end + 2) + 1 >= err.size();
  if (fatal) err = err.substr(0, end);
  return err.size() > kLongestReport ? err.substr(err.size() - kLongestReport) : err;
}

}  // namespace

std::string ErrorReport::between(std::string_view before, std::string_view after) const {
  const size_t at = text.find(before);
  if (at == std::string::npos) return "";
  const size_t begin = at + before.size();
  const size_t end = text.find(after, begin);
  return end == std::string::npos ? "" : text.substr(begin, end - begin);
}

ErrorReport read_error_report(std::string_view err) {
  ErrorReport report;
  const std::string_view text = cut_report(err, report.fatal);
  const std::vector<std::string_view> lines = split_lines(text);
  // The heading of the last error: the first one after the last place that was pointed at; if the
  // program itself printed it, the last heading there is.
  size_t after_pointer = 0;
  for (size_t i = 0; i < lines.size(); ++i)
    if (report.fatal && (is_pointer(lines[i]) || is_place(lines[i]))) after_pointer = i + 1;
  size_t heading = lines.size();
  for (size_t i = after_pointer; i < lines.size(); ++i) {
    if (!read_heading(lines[i], report)) continue;
    heading = i;
    if (report.fatal) break;
  }
  for (size_t i = after_pointer; heading == lines.size() && report.fatal && i < lines.size(); ++i) {
    if (lines[i].empty()) continue;
    report.message = lines[i];
    heading = i;
  }
  if (heading == lines.size()) {
    report.text = text;
    return report;
  }
  report.text = text.substr(static_cast<size_t>(lines[heading].data() - text.data()));
  if (report.code.empty()) report.code = report.between("code: '", "'");
  if (!is_word(report.code)) report.code.clear();
  // "file:///workspace/index.js:3" stands some lines above the heading, or else in the stack.
  const size_t above = heading - std::min<size_t>(heading, 8);
  report.line = program_line(text.substr(static_cast<size_t>(lines[above].data() - text.data())));
  return report;
}

size_t program_line(std::string_view text) {
  for (size_t at = text.find(kProgram); at != std::string_view::npos;
       at = text.find(kProgram, at + 1)) {
    const std::string_view rest = text.substr(at + kProgram.size(), 40);
    const size_t colon = rest.find("s:");
    if (colon == std::string_view::npos || rest.substr(0, colon).find('\n') < colon) continue;
    size_t line = 0;
    const char* begin = rest.data() + colon + 2;
    if (std::from_chars(begin, rest.data() + rest.size(), line).ptr != begin) return line;
  }
  return 0;
}

std::string shown(std::string_view text, size_t limit) {
  const bool cut = text.size() > limit;
  std::string line{text.substr(0, utf8_prefix(text, limit))};
  for (char& c : line)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  return cut ? line + "…" : line;
}

}  // namespace belljar::tools
