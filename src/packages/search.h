#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "packages/registry.h"

namespace belljar::packages {

// What to look for, in the words of npm's search. "" leaves a qualifier out.
struct SearchQuery {
  std::string term = {};
  std::string author = {};
  std::string maintainer = {};
  std::string scope = {};  // with or without its "@"
  std::string keywords = {};
  std::string exclude = {};      // npm's `not`
  std::string is = {};           // "unstable", "insecure"
  std::string boost_exact = {};  // "false": do not put the package of that very name first
};

struct FoundPackage {
  std::string name;
  std::string description;
  std::string readme;  // its first 500 characters; "" if there is none that can be had quickly
};

// At most five packages, the popular ones first. Error{invalid} names an argument that is no word;
// Error{unavailable} says so if the registry cannot search, and what to do instead.
Task<std::vector<FoundPackage>> search_packages(Registry& registry, SearchQuery query);

// The answer to a search, of which any part may be missing or wrong: its first `limit` hits,
// without readmes. Errors as search_packages().
std::vector<FoundPackage> read_hits(const RegistryAnswer& answer, size_t limit);

// The beginning of the readme in a package's document, as plain text; "" if there is none.
std::string readme_of(std::string_view document);

// Up to three packages whose names differ from `name` by a slip of the pen, all equally near. Empty
// if the registry cannot search or takes long: nothing but cancellation throws.
Task<std::vector<std::string>> near_names(Registry& registry, std::string name);

// The number of letters inserted, removed, replaced or swapped with their neighbour.
size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace belljar::packages
