#include "packages/search.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "base/error.h"
#include "base/json.h"
#include "base/task_group.h"
#include "base/utf8.h"
#include "packages/parallel.h"

namespace belljar::packages {
namespace {

using std::chrono::seconds;

constexpr size_t kMaxFound = 5;
constexpr size_t kReadmeCharacters = 500;
constexpr size_t kLongestWord = 256;
constexpr uint64_t kLargestAnswer = 4u << 20;
constexpr uint64_t kLargestDocument = 16u << 20;  // with all versions and the readme
constexpr seconds kSearchTime{20};
constexpr seconds kReadmeTime{8};
constexpr seconds kNearTime{4};
constexpr size_t kMaxNear = 3;

std::string percent_encoded(std::string_view text) {
  std::string result;
  for (const unsigned char c : text) {
    const bool plain = c < 0x80 && (std::isalnum(c) || c == '-' || c == '.' || c == '_');
    result += plain ? std::string(1, static_cast<char>(c)) : fmt::format("%{:02X}", c);
  }
  return result;
}

// A space would begin another word, and with it perhaps another qualifier.
void check_word(std::string_view argument, std::string_view word) {
  const bool fits = word.size() <= kLongestWord &&
                    std::none_of(word.begin(), word.end(),
                                 [](unsigned char c) { return c <= 0x20 || c == 0x7f; });
  if (!fits)
    fail(Code::invalid,
         "argument \"{}\" is {}; it must be one word of at most {} bytes without spaces or control "
         "characters",
         argument, json::serialize(json::value(to_utf8(word.substr(0, utf8_prefix(word, 60))))),
         kLongestWord);
}

std::string search_text(const SearchQuery& query) {
  const std::string_view scope = query.scope.starts_with('@')
                                     ? std::string_view{query.scope}.substr(1)
                                     : std::string_view{query.scope};
  const struct {
    std::string_view argument;
    std::string_view name;
    std::string_view value;
  } qualifiers[] = {
      {"qualifiers.author", "author", query.author},
      {"qualifiers.maintainer", "maintainer", query.maintainer},
      {"qualifiers.scope", "scope", scope},
      {"qualifiers.keywords", "keywords", query.keywords},
      {"qualifiers.not", "not", query.exclude},
      {"qualifiers.is", "is", query.is},
      {"qualifiers.boostExact", "boost-exact", query.boost_exact},
  };
  check_word("searchTerm", query.term);
  std::string text = query.term;
  for (const auto& [argument, name, value] : qualifiers) {
    check_word(argument, value);
    if (!value.empty()) text += fmt::format(" {}:{}", name, value);
  }
  return text;
}

[[noreturn]] void fail_without_search(const RegistryAnswer& answer) {
  fail(Code::unavailable,
       "the npm registry {} cannot search: it answers a search with {}. Name packages directly "
       "instead: get_dependency_types tells whether one exists. The operator can set a registry "
       "that can search in npm's configuration (registry in ~/.npmrc)",
       answer.host,
       answer.status == 200 ? "something else than a list of packages"
                            : fmt::format("status {}", answer.status));
}

Task<std::vector<FoundPackage>> ask_search(Registry& registry, std::string package,
                                           std::string text, size_t limit) {
  const std::string path =
      fmt::format("-/v1/search?text={}&size={}&popularity=1.0&quality=0.0&maintenance=0.0",
                  percent_encoded(text), limit);
  const RegistryAnswer answer =
      co_await registry.ask(std::move(package), path, "application/json", kLargestAnswer);
  co_return read_hits(answer, limit);
}

// The beginning of a readme as plain text: no control characters but line breaks and tabs.
std::string beginning_of(std::string_view readme) {
  if (readme.starts_with("ERROR: No README")) return "";  // npm's own words for none
  std::string result;
  size_t characters = 0;
  for (const char c : to_utf8(readme.substr(0, utf8_prefix(readme, 4 * kReadmeCharacters)))) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7f) continue;
    if ((byte & 0xc0) != 0x80 && ++characters > kReadmeCharacters) break;
    result += c;
  }
  return result;
}

Task<std::string> fetch_readme(Registry& registry, std::string package) {
  RegistryAnswer answer = co_await registry.ask(package, Registry::path_of(package),
                                                "application/json", kLargestDocument);
  if (answer.status != 200) co_return "";
  auto read = [body = std::move(answer.body)] { return readme_of(body); };
  co_return co_await run_blocking(std::move(read));
}

Task<> add_readme(Registry& registry, FoundPackage& found) {
  try {
    const auto readme = co_await with_timeout(kReadmeTime, fetch_readme(registry, found.name));
    if (readme) found.readme = *readme;
  } catch (const Error&) {
    found.readme.clear();  // it is an extra: the hit stands without it
  }
}

