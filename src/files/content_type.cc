#include "files/content_type.h"

#include <array>
#include <optional>

#include "base/utf8.h"

namespace belljar::files {

namespace {

using namespace std::string_view_literals;

struct Kind {
  std::string_view mark;
  std::string_view mime;
};

constexpr std::array kMagic{
    Kind{"\x89PNG\r\n\x1a\n"sv, "image/png"sv},
    Kind{"\xff\xd8\xff"sv, "image/jpeg"sv},
    Kind{"GIF87a"sv, "image/gif"sv},
    Kind{"GIF89a"sv, "image/gif"sv},
    Kind{"%PDF-"sv, "application/pdf"sv},
    Kind{"PK\x03\x04"sv, "application/zip"sv},
    Kind{"PK\x05\x06"sv, "application/zip"sv},
    Kind{"\x1f\x8b\x08"sv, "application/gzip"sv},
};

constexpr std::array kExtensions{
    Kind{".json"sv, "application/json"sv}, Kind{".csv"sv, "text/csv"sv},
    Kind{".md"sv, "text/markdown"sv},      Kind{".markdown"sv, "text/markdown"sv},
    Kind{".css"sv, "text/css"sv},          Kind{".tsv"sv, "text/tab-separated-values"sv},
    Kind{".yaml"sv, "application/yaml"sv}, Kind{".yml"sv, "application/yaml"sv},
};

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool ends_with_ignoring_case(std::string_view text, std::string_view lower_case) {
  if (text.size() < lower_case.size()) return false;
  text.remove_prefix(text.size() - lower_case.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (lower(text[i]) != lower_case[i]) return false;
  }
  return true;
}

std::optional<std::string_view> by_magic(std::string_view content) {
  for (const Kind& kind : kMagic) {
    if (content.starts_with(kind.mark)) return kind.mime;
  }
  if (content.starts_with("RIFF") && content.substr(0, 12).ends_with("WEBP")) return "image/webp";
  return std::nullopt;
}

// Takes a piece of markup off the front; false if it does not end.
bool skip_past(std::string_view& text, std::string_view end) {
  const size_t at = text.find(end);
  if (at == std::string_view::npos) return false;
  text.remove_prefix(at + end.size());
  return true;
}

// A document type that defines entities is how XML makes much of little: not an image for us.
bool skip_doctype(std::string_view& text) {
  constexpr std::string_view kSvg = "<!DOCTYPE svg";
  const size_t end = text.find_first_of("[>");
  if (!text.starts_with(kSvg) || end == std::string_view::npos || text[end] == '[') return false;
  text.remove_prefix(end + 1);
  return true;
}

bool is_svg(std::string_view text) {
  constexpr std::string_view kWhite = " \t\r\n";
  text = text.substr(0, 1024);
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(kWhite), text.size()));
    if (text.starts_with("<?xml ")) {
      if (!skip_past(text, "?>")) return false;
    } else if (text.starts_with("<!--")) {
      if (!skip_past(text, "-->")) return false;
    } else if (text.starts_with("<!")) {
      if (!skip_doctype(text)) return false;
    } else {
      return text.starts_with("<svg") && text.size() > 4 &&
             " \t\r\n>/"sv.find(text[4]) != std::string_view::npos;
    }
  }
}

bool is_text(std::string_view content, Part part) {
  if (part == Part::beginning) content = content.substr(0, utf8_complete(content));
  return content.find('\0') == std::string_view::npos && is_utf8(content);
}

}  // namespace

ContentType content_type(std::string_view name, std::string_view content, Part part) {
  const bool text = is_text(content, part);
  if (const auto mime = by_magic(content)) return {std::string{*mime}, text};
  if (!text) return {"application/octet-stream", false};
  if (is_svg(content)) return {"image/svg+xml", true};
  for (const Kind& kind : kExtensions) {
    if (ends_with_ignoring_case(name, kind.mark)) return {std::string{kind.mime}, true};
  }
  return {"text/plain", true};
}

}  // namespace belljar::files
