// What a registry sends, one text in every role it may have: the document of a package, the answer
// to a search, a package.json with its declaration files.
#include <algorithm>

#include "base/json.h"
#include "base/utf8.h"
#include "fuzz.h"
#include "packages/declarations.h"
#include "packages/document.h"
#include "packages/manifest.h"
#include "packages/pick.h"
#include "packages/references.h"
#include "packages/search.h"
#include "packages/served_document.h"

namespace belljar::packages {
namespace {

using fuzz::expect;

void check_document(std::string_view body) {
  const PackageDocument document = parse_document("fuzzed", body);
  const auto& versions = document.versions;
  expect(std::is_sorted(versions.begin(), versions.end(),
                        [](const auto& a, const auto& b) { return a.version < b.version; }),
         "versions ascend");
  std::vector<std::string> specs{"latest", "*", "^1.0.0", ">=1 <3 || 0.x"};
  for (const auto& [tag, version] : document.tags) specs.insert(specs.end(), {tag, version});
  for (const PackageVersion& one : versions) {
    specs.insert(specs.end(), {to_string(one.version), one.node_range});
    expect(parse_version(to_string(one.version)) == one.version, "a version can be read again");
  }
  for (const std::string& spec : specs) {
    const PackageVersion* chosen = document.select(spec);
    const auto range = Range::parse(spec);
    if (chosen != nullptr && !document.tags.contains(spec) && range)
      expect(range->accepts(chosen->version), "what is chosen fits");
  }
}

// The same text as the resolver reads it: only what it looks at.
void check_lazily(std::string_view body) {
  const auto document = Document::parse("fuzzed", std::string{body});
  for (const Document::Release& release : document->releases()) {
    const auto manifest = make_manifest("fuzzed", release.version, release.text);
    expect(manifest != nullptr && manifest->version == release.version, "a release can be read");
  }
  const PickOptions options{Version{22, 0, 0, {}}, Version{11, 0, 0, {}}, std::nullopt};
  for (const char* text : {"latest", "*", "^1.0.0", ">=1 <3 || 0.x"}) {
    const Picked picked = pick(*document, PackageSpec::parse("fuzzed", text), options);
    expect(picked.manifest == nullptr || picked.unsure.empty(), "what is picked is certain");
  }
}

void check_served(std::string_view body) {
  const std::string base = "http://127.0.0.1:9/-/tarball/";
  const ServedDocument served = serve_document("@fuzzed/name", body, base);
  const json::value read = json::parse(served.body);
  for (const auto& [name, version] : read.at("versions").as_object()) {
    const json::string& tarball = version.at("dist").at("tarball").as_string();
    expect(tarball.starts_with(base), "every tarball of a served document is the proxy's");
    expect(served.document.find(name) != nullptr, "every served version is known");
  }
}

void check_search(std::string_view body) {
  const RegistryAnswer answer{200, "registry", std::string{body}};
  expect(is_utf8(readme_of(answer.body)), "a readme is UTF-8");
  const auto hits = read_hits(answer, 5);
  expect(hits.size() <= 5, "no more hits than asked for");
  for (const FoundPackage& hit : hits) {
    expect(is_package_name(hit.name), "a hit has a package's name");
    expect(is_utf8(hit.description), "a description is UTF-8");
    expect(edit_distance(hit.name, "lodash") <= std::max<size_t>(hit.name.size(), 6),
           "names differ by no more letters than they have");
  }
}

// The members of "files" are the files of the package; the whole text is its package.json.
void check_declarations(std::string_view body) {
  boost::system::error_code error;
  const json::value manifest = json::parse(body, error);
  PackageFiles files;
  files["package.json"] = TarballFile{std::string{body}, body.size()};
  const json::object* root = manifest.if_object();
  const json::object* texts = root != nullptr ? find_object(*root, "files") : nullptr;
  if (texts != nullptr)
    for (const auto& [path, text] : *texts)
      if (text.is_string() && is_about_types(path))
        files.emplace(path, TarballFile{std::string{text.get_string()}, text.get_string().size()});
  const std::string entry = find_declarations(files);
  if (entry.empty()) return;
  expect(files.contains(entry), "declarations stand in a file of the package");
  const std::string text = collect_declarations(files, entry, 512);
  expect(is_utf8(text), "declarations are UTF-8");
  expect(text.size() < 512 + 2048, "declarations keep their limit");
}

void check_references(std::string_view text) {
  for (const std::string_view reference : relative_references(text)) {
    const auto path = path_beneath("a/b", reference);
    expect(!path || ("/" + *path + "/").find("/../") == std::string::npos,
           "a path stays in its package");
  }
}

}  // namespace
}  // namespace belljar::packages

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace belljar::packages;
  const std::string_view body = belljar::fuzz::text_of(data, size);
  for (const auto check : {check_document, check_lazily, check_served, check_search,
                           check_declarations, check_references})
    belljar::fuzz::may_refuse([check, body] { check(body); });
  return 0;
}
