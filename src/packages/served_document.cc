#include "packages/served_document.h"

#include <fmt/format.h>

namespace belljar::packages {
namespace {

std::string encode(const std::string& package) {
  const size_t slash = package.find('/');
  return slash == std::string::npos ? package
                                    : package.substr(0, slash) + "%2f" + package.substr(slash + 1);
}

json::object* find_dist(json::value& version) {
  json::object* object = version.if_object();
  json::value* dist = object != nullptr ? object->if_contains("dist") : nullptr;
  return dist != nullptr ? dist->if_object() : nullptr;
}

}  // namespace

ServedDocument serve_document(const std::string& package, std::string_view body,
                              const std::string& base) {
  boost::system::error_code error;
  json::value value = json::parse(body, error);
  ServedDocument result;
  result.document = parse_document(package, value);  // throws if it is no document
  json::object& versions = value.as_object().at("versions").as_object();
  json::object served;
  for (auto& entry : versions) {
    const PackageVersion* version = result.document.find(entry.key());
    // One version may stand there twice, as "1.0.0" and "v1.0.0", and only one of them be proper.
    json::object* dist = find_dist(entry.value());
    if (version == nullptr || dist == nullptr) continue;
    (*dist)["tarball"] = fmt::format("{}{}/{}{}", base, encode(package),
                                     to_string(version->version), kTarballSuffix);
    served.emplace(entry.key(), std::move(entry.value()));
  }
  versions = std::move(served);
  result.body = json::serialize(value);
  return result;
}

}  // namespace belljar::packages
