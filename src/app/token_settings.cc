#include "app/token_settings.h"

#include <toml++/toml.h>

#include <algorithm>

#include "base/error.h"
#include "base/posix.h"
#include "files/uri.h"
#include "serve/bearer_tokens.h"

namespace belljar::app {

namespace {

constexpr size_t kLeastLength = 24;  // of a token: one that people make up is guessed
constexpr size_t kMostTokens = 1000;

bool is_letter_or_digit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), [](char c) {
    return is_letter_or_digit(c) || c == '-' || c == '_' || c == '.' || c == '@';
  });
}

// What may stand behind "Bearer ", and is not too short.
std::string why_no_token(std::string_view text) {
  if (text.size() < kLeastLength) {
    return fmt::format("it has fewer than {} characters; make one with `openssl rand -base64 32`",
                       kLeastLength);
  }
  const std::string header = "Bearer " + std::string{text};
  const auto read = serve::bearer_of(header);
  if (!read || *read != text) return "it has characters other than letters, digits and -._~+/=";
  return "";
}

bool is_sha256(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

class Reader {
 public:
  Reader(std::string name, const std::string& file) {
    setting_.where = fmt::format("{}: [tokens.{}]", file, files::display_name(name));
    setting_.name = std::move(name);
  }

  TokenSetting read(const toml::node& node) {
    if (!is_name(setting_.name)) wrong("a name has letters, digits and -_.@, at most 64");
    const toml::table* table = node.as_table();
    if (table == nullptr) wrong("it must be a table with token-file, token-sha256 or token");
    for (const auto& [key, value] : *table) {
      const toml::value<std::string>* text = value.as_string();
      if (text == nullptr || text->get().empty())
        wrong("\"{}\" must be a text", files::display_name(key.str()));
      read(std::string{key.str()}, text->get());
    }
    if (ways_ != 1) wrong("it must have one of token-file, token-sha256 and token");
    return std::move(setting_);
  }

 private:
  template <class... Args>
  [[noreturn]] void wrong(fmt::format_string<Args...> format, Args&&... args) {
    fail(Code::invalid, "{}: {}", setting_.where, fmt::format(format, std::forward<Args>(args)...));
  }

  void read(const std::string& key, const std::string& text) {
    if (key == "files-dir") {
      setting_.files_dir = text;
      return;
    }
    ++ways_;
    if (key == "token-file") {
      setting_.token_file = text;
    } else if (key == "token-sha256") {
      if (!is_sha256(text)) wrong("token-sha256 must be 64 hexadecimal digits in lower case");
      setting_.sha256 = text;
    } else if (key == "token") {
      if (const std::string why = why_no_token(text); !why.empty()) wrong("token: {}", why);
      setting_.sha256 = serve::sha256_of(text);
    } else {
      wrong("there is no \"{}\"; there are token-file, token-sha256, token and files-dir",
            files::display_name(key));
    }
  }

  TokenSetting setting_;
  int ways_ = 0;
};

}  // namespace

std::vector<TokenSetting> read_tokens(const toml::node& node, const std::string& file) {
  const toml::table* table = node.as_table();
  if (table == nullptr) fail(Code::invalid, "{}: tokens must be tables [tokens.NAME]", file);
  if (table->size() > kMostTokens)
    fail(Code::invalid, "{}: there are more than {} tokens", file, kMostTokens);
  std::vector<TokenSetting> settings;
  for (const auto& [key, value] : *table) {
    settings.push_back(Reader{std::string{key.str()}, file}.read(value));
  }
  return settings;
}

void open_tokens(std::vector<TokenSetting>& settings) {
  for (TokenSetting& setting : settings) {
    if (setting.token_file.empty()) continue;
    std::string text;
    try {
      text = read_file(setting.token_file, 4096);
    } catch (const Error& e) {
      fail(Code::invalid, "{}: {}", setting.where, e.what());
    }
    while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
    if (const std::string why = why_no_token(text); !why.empty())
      fail(Code::invalid, "{}: the file {}: {}", setting.where, setting.token_file, why);
    setting.sha256 = serve::sha256_of(text);
  }
}

json::object to_json(const TokenSetting& setting) {
  json::object fields{{"name", setting.name}};
  if (setting.token_file.empty()) fields["token-sha256"] = setting.sha256;
  if (!setting.token_file.empty()) fields["token-file"] = setting.token_file;
  if (!setting.files_dir.empty()) fields["files-dir"] = setting.files_dir;
  return fields;
}

std::string to_toml(const TokenSetting& setting) {
  std::string text = fmt::format("[tokens.{}]\n", json::serialize(json::value(setting.name)));
  json::object fields = to_json(setting);
  fields.erase("name");
  for (const auto& field : fields)
    text += fmt::format("{} = {}\n", std::string_view{field.key()}, json::serialize(field.value()));
  return text;
}

}  // namespace belljar::app