// The parts of a name of which at least one is right if it has two slips at most.
std::vector<std::string> parts_of(const std::string& name) {
  const size_t slash = name.find('/');
  const std::string own = slash == std::string::npos ? name : name.substr(slash + 1);
  std::vector<std::string> parts{own};
  const size_t third = own.size() / 3;
  if (third < 2) return parts;
  parts.push_back(own.substr(0, third));
  parts.push_back(own.substr(third, third));
  parts.push_back(own.substr(2 * third));
  return parts;
}

using Distances = std::map<std::string, size_t>;

Task<> add_near(Registry& registry, std::string name, std::string part, Distances& near) {
  constexpr size_t kLooked = 50;
  const size_t farthest = name.size() < 5 ? 1 : 2;
  const auto hits = co_await ask_search(registry, name, part, kLooked);
  for (const FoundPackage& hit : hits)
    if (const size_t far = edit_distance(name, hit.name); far > 0 && far <= farthest)
      near.emplace(hit.name, far);
}

Task<> add_all_near(Registry& registry, std::string name, Distances& near) {
  const std::vector<std::string> parts = parts_of(name);
  std::function<Task<>(size_t)> work = [&registry, &name, &parts, &near](size_t i) {
    return add_near(registry, name, parts[i], near);
  };
  co_await in_parallel(parts.size(), std::move(work));
}

}  // namespace

std::vector<FoundPackage> read_hits(const RegistryAnswer& answer, size_t limit) {
  if (answer.status == 401 || answer.status == 403)
    fail(Code::denied,
         "the npm registry {} refuses to search (status {}): check the credentials in ~/.npmrc",
         answer.host, answer.status);
  boost::system::error_code error;
  const json::value value =
      answer.status == 200 ? json::parse(answer.body, error) : json::value(nullptr);
  const json::object* root = error ? nullptr : value.if_object();
  const json::value* objects = root != nullptr ? find(*root, "objects") : nullptr;
  if (objects == nullptr || !objects->is_array()) fail_without_search(answer);
  std::vector<FoundPackage> found;
  for (const json::value& object : objects->get_array()) {
    const json::object* package =
        object.is_object() ? find_object(object.get_object(), "package") : nullptr;
    const json::string* name = package != nullptr ? find_string(*package, "name") : nullptr;
    if (name == nullptr || !is_package_name(*name)) continue;
    const json::string* description = find_string(*package, "description");
    FoundPackage hit;
    hit.name = std::string{*name};
    if (description != nullptr)
      hit.description = to_utf8(description->subview(0, utf8_prefix(*description, 1000)));
    found.push_back(std::move(hit));
    if (found.size() == limit) break;
  }
  return found;
}

std::string readme_of(std::string_view document) {
  boost::system::error_code error;
  const json::value value = json::parse(document, error);
  const json::object* root = error ? nullptr : value.if_object();
  const json::string* readme = root != nullptr ? find_string(*root, "readme") : nullptr;
  return readme != nullptr ? beginning_of(*readme) : "";
}

Task<std::vector<FoundPackage>> search_packages(Registry& registry, SearchQuery query) {
  const std::string text = search_text(query);
  // A scope may have a registry of its own.
  std::string package;
  if (!query.scope.empty())
    package = (query.scope.starts_with('@') ? "" : "@") + query.scope + "/any";
  auto found = co_await with_timeout(kSearchTime, ask_search(registry, package, text, kMaxFound));
  if (!found)
    fail(Code::unavailable, "the npm registry has not answered the search within {} s",
         kSearchTime.count());
  std::function<Task<>(size_t)> work = [&registry, &found](size_t i) {
    return add_readme(registry, (*found)[i]);
  };
  co_await in_parallel(found->size(), std::move(work));
  co_return std::move(*found);
}

Task<std::vector<std::string>> near_names(Registry& registry, std::string name) {
  Distances near;
  try {
    co_await with_timeout(kNearTime, add_all_near(registry, name, near));
  } catch (const std::exception&) {
    if (is_cancellation(std::current_exception())) throw;
  }
  std::vector<std::string> names;
  // Only the nearest: a name that is farther off may be a bait for another slip.
  for (size_t distance = 1; distance <= 2 && names.empty(); ++distance)
    for (const auto& [candidate, far] : near)
      if (far == distance && names.size() < kMaxNear) names.push_back(candidate);
  co_return names;
}

size_t edit_distance(std::string_view a, std::string_view b) {
  // Row i holds the distances of the first i letters of `a` to the beginnings of `b`.
  std::vector<std::vector<size_t>> rows(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        rows[i][j] = i + j;
        continue;
      }
      const size_t replaced = rows[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      rows[i][j] = std::min({replaced, rows[i - 1][j] + 1, rows[i][j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        rows[i][j] = std::min(rows[i][j], rows[i - 2][j - 2] + 1);
    }
  }
  return rows[a.size()][b.size()];
}

}  // namespace belljar::packages
