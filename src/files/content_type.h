#pragma once

#include <string>
#include <string_view>

namespace belljar::files {

struct ContentType {
  std::string mime;
  bool is_text = false;  // well-formed UTF-8 without NUL

  bool is_image() const { return mime.starts_with("image/"); }
};

enum class Part { whole, beginning };

// What a file is, by its first bytes; its name only tells kinds of text apart. Nothing is decoded.
// `content` may be only the file's beginning. Known are PNG, JPEG, GIF, WebP, SVG, PDF, ZIP and
// gzip; text is text/plain or one of a few types that no browser runs (JSON, CSV, Markdown, CSS,
// …), so HTML, XML and scripts are text/plain; everything else is application/octet-stream.
ContentType content_type(std::string_view name, std::string_view content, Part part);

}  // namespace belljar::files
