#include <fmt/format.h>

#include "app/commands.h"
#include "app/wiring.h"
#include "base/json.h"

namespace belljar::app {

namespace {

void show_progress(std::string_view message) {
  fmt::print(stderr, "belljar: {}\n", message);
}

Task<int> install(runtime::Runtimes& runtimes, std::string version) {
  const runtime::Installed installed = co_await runtimes.install(std::move(version), show_progress);
  fmt::print("Node.js {} is installed in {}\n", to_string(installed.version), installed.prefix);
  co_return 0;
}

Task<int> remove(runtime::Runtimes& runtimes, std::string version) {
  const bool removed = co_await runtimes.remove(version);
  if (!removed)
    fail(Code::not_found, "Node.js {} is not installed; `belljar runtime list` shows what is",
         version);
  fmt::print("Node.js {} was removed\n", version);
  co_return 0;
}

}  // namespace

int runtime_list_command(const LoadedConfig& loaded, bool json) {
  packages::Registry registry{packages::Surroundings::of_this_process()};
  runtime::Runtimes runtimes{loaded.config.data_dir, registry};
  json::array list;
  for (const runtime::Installed& installed : runtimes.list()) {
    const std::string version = to_string(installed.version);
    list.push_back(json::object{{"version", version}, {"prefix", installed.prefix}});
    if (!json) fmt::print("{:<12}{}\n", version, installed.prefix);
  }
  if (json) fmt::print("{}\n", json::serialize(list));
  if (!json && list.empty()) {
    fmt::print(
        "No Node.js is installed yet. The first run installs one; `belljar runtime install lts` "
        "does it now.\n");
  }
  return 0;
}

int runtime_install_command(const LoadedConfig& loaded, const std::string& version) {
  packages::Registry registry{packages::Surroundings::of_this_process()};
  runtime::Runtimes runtimes{loaded.config.data_dir, registry};
  return run_to_end(
      [&runtimes, &version](const asio::any_io_executor&) { return install(runtimes, version); });
}

int runtime_remove_command(const LoadedConfig& loaded, const std::string& version) {
  packages::Registry registry{packages::Surroundings::of_this_process()};
  runtime::Runtimes runtimes{loaded.config.data_dir, registry};
  return run_to_end(
      [&runtimes, &version](const asio::any_io_executor&) { return remove(runtimes, version); });
}

}  // namespace belljar::app
