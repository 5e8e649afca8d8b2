#pragma once

#include <string>
#include <string_view>

namespace belljar::files {

// "/a b/ü" → "file:///a%20b/%C3%BC". `path` is absolute; every byte that is not unreserved in RFC
// 3986 or '/' is encoded, so any name becomes plain ASCII.
std::string to_file_uri(std::string_view path);

// The absolute path that a file URI means, byte for byte; Error{invalid} for anything that
// to_file_uri() could not mean: another scheme or host, a query, a fragment, an encoded NUL or
// slash, bytes that have to be encoded. The path is not normalised: it may contain "..".
std::string parse_file_uri(std::string_view uri);

// A name or path of any bytes for people and models, on one line: ill-formed UTF-8 becomes U+FFFD;
// control, direction-changing and invisible tag characters, line separators and '\' become escapes
// ("\n", "\u{202e}", "\\").
std::string display_name(std::string_view bytes);

}  // namespace belljar::files
