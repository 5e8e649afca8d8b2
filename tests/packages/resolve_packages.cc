// resolve_packages NODE_VERSION NPM_VERSION NAME@RANGE…: what the resolver makes of dependencies,
// as JSON: {"packages": {path: entry}} or {"not_sure"} or {"error"}; and how long it took, with the
// documents fetched ("cold") and again with them in memory ("warm"). For compare_with_npm.mjs.
#include <chrono>
#include <iostream>
#include <map>

#include "base/testing.h"
#include "net/connection_pool.h"
#include "packages/kept_documents.h"
#include "packages/resolver.h"

namespace belljar::packages {
namespace {

using Stopwatch = std::chrono::steady_clock;

class Remembered {
 public:
  explicit Remembered(DocumentSource source) : source_{std::move(source)} {}

  Task<std::shared_ptr<const Document>> get(const std::string& name) {
    Settled<std::shared_ptr<const Document>>& known = documents_[name];
    if (!known.error && !known.value) {
      known = co_await settle(source_(name));
      if (known.value) bytes_ += (*known.value)->size();
    }
    if (known.error) std::rethrow_exception(known.error);
    co_return *known.value;
  }
  size_t count() const { return documents_.size(); }
  size_t bytes() const { return bytes_; }

 private:
  DocumentSource source_;
  std::map<std::string, Settled<std::shared_ptr<const Document>>> documents_;
  size_t bytes_ = 0;
};

double milliseconds_since(Stopwatch::time_point start) {
  return std::chrono::duration<double, std::milli>(Stopwatch::now() - start).count();
}

Task<json::object> resolve_twice(ResolveRequest request) {
  json::object result;
  Registry registry{Surroundings::of_this_process()};
  net::ConnectionPool connections;
  const SystemClock clock;
  KeptDocuments fetched{registry, clock, "/dev/null", KeptDocuments::Rules{}};  // kept nowhere
  Remembered documents{[&fetched, &connections](const std::string& name) {
    return get_document(fetched, connections, DocumentDetail::abbreviated, name);
  }};
  request.documents = [&documents](const std::string& name) { return documents.get(name); };
  Resolution resolution;
  try {
    for (const char* which : {"cold", "warm"}) {
      const Stopwatch::time_point start = Stopwatch::now();
      ResolveRequest copy = request;
      resolution = co_await resolve(std::move(copy));
      result[which] = milliseconds_since(start);
    }
  } catch (const Error& error) {
    result["error"] = error.what();
  }
  result["documents"] = documents.count();
  result["bytes"] = documents.bytes();
  if (!resolution.not_sure.empty()) result["not_sure"] = resolution.not_sure;
  if (resolution.lockfile) {
    json::object packages;
    for (const LockedPackage& locked : resolution.lockfile->packages)
      packages[locked.path] = locked.entry;
    result["packages"] = std::move(packages);
  }
  json::array warnings;
  for (const std::string& warning : resolution.warnings) warnings.emplace_back(warning);
  result["warnings"] = std::move(warnings);
  co_return result;
}

int main_of(int count, char** words) {
  if (count < 4) {
    std::cerr << "usage: resolve_packages NODE_VERSION NPM_VERSION NAME@RANGE…\n";
    return 2;
  }
  ResolveRequest request;
  request.node_version = words[1];
  request.npm_version = words[2];
  request.platform = Platform::of_this_machine();
  for (int i = 3; i < count; ++i) {
    const std::string word = words[i];
    const size_t at = word.find('@', 1);
    request.dependencies.push_back({word.substr(0, at), word.substr(at + 1)});
  }
  std::cout << json::serialize(run(resolve_twice(std::move(request)))) << "\n";
  return 0;
}

}  // namespace
}  // namespace belljar::packages

int main(int count, char** words) {
  return belljar::packages::main_of(count, words);
}
