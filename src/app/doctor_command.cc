#include <fmt/format.h>

#include "app/commands.h"
#include "app/wiring.h"
#include "base/json.h"

namespace belljar::app {

namespace {

const char* word(Feature::State state) {
  switch (state) {
    case Feature::State::enforced: return "ok";
    case Feature::State::degraded: return "degraded";
    case Feature::State::missing: return "missing";
  }
  return "";
}

bool is_usable(const Capabilities& capabilities) {
  for (const Feature& feature : capabilities.features) {
    if (feature.required && feature.state == Feature::State::missing) return false;
  }
  return true;
}

void print_table(const Capabilities& capabilities) {
  fmt::print("Driver: {}\n\n", capabilities.driver);
  for (const Feature& feature : capabilities.features) {
    fmt::print("  {:<10}{:<10}{}\n", feature.name, word(feature.state), feature.detail);
    if (!feature.fix.empty()) fmt::print("  {:<20}fix: {}\n", "", feature.fix);
  }
  fmt::print("\n{}\n",
             is_usable(capabilities)
                 ? "Sandboxes work on this host."
                 : "Sandboxes do not work on this host: belljar refuses to run programs.");
}

void print_json(const Capabilities& capabilities) {
  json::array features;
  for (const Feature& feature : capabilities.features) {
    features.push_back(json::object{{"name", feature.name},
                                    {"state", word(feature.state)},
                                    {"required", feature.required},
                                    {"detail", feature.detail},
                                    {"fix", feature.fix}});
  }
  const json::object report{
      {"driver", capabilities.driver}, {"usable", is_usable(capabilities)}, {"features", features}};
  fmt::print("{}\n", json::serialize(report));
}

Task<int> examine(asio::any_io_executor executor, const Config& config, bool json,
                  Foundation foundation) {
  Wiring wiring{executor, config, std::move(foundation)};
  const Capabilities capabilities = co_await wiring.driver().probe();
  json ? print_json(capabilities) : print_table(capabilities);
  co_await wiring.shut_down();
  co_return is_usable(capabilities) ? 0 : 1;
}

}  // namespace

int doctor_command(const LoadedConfig& loaded, bool json) {
  // What is missing is part of the answer, so nothing may fail before.
  auto foundation = lay_bare_foundation(loaded.config);
  return run_to_end([&loaded, json, &foundation](const asio::any_io_executor& executor) {
    return examine(executor, loaded.config, json, std::move(foundation));
  });
}

}  // namespace belljar::app
