#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>

#include "app/config.h"
#include "base/bytes.h"
#include "base/posix.h"
#include "drivers/linux/feature_table.h"

namespace belljar::app {

namespace {

template <class Number>
std::optional<Number> parse_number(const std::string& text, Number low, Number high) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if (!(value >= low && value <= high)) return std::nullopt;  // written so that NaN fails too
  return value;
}

std::string default_data_dir() {
  const std::string data_home = environment("XDG_DATA_HOME");
  if (!data_home.empty()) return data_home + "/belljar";
  const std::string home = environment("HOME");
  return home.empty() ? "/var/lib/belljar" : home + "/.local/share/belljar";
}

// Builders of table rows: where a value is kept, how it is read, how it is shown.

Setting bytes(std::string name, std::vector<std::string> variables, std::string help, uint64_t low,
              std::function<uint64_t&(Config&)> at) {
  const auto set = [low, at](Config& config, const std::string& text) {
    const auto value = parse_bytes(text);
    if (!value || *value < low) return false;
    at(config) = *value;
    return true;
  };
  const auto show = [at = std::move(at)](const Config& config) {
    return std::to_string(at(const_cast<Config&>(config)));
  };
  return {std::move(name),
          std::move(variables),
          "a size such as 512m, 1g or a number of bytes, at least " + format_bytes(low),
          std::move(help),
          set,
          show};
}

Setting count(std::string name, std::vector<std::string> variables, std::string help, int64_t low,
              int64_t high, std::string unit, std::function<int64_t(const Config&)> get,
              std::function<void(Config&, int64_t)> put) {
  const auto set = [low, high, put = std::move(put)](Config& config, const std::string& text) {
    const auto value = parse_number<int64_t>(text, low, high);
    if (value) put(config, *value);
    return value.has_value();
  };
  const auto show = [get = std::move(get)](const Config& config) {
    return std::to_string(get(config));
  };
  return {std::move(name),
          std::move(variables),
          fmt::format("a whole number{} from {} to {}", unit, low, high),
          std::move(help),
          set,
          show};
}

Setting cpus(std::string name, std::vector<std::string> variables, std::string help,
             std::function<double&(Config&)> at) {
  const auto set = [at](Config& config, const std::string& text) {
    const auto value = parse_number<double>(text, 0.01, 1000);
    if (value) at(config) = *value;
    return value.has_value();
  };
  const auto show = [at = std::move(at)](const Config& config) {
    return fmt::format("{}", at(const_cast<Config&>(config)));
  };
  return {std::move(name),
          std::move(variables),
          "a number of processors from 0.01 to 1000, for example 0.5",
          std::move(help),
          set,
          show};
}

Setting text(std::string name, std::vector<std::string> variables, std::string form,
             std::string help, std::function<std::string&(Config&)> at) {
  const auto set = [at](Config& config, const std::string& value) {
    // A path would end at the NUL, and be another one than the one that is shown.
    if (value.empty() || value.find('\0') != std::string::npos) return false;
    at(config) = value;
    return true;
  };
  const auto show = [at = std::move(at)](const Config& config) {
    return at(const_cast<Config&>(config));
  };
  return {std::move(name), std::move(variables), std::move(form), std::move(help), set, show};
}

// A network policy. The setting may be absent, which is shown as "".
template <class Policy>
Setting policy(std::string name, std::vector<std::string> variables, std::string help,
               Policy tools::Settings::*member) {
  const auto set = [member](Config& config, const std::string& text) {
    try {
      config.tools.*member = network::Policy::parse(text);
      return true;
    } catch (const Error&) {
      return false;
    }
  };
  const auto show = [member](const Config& config) {
    const std::optional<network::Policy> value = config.tools.*member;
    return value ? value->text() : "";
  };
  return {std::move(name),
          std::move(variables),
          "none, internet, host, or allow: with a list of hosts such as "
          "allow:example.com,*.npmjs.org:443",
          std::move(help),
          set,
          show};
}

Setting address(std::string name, std::vector<std::string> variables, std::string help,
                asio::ip::address tools::Settings::*member) {
  const auto set = [member](Config& config, const std::string& text) {
    boost::system::error_code error;
    const asio::ip::address value = asio::ip::make_address(text, error);
    // A NUL ends the text for the parser; an address of one link cannot be written in a URL.
    if (error || text.find('\0') != std::string::npos || text.find('%') != std::string::npos) {
      return false;
    }
    config.tools.*member = value;
    return true;
  };
  const auto show = [member](const Config& config) { return (config.tools.*member).to_string(); };
  return {std::move(name),
          std::move(variables),
          "an IPv4 or IPv6 address such as 127.0.0.1, 0.0.0.0 or ::1",
          std::move(help),
          set,
          show};
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> words;
  for (size_t start = 0; start <= text.size();) {
    const size_t end = std::min(text.find(separator, start), text.size());
    words.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return words;
}

// Some of these words, separated by commas.
Setting words(std::string name, std::vector<std::string> variables, std::string help,
              const std::vector<std::string>& known, std::vector<std::string> Config::*member) {
  const auto set = [known, member](Config& config, const std::string& text) {
    std::vector<std::string> chosen = split(text, ',');
    for (const std::string& word : chosen) {
      if (std::find(known.begin(), known.end(), word) == known.end()) return false;
    }
    config.*member = std::move(chosen);
    return true;
  };
  const auto show = [member](const Config& config) {
    return fmt::format("{}", fmt::join(config.*member, ","));
  };
  return {std::move(name),
          std::move(variables),
          fmt::format("one or more, separated by commas, of {}", fmt::join(known, " ")),
          std::move(help),
          set,
          show};
}

template <class Enum>
Setting choice(std::string name, std::vector<std::string> variables, std::string help,
               std::vector<std::pair<std::string, Enum>> names, Enum Config::*member) {
  std::string form = "one of";
  for (const auto& [word, value] : names) form += " " + word;
  const auto set = [names, member](Config& config, const std::string& wanted) {
    for (const auto& [word, value] : names) {
      if (word != wanted) continue;
      config.*member = value;
      return true;
    }
    return false;
  };
  const auto show = [names = std::move(names), member](const Config& config) {
    for (const auto& [word, value] : names) {
      if (config.*member == value) return word;
    }
    return std::string{};
  };
  return {std::move(name), std::move(variables), form, std::move(help), set, show};
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
                       16u << 20,
                       [](Config& c) -> uint64_t& { return c.tools.default_limits.memory; }));
  list.push_back(cpus("cpus", Variables{"SANDBOX_CPU_LIMIT"}, "processors of one sandbox",
                      [](Config& c) -> double& { return c.tools.default_limits.cpus; }));
  list.push_back(count(
      "pids", Variables{"BELLJAR_PIDS"}, "processes and threads of one sandbox", 16, 100000, "",
      [](const Config& c) { return int64_t{c.tools.default_limits.pids}; },
      [](Config& c, int64_t v) { c.tools.default_limits.pids = static_cast<uint32_t>(v); }));
  list.push_back(bytes("disk", Variables{"BELLJAR_DISK"},
                       "what one sandbox may write, kept in memory", 1u << 20,
                       [](Config& c) -> uint64_t& { return c.tools.default_limits.disk; }));
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
                       "the most memory a call may ask for", 16u << 20,
                       [](Config& c) -> uint64_t& { return c.tools.max_limits.memory; }));
  list.push_back(cpus("max-cpus", Variables{"BELLJAR_MAX_CPUS"},
                      "the most processors a call may ask for",
                      [](Config& c) -> double& { return c.tools.max_limits.cpus; }));
  list.push_back(count(
      "max-pids", Variables{"BELLJAR_MAX_PIDS"}, "the most processes a call may ask for", 16,
      100000, "", [](const Config& c) { return int64_t{c.tools.max_limits.pids}; },
      [](Config& c, int64_t v) { c.tools.max_limits.pids = static_cast<uint32_t>(v); }));
  list.push_back(bytes("max-disk", Variables{"BELLJAR_MAX_DISK"},
                       "the most disk a call may ask for", 1u << 20,
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
                       "features of `belljar doctor` that must be enforced, or belljar refuses to "
                       "start",
                       linux_driver::feature_names(), &Config::require));
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
  return list;
}

}  // namespace

const std::vector<Setting>& settings() {
  static const std::vector<Setting> list = make_settings();
  return list;
}

Config default_config() {
  Config config;
  config.data_dir = default_data_dir();
  return config;
}

}  // namespace belljar::app
