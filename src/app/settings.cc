#include <cmath>
#include <cstdint>

#include "app/config.h"
#include "app/setting_kinds.h"
#include "base/posix.h"

namespace belljar::app {

std::vector<Setting> docker_settings();  // docker_settings.cc
std::vector<Setting> serve_settings();   // serve_settings.cc

namespace {

std::string default_data_dir() {
  const std::string data_home = environment("XDG_DATA_HOME");
  if (!data_home.empty()) return data_home + "/belljar";
  const std::string home = environment("HOME");
  return home.empty() ? "/var/lib/belljar" : home + "/.local/share/belljar";
}

std::vector<Setting> make_settings() {
  using Variables = std::vector<std::string>;
  constexpr int64_t kHour = 3'600'000;
  std::vector<Setting> list;
  list.push_back(text("image", Variables{"BELLJAR_IMAGE"},
                      "a name such as node:lts-slim or node:24",
                      "the Node.js that runs programs when a call names none",
                      [](Config& c) -> std::string& { return c.tools.default_image; }));
  list.push_back(bytes("memory", Variables{"SANDBOX_MEMORY_LIMIT"}, "memory of one sandbox",
                       kLowestLimits.memory,
                       [](Config& c) -> uint64_t& { return c.tools.default_limits.memory; }));
  list.push_back(cpus("cpus", Variables{"SANDBOX_CPU_LIMIT"}, "processors of one sandbox",
                      [](Config& c) -> double& { return c.tools.default_limits.cpus; }));
  list.push_back(count(
      "pids", Variables{"BELLJAR_PIDS"}, "processes and threads of one sandbox", kLowestLimits.pids,
      kHighestLimits.pids, "", [](const Config& c) { return int64_t{c.tools.default_limits.pids}; },
      [](Config& c, int64_t v) { c.tools.default_limits.pids = static_cast<uint32_t>(v); }));
  list.push_back(bytes("disk", Variables{"BELLJAR_DISK"},
                       "what one sandbox may write, kept in memory", kLowestLimits.disk,
                       [](Config& c) -> uint64_t& { return c.tools.default_limits.disk; }));
  list.push_back(image_limits());
  list.push_back(policy("network", Variables{"BELLJAR_NETWORK"},
                        "what programs may reach when a call does not say less",
                        &tools::Settings::network));
  list.push_back(policy("max-network", Variables{"BELLJAR_MAX_NETWORK"},
                        "the most that a call may ask to reach; without it, what `network` says",
                        &tools::Settings::max_network));
  list.push_back(address("publish-address", Variables{"BELLJAR_PUBLISH_ADDRESS"},
                         "the host's address at which ports of sandboxes are published; others "
                         "than this host's own programs may reach any but a loopback address",
                         &tools::Settings::publish_address));
  list.push_back(bytes("max-memory", Variables{"BELLJAR_MAX_MEMORY"},
                       "the most memory a call may ask for", kLowestLimits.memory,
                       [](Config& c) -> uint64_t& { return c.tools.max_limits.memory; }));
  list.push_back(cpus("max-cpus", Variables{"BELLJAR_MAX_CPUS"},
                      "the most processors a call may ask for",
                      [](Config& c) -> double& { return c.tools.max_limits.cpus; }));
  list.push_back(count(
      "max-pids", Variables{"BELLJAR_MAX_PIDS"}, "the most processes a call may ask for",
      kLowestLimits.pids, kHighestLimits.pids, "",
      [](const Config& c) { return int64_t{c.tools.max_limits.pids}; },
      [](Config& c, int64_t v) { c.tools.max_limits.pids = static_cast<uint32_t>(v); }));
  list.push_back(bytes("max-disk", Variables{"BELLJAR_MAX_DISK"},
                       "the most disk a call may ask for", kLowestLimits.disk,
                       [](Config& c) -> uint64_t& { return c.tools.max_limits.disk; }));
  list.push_back(count(
      "run-timeout", Variables{"RUN_SCRIPT_TIMEOUT"}, "time of one run when a call sets none", 1,
      kHour, " of milliseconds", [](const Config& c) { return c.tools.run_timeout.count(); },
      [](Config& c, int64_t v) { c.tools.run_timeout = milliseconds{v}; }));
  list.push_back(count(
      "max-run-timeout", Variables{"BELLJAR_MAX_RUN_TIMEOUT"}, "the most time a call may ask for",
      1, 24 * kHour, " of milliseconds",
      [](const Config& c) { return c.tools.max_run_timeout.count(); },
      [](Config& c, int64_t v) { c.tools.max_run_timeout = milliseconds{v}; }));
  list.push_back(count(
      "install-timeout", Variables{"BELLJAR_INSTALL_TIMEOUT"},
      "time for installing the dependencies of one run", 1000, kHour, " of milliseconds",
      [](const Config& c) { return c.tools.install_timeout.count(); },
      [](Config& c, int64_t v) { c.tools.install_timeout = milliseconds{v}; }));
  constexpr int64_t kYear = 31'536'000;
  list.push_back(count(
      "packages-max-age", Variables{"BELLJAR_PACKAGES_MAX_AGE"},
      "how long a range of versions means what it meant, before the registry is asked again", 0,
      kYear, " of seconds", [](const Config& c) { return c.tools.packages.max_age.count(); },
      [](Config& c, int64_t v) { c.tools.packages.max_age = std::chrono::seconds{v}; }));
  list.push_back(count(
      "packages-min-age", Variables{"BELLJAR_PACKAGES_MIN_AGE"},
      "how long a version must have been published to be installed", 0, kYear, " of seconds",
      [](const Config& c) { return c.tools.packages.min_age.count(); },
      [](Config& c, int64_t v) { c.tools.packages.min_age = std::chrono::seconds{v}; }));
  list.push_back(package_names(
      "packages-deny", Variables{"BELLJAR_PACKAGES_DENY"},
      "packages that are never installed, not even if others need them",
      [](Config& c) -> std::vector<std::string>& { return c.tools.packages.denied; }));
  list.push_back(package_names(
      "packages-allow-scripts", Variables{"BELLJAR_PACKAGES_ALLOW_SCRIPTS"},
      "packages whose install scripts run, in a sandbox without network; no others do",
      [](Config& c) -> std::vector<std::string>& { return c.tools.packages.allow_scripts; }));
  list.push_back(bytes("packages-disk", Variables{"BELLJAR_PACKAGES_DISK"},
                       "what is kept of installed packages; those used longest ago are removed",
                       1u << 20, [](Config& c) -> uint64_t& { return c.tools.packages.disk; }));
  list.push_back(plain_name("packages-store", Variables{"BELLJAR_PACKAGES_STORE"},
                            "which of the stores in the data directory packages are kept in; one "
                            "that is not there is made",
                            &Config::packages_store));
  list.push_back(yes_or_no("offline", Variables{"BELLJAR_OFFLINE"},
                           "no registry is asked: only packages that are kept here are installed",
                           [](Config& c) -> bool& { return c.tools.packages.offline; }));
  list.push_back(count(
      "session-lifetime", Variables{"NODE_CONTAINER_TIMEOUT"}, "how long a session sandbox lives",
      1, 604800, " of seconds",
      [](const Config& c) { return int64_t{c.sessions.lifetime.count()}; },
      [](Config& c, int64_t v) { c.sessions.lifetime = std::chrono::seconds{v}; }));
  list.push_back(count(
      "session-idle", Variables{"BELLJAR_SESSION_IDLE"}, "how long it lives without being used", 1,
      604800, " of seconds", [](const Config& c) { return int64_t{c.sessions.idle.count()}; },
      [](Config& c, int64_t v) { c.sessions.idle = std::chrono::seconds{v}; }));
  list.push_back(count(
      "max-sandboxes", Variables{"BELLJAR_MAX_SANDBOXES"}, "live sandboxes at one time", 1, 4000,
      "", [](const Config& c) { return static_cast<int64_t>(c.sessions.quota.total); },
      [](Config& c, int64_t v) {
        c.sessions.quota = {static_cast<size_t>(v), static_cast<size_t>(v)};
      }));
  list.push_back(count(
      "spare-sandboxes", Variables{"BELLJAR_SPARE_SANDBOXES"},
      "empty sandboxes kept ready for the next call, of each kind in use; more after bursts", 0, 64,
      "", [](const Config& c) { return static_cast<int64_t>(c.spare_sandboxes); },
      [](Config& c, int64_t v) { c.spare_sandboxes = static_cast<size_t>(v); }));
  list.push_back(bytes("spare-memory", Variables{"BELLJAR_SPARE_MEMORY"},
                       "what empty sandboxes kept ready may take together", 0,
                       [](Config& c) -> uint64_t& { return c.spare_memory; }));
  list.push_back(
      choice<NodeStart>("node-start", Variables{"BELLJAR_NODE_START"},
                        "how programs are started: by executing Node.js, or as copies of "
                        "one that has booted",
                        {{"auto", NodeStart::automatic},
                         {"exec", NodeStart::exec},
                         {"fork", NodeStart::fork},
                         {"parked", NodeStart::parked},
                         {"parked-exec", NodeStart::parked_exec}},
                        &Config::node_start));
  list.push_back(count(
      "zygote-copies", Variables{"BELLJAR_ZYGOTE_COPIES"},
      "copies that are made of one booted Node.js before another one takes its place", 1, 1'000'000,
      "", [](const Config& c) { return static_cast<int64_t>(c.zygote_copies); },
      [](Config& c, int64_t v) { c.zygote_copies = static_cast<uint64_t>(v); }));
  list.push_back(bytes("output-limit", Variables{"BELLJAR_OUTPUT_LIMIT"},
                       "what is kept of each output stream", 1024,
                       [](Config& c) -> size_t& { return c.tools.output_limit; }));
  list.push_back(bytes("code-limit", Variables{"BELLJAR_CODE_LIMIT"}, "the largest program", 1024,
                       [](Config& c) -> size_t& { return c.tools.code_limit; }));
  list.push_back(text("files-dir", Variables{"FILES_DIR", "JS_SANDBOX_OUTPUT_DIR"}, "a directory",
                      "host directory that programs see as ./files, to read and to write",
                      [](Config& c) -> std::string& { return c.tools.files_dir; }));
  list.push_back(text("data-dir", Variables{"BELLJAR_DATA_DIR"}, "a directory",
                      "where Node.js runtimes are kept",
                      [](Config& c) -> std::string& { return c.data_dir; }));
  list.push_back(words("require", Variables{"BELLJAR_REQUIRE"},
                       "names or groups of features, separated by commas",
                       "features of `belljar doctor` that must be enforced, or belljar refuses to "
                       "start",
                       &Config::require));
  using log::Level;
  list.push_back(choice<Level>("log-level", Variables{"BELLJAR_LOG_LEVEL"},
                               "what is logged to stderr",
                               {{"debug", Level::debug},
                                {"info", Level::info},
                                {"warning", Level::warning},
                                {"error", Level::error},
                                {"off", Level::off}},
                               &Config::log_level));
  list.push_back(choice<log::Format>(
      "log-format", Variables{"BELLJAR_LOG_FORMAT"}, "how it is written",
      {{"text", log::Format::text}, {"json", log::Format::json}}, &Config::log_format));
  for (Setting& row : docker_settings()) list.push_back(std::move(row));
  for (Setting& row : serve_settings()) list.push_back(std::move(row));
  return list;
}

}  // namespace

const std::vector<Setting>& settings() {
  static const std::vector<Setting> list = make_settings();
  return list;
}

std::string Config::packages_directory() const {
  return packages_store == "main" ? "packages" : "packages-" + packages_store;
}

Config default_config() {
  Config config;
  config.data_dir = default_data_dir();
  return config;
}

}  // namespace belljar::app
