#include "app/secret_settings.h"

#include <toml++/toml.h>

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/posix.h"
#include "files/uri.h"
#include "net/token.h"
#include "network/host_name.h"
#include "tools/environment.h"

namespace belljar::app {

namespace {

bool is_letter_or_digit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), [](char c) {
    return is_letter_or_digit(c) || c == '-' || c == '_';
  });
}

// Headers that say how to read a request, or where it goes.
bool is_reserved(std::string_view header) {
  const std::string name = network::lower_ascii(header);
  for (const char* reserved : {"host", "content-length", "transfer-encoding", "connection",
                               "upgrade", "te", "trailer", "expect", "keep-alive"}) {
    if (name == reserved) return true;
  }
  return false;
}

std::string default_variable(std::string_view name) {
  std::string variable;
  for (const char c : name) {
    const bool is_lower = c >= 'a' && c <= 'z';
    variable += !is_letter_or_digit(c) ? '_' : is_lower ? static_cast<char>(c - 'a' + 'A') : c;
  }
  return variable;
}

// One table, with its name for errors.
class Reader {
 public:
  Reader(std::string name, const std::string& file) {
    setting_.where = fmt::format("{}: [secrets.{}]", file, files::display_name(name));
    setting_.secret.name = std::move(name);
  }

  SecretSetting read(const toml::node& node) {
    network::Secret& secret = setting_.secret;
    if (!is_name(secret.name)) wrong("a name has letters, digits, - and _, at most 64");
    const toml::table* table = node.as_table();
    if (table == nullptr) wrong("it must be a table with hosts and value-file or value-env");
    secret.variable = default_variable(secret.name);
    for (const auto& [key, value] : *table) read(std::string{key.str()}, value);
    check();
    return std::move(setting_);
  }

 private:
  template <class... Args>
  [[noreturn]] void wrong(fmt::format_string<Args...> format, Args&&... args) {
    fail(Code::invalid, "{}: {}", setting_.where, fmt::format(format, std::forward<Args>(args)...));
  }

  void read(const std::string& key, const toml::node& value) {
    if (key == "hosts") return read_hosts(value);
    const toml::value<std::string>* string = value.as_string();
    std::string* target = key == "header"       ? &setting_.secret.header
                          : key == "variable"   ? &setting_.secret.variable
                          : key == "value-file" ? &setting_.value_file
                          : key == "value-env"  ? &setting_.value_variable
                                                : nullptr;
    if (key == "value")
      wrong("the value does not belong into this file: use value-file or value-env");
    if (target == nullptr) {
      wrong("there is no \"{}\"; there are hosts, header, variable, value-file and value-env",
            files::display_name(key));
    }
    if (string == nullptr || string->get().empty()) wrong("\"{}\" must be a text", key);
    *target = string->get();
  }

  void read_hosts(const toml::node& value) {
    const toml::array* list = value.as_array();
    if (list == nullptr) wrong("\"hosts\" must be a list such as [\"api.github.com\"]");
    for (const toml::node& entry : *list) {
      const toml::value<std::string>* text = entry.as_string();
      if (text == nullptr) wrong("\"hosts\" must be a list such as [\"api.github.com\"]");
      setting_.secret.hosts.push_back(to_host(text->get()));
    }
  }

  network::Secret::Host to_host(const std::string& text) {
    network::Secret::Host host;
    const size_t colon = text.find(':');
    const std::string_view name = std::string_view{text}.substr(0, colon);
    if (const auto why = network::why_no_host_name(name); !why.empty())
      wrong("host \"{}\" {}; it must be one exact name", files::display_name(text), why);
    host.name = *network::canonical_name(name);
    if (colon == std::string::npos) return host;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, host.port);
    if (error != std::errc{} || stop != end || host.port == 0)
      wrong("host \"{}\" has no port after the colon", files::display_name(text));
    return host;
  }

  void check() {
    const network::Secret& secret = setting_.secret;
    if (secret.hosts.empty()) wrong("it has no hosts; name those that may get it");
    if (!net::is_token(secret.header))
      wrong("\"{}\" is no name of a header", files::display_name(secret.header));
    if (is_reserved(secret.header)) wrong("the header {} cannot hold a secret", secret.header);
    if (const auto why = tools::why_not_a_variable(secret.variable); !why.empty())
      wrong("programs cannot have the variable \"{}\": {}", files::display_name(secret.variable),
            why);
    if (setting_.value_file.empty() == setting_.value_variable.empty())
      wrong("it must have either value-file or value-env");
  }

  SecretSetting setting_;
};

