#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "packages/tarball.h"

namespace belljar::packages {

// The files of a package by their path beneath it.
using PackageFiles = std::map<std::string, TarballFile, std::less<>>;

// What of a package is needed to find its type declarations: package.json and *.d.ts, *.d.mts,
// *.d.cts.
bool is_about_types(std::string_view path);

// The file that `import` of the package gets its types from: what `exports`, `typesVersions`,
// `types`, `typings` or `main` of package.json lead to, else index.d.ts. "" if there is none.
// Nothing that package.json says leads out of `files`. Error{denied} if package.json makes no
// sense.
std::string find_declarations(const PackageFiles& files);

// The text of that file and of the files of the package that it needs (relative imports, exports
// and references), breadth first, each below a line with its path. At most about `limit` bytes:
// then a last line says how much was left out. Valid UTF-8.
std::string collect_declarations(const PackageFiles& files, const std::string& entry, size_t limit);

}  // namespace belljar::packages
