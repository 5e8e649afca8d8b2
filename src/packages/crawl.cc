#include "packages/crawl.h"

#include <fmt/chrono.h>

#include <set>

#include "packages/not_sure.h"
#include "packages/parallel.h"

namespace belljar::packages {
namespace {

constexpr size_t kMostDocuments = 5'000;
constexpr size_t kMostBytes = 512u << 20;
constexpr size_t kMostBytesRead = 512u << 20;  // a range may make us read a whole document
constexpr size_t kMostLevels = 100;
constexpr size_t kAtOnce = 24;

using Pairs = std::vector<std::pair<std::shared_ptr<const Document>, PackageSpec>>;

std::vector<Picked> pick_each(const Pairs& pairs, const PickOptions& options, size_t& read) {
  std::vector<Picked> result;
  result.reserve(pairs.size());
  for (const auto& [document, spec] : pairs) {
    if (read > kMostBytesRead) be_unsure("too many versions of its dependencies are unfit");
    result.push_back(pick(*document, spec, options));
    read += result.back().bytes;
  }
  return result;
}

}  // namespace

Crawl::Crawl(DocumentSource documents, PickOptions options, Picks& picks)
    : source_{std::move(documents)}, options_{std::move(options)}, picks_{picks} {}

Task<> Crawl::follow(std::vector<DependencyEdge> edges) {
  std::vector<Wanted> level;
  level.reserve(edges.size());
  for (DependencyEdge& edge : edges) level.push_back({std::move(edge.spec), true});
  for (size_t levels = 0; !level.empty(); ++levels) {
    if (levels == kMostLevels) be_unsure("dependencies depend on dependencies too often");
    level = co_await follow_level(std::move(level));
  }
}

Task<std::vector<Crawl::Wanted>> Crawl::follow_level(std::vector<Wanted> level) {
  std::set<std::string> names, keys;
  std::vector<PackageSpec> specs;
  for (const Wanted& wanted : level) {
    if (wanted.spec.kind == PackageSpec::Kind::other || picks_.find(wanted.spec)) continue;
    if (!keys.insert(Picks::key(wanted.spec)).second) continue;
    specs.push_back(wanted.spec);
    if (!known_.contains(wanted.spec.name)) names.insert(wanted.spec.name);
  }
  std::vector<std::string> to_fetch(names.begin(), names.end());
  co_await fetch(std::move(to_fetch));
  co_await pick_all(std::move(specs));
  std::vector<Wanted> next;
  for (const Wanted& wanted : level) {
    Picks::Pick* pick = picks_.find(wanted.spec);
    if (pick == nullptr || pick->manifest == nullptr) continue;
    if (pick->followed >= (wanted.with_dependencies ? 2 : 1)) continue;
    pick->followed = wanted.with_dependencies ? 2 : 1;
    for (const DependencyEdge& edge : pick->manifest->edges) {
      // A peer that is optional is looked at, with its peers, but not installed for its own sake.
      if (is_peer(edge.type) || wanted.with_dependencies)
        next.push_back(
            {edge.spec, wanted.with_dependencies && edge.type != EdgeType::peer_optional});
    }
  }
  co_return next;
}

Task<> Crawl::fetch(std::vector<std::string> names) {
  if (known_.size() + names.size() > kMostDocuments) be_unsure("there are too many packages");
  for (const std::string& name : names) known_[name];
  std::function<Task<>(size_t)> work = [this, &names](size_t i) { return fetch_one(names[i]); };
  co_await in_parallel(names.size(), std::move(work), kAtOnce);
}

Task<> Crawl::fetch_one(const std::string& name) {
  Known& known = known_[name];
  try {
    known.document = co_await source_(name);
    bytes_ += known.document->size();
  } catch (const Error& error) {
    if (error.code() != Code::not_found && error.code() != Code::denied) throw;
    known.problem = error.what();
    known.code = error.code();
  }
  if (bytes_ > kMostBytes) be_unsure("what the registry says of its dependencies is too much");
}

Task<> Crawl::pick_all(std::vector<PackageSpec> specs) {
  Pairs pairs;
  for (PackageSpec& spec : specs) {
    const Known& known = known_[spec.name];
    if (known.document != nullptr) {
      pairs.emplace_back(known.document, std::move(spec));
      continue;
    }
    Picks::Pick failed;
    failed.problem = known.problem;
    failed.code = known.code;
    picks_.add(spec, std::move(failed));
  }
  if (pairs.empty()) co_return;
  auto work = [&pairs, this] { return pick_each(pairs, options_, bytes_read_); };
  std::vector<Picked> picked = co_await run_blocking(std::move(work));
  for (size_t i = 0; i < pairs.size(); ++i)
    picks_.add(pairs[i].second, judge(pairs[i].second, std::move(picked[i])));
}

Picks::Pick Crawl::judge(const PackageSpec& spec, Picked picked) const {
  Picks::Pick pick;
  pick.manifest = std::move(picked.manifest);
  pick.unsure = std::move(picked.unsure);
  if (pick.manifest == nullptr && pick.unsure.empty())
    pick.problem = no_version_message(*known_.find(spec.name)->second.document, spec);
  return pick;
}

std::string Crawl::no_version_message(const Document& document, const PackageSpec& spec) const {
  if (document.releases().empty())
    return fmt::format("the registry has no version of {} any more", spec.name);
  PickOptions any_time = options_;
  any_time.before.reset();
  std::string text = fmt::format("no version of {} fits \"{}\"", spec.name, spec.text);
  const Picked later = options_.before ? pick(document, spec, any_time) : Picked{};
  if (later.manifest != nullptr)
    return text + fmt::format(" that is old enough: {} was published later than {:%Y-%m-%d %H:%M}",
                              later.manifest->version_text,
                              fmt::gmtime(Document::Time::clock::to_time_t(*options_.before)));
  const Document::Release* newest = document.tagged("latest");
  if (newest == nullptr) newest = &document.releases().back();
  return text + fmt::format("; the newest is {}", to_string(newest->version));
}

}  // namespace belljar::packages
