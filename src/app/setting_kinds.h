#pragma once

#include <fmt/format.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/config.h"

// Builders of rows of the table of settings: where a value is kept, how it is read, how it is
// shown.
namespace belljar::app {

Setting bytes(std::string name, std::vector<std::string> variables, std::string help, uint64_t low,
              std::function<uint64_t&(Config&)> at);

Setting count(std::string name, std::vector<std::string> variables, std::string help, int64_t low,
              int64_t high, std::string unit, std::function<int64_t(const Config&)> get,
              std::function<void(Config&, int64_t)> put);

Setting cpus(std::string name, std::vector<std::string> variables, std::string help,
             std::function<double&(Config&)> at);

Setting text(std::string name, std::vector<std::string> variables, std::string form,
             std::string help, std::function<std::string&(Config&)> at);

// A short name that can be part of a file's.
Setting plain_name(std::string name, std::vector<std::string> variables, std::string help,
                   std::string Config::*member);

Setting address(std::string name, std::vector<std::string> variables, std::string help,
                asio::ip::address tools::Settings::*member);

// A name alone stands for yes on the command line.
Setting yes_or_no(std::string name, std::vector<std::string> variables, std::string help,
                  std::function<bool&(Config&)> at);

Setting package_names(std::string name, std::vector<std::string> variables, std::string help,
                      std::function<std::vector<std::string>&(Config&)> at);

// Words, separated by commas. Which ones there are is not known here.
Setting words(std::string name, std::vector<std::string> variables, std::string form,
              std::string help, std::vector<std::string> Config::*member);

// Limits of images, by their names.
Setting image_limits();

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

}  // namespace belljar::app
