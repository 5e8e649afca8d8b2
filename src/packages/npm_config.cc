#include "packages/npm_config.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "base/posix.h"
#include "packages/ini.h"

namespace belljar::packages {
namespace {

namespace fs = std::filesystem;

struct Setting {
  std::vector<std::string> values;
  std::string source;  // for messages
};
using Settings = std::map<std::string, Setting, std::less<>>;

std::string lower(std::string_view text) {
  std::string result{text};
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

void override_with(Settings& settings, Settings layer) {
  for (auto& [key, setting] : layer) settings[key] = std::move(setting);
}

Settings from_file(const Surroundings& host, const std::string& path) {
  Settings layer;
  std::error_code error;
  if (path.empty() || !fs::is_regular_file(path, error)) return layer;
  std::string text;
  try {
    text = read_file(path, 1u << 20);
  } catch (const Error& fault) {
    log::warning("npm's configuration: {}", fault.what());
    return layer;
  }
  const Variable variable = [&host](std::string_view name) { return host.variable(name); };
  for (IniEntry& entry : parse_ini(text, variable)) {
    Setting& setting = layer[entry.key];
    setting.source = path;
    if (!entry.is_list_item) setting.values.clear();
    setting.values.push_back(std::move(entry.value));
  }
  return layer;
}

Settings from_environment(const Surroundings& host) {
  Settings layer;
  for (const auto& [name, value] : host.environment) {
    if (value.empty() || !lower(name).starts_with("npm_config_")) continue;
    std::string key = name.substr(std::string_view{"npm_config_"}.size());
    if (key.empty()) continue;
    // Keys about a place or a scope keep their spelling; of the others case and - or _ do not
    // matter.
    if (!key.starts_with("//") && !key.starts_with('@')) {
      key = lower(key);
      std::replace(key.begin() + 1, key.end(), '_', '-');
    }
    layer[key] = Setting{{value}, "the environment variable " + name};
  }
  return layer;
}

std::string global_config(const Surroundings& host, const Settings& environment) {
  if (const auto at = environment.find("globalconfig"); at != environment.end())
    return at->second.values.front();
  if (const auto at = environment.find("prefix"); at != environment.end())
    return at->second.values.front() + "/etc/npmrc";
  if (const auto nodes = find_programs(host, "node"); !nodes.empty())
    return (fs::path{nodes.front()}.parent_path().parent_path() / "etc/npmrc").string();
  for (const std::string& prefix : host.prefixes) {
    std::error_code error;
    if (fs::exists(prefix + "/etc/npmrc", error)) return prefix + "/etc/npmrc";
  }
  return "/etc/npmrc";
}

Settings read_all(const Surroundings& host, const std::string& npm_directory) {
  const Settings environment = from_environment(host);
  std::string user_file = host.home + "/.npmrc";
  if (const auto at = environment.find("userconfig"); at != environment.end())
    user_file = at->second.values.front();
  Settings settings;
  if (!npm_directory.empty()) settings = from_file(host, npm_directory + "/npmrc");
  override_with(settings, from_file(host, global_config(host, environment)));
  override_with(settings, from_file(host, user_file));
  override_with(settings, environment);
  return settings;
}

// Nothing if the setting is absent or says "no value" in one of npm's ways.
const Setting* given(const Settings& settings, std::string_view key) {
  const auto at = settings.find(key);
  if (at == settings.end() || at->second.values.empty()) return nullptr;
  const std::string& value = at->second.values.back();
  return value.empty() || value == "null" || value == "false" ? nullptr : &at->second;
}

net::Url registry_url(std::string_view key, const std::string& value, const std::string& source) {
  auto url = net::parse_url(value);
  if (!url) fail(Code::invalid, "`{}` from {} is not an http or https address", key, source);
  if (!url->target.ends_with('/')) url->target += '/';
  return *url;
}

net::Url proxy_url(const std::string& value, const std::string& source) {
  const bool has_scheme = value.find("://") != std::string::npos;
  auto url = net::parse_url(has_scheme ? value : "http://" + value);
  if (!url) fail(Code::invalid, "the proxy from {} is not an http or https address", source);
  return *url;
}

std::optional<net::Url> proxy_from_environment(const Surroundings& host,
                                               std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    for (const auto& [key, value] : host.environment)
      if (lower(key) == name && !value.empty()) return proxy_url(value, key);
  }
  return std::nullopt;
}

net::ProxySettings read_proxies(const Surroundings& host, const Settings& settings) {
  net::ProxySettings proxies;
  const Setting* plain = given(settings, "proxy");
  const Setting* secure = given(settings, "https-proxy");
  if (secure == nullptr) secure = plain;
  if (plain == nullptr) plain = secure;  // npm has one proxy for both when only one is set
  if (plain != nullptr) proxies.for_http = proxy_url(plain->values.back(), plain->source);
  if (secure != nullptr) proxies.for_https = proxy_url(secure->values.back(), secure->source);
  if (!proxies.for_http) proxies.for_http = proxy_from_environment(host, {"http_proxy", "proxy"});
  if (!proxies.for_https)
    proxies.for_https = proxy_from_environment(host, {"https_proxy", "http_proxy", "proxy"});
  if (const Setting* direct = given(settings, "noproxy")) {
    for (const std::string& value : direct->values)
      for (std::string& entry : net::split_no_proxy(value))
        proxies.direct.push_back(std::move(entry));
  } else {
    for (const auto& [key, value] : host.environment)
      if (lower(key) == "no_proxy") proxies.direct = net::split_no_proxy(value);
  }
  return proxies;
}

net::TlsSettings read_tls(const Surroundings& host, const Settings& settings) {
  net::TlsSettings tls;
  const auto add_file = [&tls, &host](std::string path, const std::string& source) {
    if (path.starts_with("~/")) path = host.home + path.substr(1);
    std::error_code error;
    const auto known = std::find(tls.ca_files.begin(), tls.ca_files.end(), path);
    if (known != tls.ca_files.end()) return;
    if (fs::is_regular_file(path, error))
      tls.ca_files.push_back(std::move(path));
    else
      log::warning("the CA file {} from {} does not exist", path, source);
  };
  if (const Setting* file = given(settings, "cafile")) add_file(file->values.back(), file->source);
  if (const std::string* file = host.variable("NODE_EXTRA_CA_CERTS");
      file != nullptr && !file->empty())
    add_file(*file, "NODE_EXTRA_CA_CERTS");
  if (const Setting* ca = given(settings, "ca")) {
    for (const std::string& pem : ca->values) tls.ca.push_back({"`ca` from " + ca->source, pem});
  }
  const auto strict = settings.find("strict-ssl");
  if (strict != settings.end() && strict->second.values.back() == "false")
    tls.verify = net::TlsSettings::Verify::no;
  return tls;
}

}  // namespace

NpmConfig read_npm_config(const Surroundings& host) {
  const std::string npm_directory = find_npm_directory(host);
  const Settings settings = read_all(host, npm_directory);
  const auto built_in = default_registry_of(npm_directory);
  NpmConfig config;
  if (const Setting* registry = given(settings, "registry"))
    config.registry = registry_url("registry", registry->values.back(), registry->source);
  else if (built_in)
    config.registry = registry_url("registry", *built_in, "npm's defaults in " + npm_directory);
  for (const auto& [key, setting] : settings) {
    if (config.credentials.add(key, setting.values.back())) continue;
    if (key.starts_with('@') && key.ends_with(":registry"))
      config.registry_of_scope[key.substr(0, key.size() - 9)] =
          registry_url(key, setting.values.back(), setting.source);
  }
  config.http.tls = read_tls(host, settings);
  config.http.proxy = read_proxies(host, settings);
  const Setting* replace = given(settings, "replace-registry-host");
  const std::string rule = replace != nullptr ? replace->values.back() : "npmjs";
  if (rule == "always") {
    config.replaced_host = "*";
  } else if (rule == "npmjs") {
    if (const auto url = built_in ? net::parse_url(*built_in) : std::nullopt)
      config.replaced_host = url->host;
  } else if (rule != "never") {
    config.replaced_host = rule;
  }
  return config;
}

const net::Url& NpmConfig::registry_for(std::string_view package) const {
  if (package.starts_with('@')) {
    const auto at = registry_of_scope.find(package.substr(0, package.find('/')));
    if (at != registry_of_scope.end()) return at->second;
  }
  if (!registry)
    fail(Code::unavailable,
         "no npm registry is configured: set `registry` in ~/.npmrc or npm_config_registry");
  return *registry;
}

}  // namespace belljar::packages
