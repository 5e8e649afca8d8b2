#include "app/token_settings.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <toml++/toml.h>

#include <filesystem>

#include "app/serve_parts.h"
#include "base/error.h"
#include "base/id.h"
#include "base/posix.h"
#include "serve/bearer_tokens.h"

namespace belljar::app {
namespace {

std::vector<TokenSetting> read(const std::string& text) {
  const toml::table table = toml::parse(text);
  return read_tokens(*table.get("tokens"), "c.toml");
}

std::string why(const std::string& text) {
  try {
    std::vector<TokenSetting> settings = read(text);
    open_tokens(settings);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

class Files : public testing::Test {
 protected:
  Files() { std::filesystem::create_directory(directory_); }
  ~Files() override { std::filesystem::remove_all(directory_); }

  const std::string directory_ =
      (std::filesystem::temp_directory_path() / ("belljar-tokens-" + random_hex(8))).string();
};

TEST_F(Files, TokensHaveThreeForms) {
  const std::string token = serve::random_token();
  write_file_atomically(directory_ + "/t", token + "\n", 0600);
  std::vector<TokenSetting> settings =
      read("[tokens.a]\ntoken = \"" + token + "\"\n[tokens.b]\ntoken-file = \"" + directory_ +
           "/t\"\nfiles-dir = \"/srv/b\"\n[tokens.c]\ntoken-sha256 = \"" + serve::sha256_of(token) +
           "\"\n");
  ASSERT_EQ(settings.size(), 3u);
  EXPECT_EQ(settings[1].files_dir, "/srv/b");
  open_tokens(settings);
  for (const TokenSetting& setting : settings) EXPECT_EQ(setting.sha256, serve::sha256_of(token));
}

TEST_F(Files, WhatIsShownHasNoTokens) {
  const std::string token = serve::random_token();
  for (const TokenSetting& setting : read("[tokens.\"a@b.c\"]\ntoken = \"" + token + "\"\n")) {
    EXPECT_EQ(json::serialize(to_json(setting)).find(token), std::string::npos);
    EXPECT_EQ(to_toml(setting),
              "[tokens.\"a@b.c\"]\ntoken-sha256 = \"" + serve::sha256_of(token) + "\"\n");
  }
}

TEST_F(Files, WhatIsWrongIsSaidWithItsPlace) {
  const std::string good = "token = \"" + std::string(24, 'x') + "\"\n";
  EXPECT_EQ(why("[tokens.a]\n" + good), "");
  const std::pair<std::string, const char*> wrong[] = {
      {"[tokens.a]\n", "one of token-file, token-sha256 and token"},
      {"[tokens.a]\n" + good + "token-file = \"x\"\n", "one of token-file"},
      {"[tokens.a]\ntoken = \"" + std::string(23, 'x') + "\"\n", "fewer than 24"},
      {"[tokens.a]\ntoken = \"" + std::string(24, ' ') + "\"\n", "other than letters"},
      {"[tokens.a]\ntoken = 7\n", "must be a text"},
      {"[tokens.a]\ntoken-sha256 = \"ABC\"\n", "64 hexadecimal digits"},
      {"[tokens.a]\nvalue = \"x\"\n", "there is no \"value\""},
      {"[tokens.a]\ntoken-file = \"" + directory_ + "/nowhere\"\n", "nowhere"},
      {"[tokens.\"a b\"]\n" + good, "a name has letters"},
      {"[tokens]\na = 1\n", "it must be a table"}};
  for (const auto& [text, part] : wrong) {
    EXPECT_NE(why(text).find(part), std::string::npos) << text << why(text);
    EXPECT_TRUE(why(text).starts_with("c.toml: [tokens.")) << why(text);
  }
}

TEST_F(Files, TheOwnTokenIsMadeOnceAndForItsOwnerOnly) {
  const std::string path = directory_ + "/deep/er/token";
  bool made = false;
  const std::string token = own_token(path, made);
  EXPECT_TRUE(made);
  struct stat info {};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600u);
  made = false;
  EXPECT_EQ(own_token(path, made), token);
  EXPECT_FALSE(made);
  ::chmod(path.c_str(), 0640);
  EXPECT_THROW(own_token(path, made), Error);
  write_file_atomically(path, "short\n", 0600);
  EXPECT_THROW(own_token(path, made), Error);
  std::filesystem::remove(path);
  std::filesystem::create_symlink("/etc/passwd", path);
  EXPECT_THROW(own_token(path, made), Error);
}

Config config_of(std::string listen) {
  Config config;
  config.serve.listen = std::move(listen);
  return config;
}

TEST(ServeSettings, NobodyIsLetInFromOutsideWithoutAToken) {
  Config config = config_of("0.0.0.0:1");
  EXPECT_NO_THROW(check_serve_settings(config));
  config.serve.no_auth = true;
  EXPECT_THROW(check_serve_settings(config), Error);
  config.serve.listen = "[::]:1";
  EXPECT_THROW(check_serve_settings(config), Error);
  config.serve.listen = "[::1]:1";
  EXPECT_NO_THROW(check_serve_settings(config));
  config.serve.oauth_issuer = "https://issuer.example";
  EXPECT_THROW(check_serve_settings(config), Error);
}

TEST(ServeSettings, AddressesHaveOneForm) {
  EXPECT_EQ(parse_listen("127.0.0.1:80").host, "127.0.0.1");
  EXPECT_EQ(parse_listen("[::1]:80").host, "::1");
  EXPECT_TRUE(parse_listen("127.9.9.9:0").is_loopback);
  EXPECT_FALSE(parse_listen("0.0.0.0:65535").is_loopback);
  for (const char* bad : {"", "80", ":80", "localhost:80", "127.0.0.1",
                          "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:80x",
                          "::1:80", "[127.0.0.1]:80", "[::1]80", "[fe80::1%lo]:80"}) {
    EXPECT_THROW(parse_listen(bad), Error) << bad;
  }
}

}  // namespace
}  // namespace belljar::app
