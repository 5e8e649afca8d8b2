#include "sandbox/capabilities.h"

#include <algorithm>

namespace belljar {

Isolation isolation_of(const std::vector<Feature>& features) {
  Isolation isolation;
  for (const Feature& feature : features) {
    if (feature.state == Feature::State::enforced) continue;
    if (feature.need == Feature::Need::convenience) continue;
    isolation.weaker.push_back(feature.name);
    const bool refused = feature.need == Feature::Need::required;
    if (refused) isolation.grade = Isolation::Grade::refused;
    if (isolation.grade == Isolation::Grade::full) isolation.grade = Isolation::Grade::reduced;
  }
  return isolation;
}

const char* name_of(Isolation::Grade grade) {
  switch (grade) {
    case Isolation::Grade::full: return "full";
    case Isolation::Grade::reduced: return "reduced";
    case Isolation::Grade::refused: break;
  }
  return "refused";
}

std::vector<Feature> find_unmet(const std::vector<Feature>& features,
                                const std::vector<std::string>& demanded) {
  std::vector<Feature> unmet;
  const auto is_demanded = [&demanded](const std::string& name) {
    return std::find(demanded.begin(), demanded.end(), name) != demanded.end();
  };
  for (const Feature& feature : features) {
    if (feature.state == Feature::State::enforced) continue;
    const bool is_needed = feature.need == Feature::Need::required || is_demanded(feature.name) ||
                           is_demanded(feature.group);
    if (is_needed) unmet.push_back(feature);
  }
  return unmet;
}

}  // namespace belljar
