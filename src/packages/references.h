#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace belljar::packages {

// The files that TypeScript declarations name beside themselves: the relative paths of
// `from './a'`, `import './a'`, `import('./a')`, `require('./a')` and
// `/// <reference path="a" />`, in their order. They are views of `text`. Comments and other
// strings are passed over; whatever the text is, this takes time in proportion to it.
std::vector<std::string_view> relative_references(std::string_view text);

// Where a relative path leads from a folder of a package: ("lib", "../a") → "a", ("", ".") → "".
// Nothing if it leads out of the package or is not a plain path.
std::optional<std::string> path_beneath(std::string_view folder, std::string_view path);

}  // namespace belljar::packages