std::string read_value(const SecretSetting& setting) {
  const bool is_file = !setting.value_file.empty();
  std::string value;
  try {
    value = is_file ? read_file(setting.value_file) : environment(setting.value_variable.c_str());
  } catch (const Error& e) {
    fail(Code::invalid, "{}: {}", setting.where, e.what());
  }
  while (value.ends_with('\n') || value.ends_with('\r')) value.pop_back();
  const std::string where =
      is_file ? "the file " + setting.value_file : "the variable " + setting.value_variable;
  if (value.empty()) fail(Code::invalid, "{}: {} is empty", setting.where, where);
  const bool is_plain = std::all_of(value.begin(), value.end(), [](char c) {
    return (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) || c == '\t';
  });
  if (!is_plain) {
    fail(Code::invalid, "{}: {} has more than one line, or other control characters", setting.where,
         where);
  }
  return value;
}

std::string text_of(const network::Secret::Host& host) {
  return host.port == 443 ? host.name : fmt::format("{}:{}", host.name, host.port);
}

std::vector<std::string> hosts_of(const SecretSetting& setting) {
  std::vector<std::string> hosts;
  hosts.reserve(setting.secret.hosts.size());
  for (const network::Secret::Host& host : setting.secret.hosts) hosts.push_back(text_of(host));
  return hosts;
}

}  // namespace

std::vector<SecretSetting> read_secrets(const toml::node& node, const std::string& file) {
  const toml::table* table = node.as_table();
  if (table == nullptr) fail(Code::invalid, "{}: secrets must be tables [secrets.NAME]", file);
  std::vector<SecretSetting> settings;
  for (const auto& [key, value] : *table) {
    settings.push_back(Reader{std::string{key.str()}, file}.read(value));
    for (size_t i = 0; i + 1 < settings.size(); ++i) {
      const network::Secret& other = settings[i].secret;
      if (other.variable == settings.back().secret.variable) {
        fail(Code::invalid, "{}: secrets {} and {} have the same variable {}", file, other.name,
             settings.back().secret.name, other.variable);
      }
    }
  }
  return settings;
}

std::unique_ptr<network::Secrets> open_secrets(const std::vector<SecretSetting>& settings) {
  if (settings.empty()) return nullptr;
  std::vector<network::Secret> secrets;
  for (const SecretSetting& setting : settings) {
    secrets.push_back(setting.secret);
    secrets.back().value = read_value(setting);
  }
  net::TlsSettings trust;
  if (const std::string file = environment("NODE_EXTRA_CA_CERTS"); !file.empty())
    trust.ca_files.push_back(file);
  net::read_ca_files(trust, environment("SSL_CERT_FILE"));
  return std::make_unique<network::Secrets>(std::move(secrets), trust);
}

std::string describe(const std::vector<SecretSetting>& settings) {
  std::string text;
  for (const SecretSetting& setting : settings) {
    text += fmt::format(
        "{}process.env.{} is a placeholder: sent in the header {} to https://{} it becomes a "
        "credential.",
        text.empty() ? "" : " ", setting.secret.variable, setting.secret.header,
        fmt::join(hosts_of(setting), ", https://"));
  }
  return text;
}

json::object to_json(const SecretSetting& setting) {
  json::object fields{{"name", setting.secret.name},
                      {"header", setting.secret.header},
                      {"variable", setting.secret.variable}};
  json::array hosts;
  for (const std::string& host : hosts_of(setting)) hosts.emplace_back(host);
  fields["hosts"] = std::move(hosts);
  if (!setting.value_file.empty()) fields["value-file"] = setting.value_file;
  if (!setting.value_variable.empty()) fields["value-env"] = setting.value_variable;
  return fields;
}

std::string to_toml(const SecretSetting& setting) {
  std::string text = fmt::format(
      "[secrets.{}]\nhosts = [\"{}\"]\nheader = \"{}\"\nvariable = \"{}\"\n", setting.secret.name,
      fmt::join(hosts_of(setting), "\", \""), setting.secret.header, setting.secret.variable);
  const bool is_file = !setting.value_file.empty();
  return text + fmt::format("{} = \"{}\"\n", is_file ? "value-file" : "value-env",
                            is_file ? setting.value_file : setting.value_variable);
}

}  // namespace belljar::app
