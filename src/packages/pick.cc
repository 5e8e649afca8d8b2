#include "packages/pick.h"

namespace belljar::packages {
namespace {

using Release = Document::Release;

bool accepts(const std::string& range, const Version& version) {
  if (range.empty()) return true;
  const auto parsed = Range::parse(range);
  return parsed && parsed->accepts(version);
}

class Picking {
 public:
  Picking(const Document& document, const PickOptions& options)
      : document_{document}, options_{options} {}

  Picked exact(const Release* release) const {
    if (release == nullptr || !is_old_enough(*release)) return {};
    return {read(*release), "", release->text.size()};
  }

  Picked in_range(const PackageSpec& spec) const {
    const Release* latest = document_.tagged("latest");
    if (latest != nullptr && spec.accepts(latest->version) && is_old_enough(*latest)) {
      auto manifest = read(*latest);
      if (grade(*manifest) == kBest) return {std::move(manifest), "", latest->text.size()};
    }
    // Not even "*" finds a pre-release, unless it is the latest version.
    const auto fits = [&spec](const Version& version) { return spec.range->accepts(version); };
    return best_of(fits);
  }

  Picked at_most(const Version& highest) const {
    const auto fits = [&highest](const Version& version) {
      if (version.is_prerelease() && !(highest.is_prerelease() && version.same_triple(highest)))
        return false;
      return version <= highest;
    };
    return best_of(fits);
  }

 private:
  static constexpr int kBest = 3;

  std::shared_ptr<const Manifest> read(const Release& release) const {
    return make_manifest(document_.name(), release.version, release.text);
  }

  bool is_old_enough(const Release& release) const {
    if (!options_.before) return true;
    const auto time = document_.published(release.version);
    return !time || *time <= *options_.before;
  }

  // The higher the better; among equals the higher version counts.
  int grade(const Manifest& manifest) const {
    const bool runs = engines_accept(manifest, options_.node, options_.npm);
    if (runs) return manifest.deprecated ? 2 : kBest;
    return manifest.deprecated ? 0 : 1;
  }

  template <class Fits>
  Picked best_of(const Fits& fits) const {
    std::shared_ptr<const Manifest> best;
    int best_grade = -1;
    size_t bytes = 0;
    const auto& releases = document_.releases();
    for (auto release = releases.rbegin(); release != releases.rend(); ++release) {
      if (!fits(release->version) || !is_old_enough(*release)) continue;
      auto manifest = read(*release);
      bytes += release->text.size();
      const int its_grade = grade(*manifest);
      if (its_grade <= best_grade) continue;
      best_grade = its_grade;
      best = std::move(manifest);
      if (best_grade == kBest) break;
    }
    return {std::move(best), "", bytes};
  }

  const Document& document_;
  const PickOptions& options_;
};

}  // namespace

bool engines_accept(const Manifest& manifest, const Version& node, const Version& npm) {
  return accepts(manifest.node_range, node) && accepts(manifest.npm_range, npm);
}

Picked pick(const Document& document, const PackageSpec& spec, const PickOptions& options) {
  if (options.before && !document.has_times() && !document.releases().empty())
    return {nullptr, "the registry does not say when versions of it were published", 0};
  const Picking picking{document, options};
  switch (spec.kind) {
    case PackageSpec::Kind::version: return picking.exact(document.find(*spec.version));
    case PackageSpec::Kind::tag: {
      const Release* tagged = document.tagged(spec.text);
      Picked picked = picking.exact(tagged);
      if (picked.manifest != nullptr || tagged == nullptr) return picked;
      if (!document.strange().empty()) return {nullptr, document.strange(), 0};
      return picking.at_most(tagged->version);
    }
    case PackageSpec::Kind::range:
      if (!document.strange().empty()) return {nullptr, document.strange(), 0};
      if (document.has_loose_prereleases() && spec.text.find('-') != std::string::npos)
        return {nullptr, "it has versions that only npm can read", 0};
      return picking.in_range(spec);
    case PackageSpec::Kind::other: break;
  }
  return {nullptr, "\"" + spec.text + "\" is nothing that only a registry can answer", 0};
}

}  // namespace belljar::packages
