#include "packages/resolver.h"

#include <algorithm>

#include "base/error.h"
#include "packages/crawl.h"
#include "packages/ideal_tree.h"
#include "packages/kept_documents.h"
#include "packages/lock_tree.h"
#include "packages/not_sure.h"

namespace belljar::packages {
namespace {

// A tree may need a package that the crawl did not foresee; each time it is built anew.
constexpr int kMostAttempts = 20;

std::vector<DependencyEdge> edges_of(const std::vector<Dependency>& dependencies) {
  std::vector<DependencyEdge> edges;
  edges.reserve(dependencies.size());
  for (const Dependency& dependency : dependencies)
    edges.push_back(
        {dependency.name, PackageSpec::parse(dependency.name, dependency.version), EdgeType::prod});
  // npm writes package.json, and so reads it, in this order.
  std::sort(edges.begin(), edges.end(), [](const DependencyEdge& a, const DependencyEdge& b) {
    return compare_as_english(a.name, b.name) < 0;
  });
  const auto same = [](const DependencyEdge& a, const DependencyEdge& b) {
    return a.name == b.name;
  };
  if (const auto twice = std::adjacent_find(edges.begin(), edges.end(), same); twice != edges.end())
    fail(Code::invalid, "{} is among the dependencies twice", twice->name);
  return edges;
}

PickOptions options_of(const ResolveRequest& request) {
  const auto node = parse_version(request.node_version);
  const auto npm = parse_version(request.npm_version);
  if (!node || !npm)
    fail(Code::invalid, "\"{}\" is not a version of Node.js, or \"{}\" not one of npm",
         request.node_version, request.npm_version);
  // Engines accept pre-releases by rules of their own.
  if (node->is_prerelease() || npm->is_prerelease())
    be_unsure("Node.js {} is no release", request.node_version);
  return {*node, *npm, request.published_before};
}

// Nothing if a pick was missing.
std::optional<Resolution> build(const std::vector<DependencyEdge>& wants, Picks& picks,
                                const ResolveRequest& request) {
  IdealTree ideal{wants, picks};
  try {
    ideal.build();
  } catch (const NotSure&) {
    if (picks.has_missing()) return std::nullopt;
    throw;
  }
  return lock_tree(ideal, picks, request);
}

Task<Resolution> resolve_surely(const ResolveRequest& request) {
  const std::vector<DependencyEdge> wants = edges_of(request.dependencies);
  PickOptions options = options_of(request);
  Picks picks;
  Crawl crawl{request.documents, std::move(options), picks};
  co_await crawl.follow(wants);
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    auto work = [&wants, &picks, &request] { return build(wants, picks, request); };
    std::optional<Resolution> built = co_await run_blocking(std::move(work));
    if (built) co_return std::move(*built);
    std::vector<DependencyEdge> missing = picks.take_missing();
    co_await crawl.follow(std::move(missing));
  }
  be_unsure("too much of the tree could not be foreseen");
}

// Abbreviated documents do not say which libc a package is for, without which both variants of
// every native package would be installed. Those packages have such names.
bool may_depend_on_libc(const std::string& name) {
  return name.find("linux") != name.npos || name.find("musl") != name.npos;
}

std::shared_ptr<const Document> parse_body(const std::string& name, std::string& body) {
  return Document::parse(name, std::move(body));
}

}  // namespace

Task<std::shared_ptr<const Document>> get_document(KeptDocuments& kept,
                                                   net::ConnectionPool& connections,
                                                   DocumentDetail detail, std::string name) {
  if (may_depend_on_libc(name)) detail = DocumentDetail::full;
  std::string body = co_await kept.get(name, detail, &connections);
  auto parse = [&name, &body] { return parse_body(name, body); };
  co_return co_await run_blocking(std::move(parse));
}

Task<Resolution> resolve(ResolveRequest request) {
  Resolution unsure;
  try {
    co_return co_await resolve_surely(request);
  } catch (const NotSure& reason) {
    unsure.not_sure = reason.what();
  }
  co_return unsure;
}

}  // namespace belljar::packages
