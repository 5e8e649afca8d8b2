#include "app/setting_kinds.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "base/bytes.h"
#include "packages/package_document.h"

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

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> words;
  for (size_t start = 0; start <= text.size();) {
    const size_t end = std::min(text.find(separator, start), text.size());
    words.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return words;
}

}  // namespace

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
    const auto value = parse_number<double>(text, kLowestLimits.cpus, kHighestLimits.cpus);
    if (value) at(config) = *value;
    return value.has_value();
  };
  const auto show = [at = std::move(at)](const Config& config) {
    return fmt::format("{}", at(const_cast<Config&>(config)));
  };
  return {std::move(name),
          std::move(variables),
          fmt::format("a number of processors from {} to {}, for example 0.5", kLowestLimits.cpus,
                      kHighestLimits.cpus),
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

Setting plain_name(std::string name, std::vector<std::string> variables, std::string help,
                   std::string Config::*member) {
  const auto set = [member](Config& config, const std::string& value) {
    constexpr const char* kAllowed = "abcdefghijklmnopqrstuvwxyz0123456789-";
    constexpr size_t kLongest = 40;
    const bool is_plain = value.find_first_not_of(kAllowed) == std::string::npos;
    if (value.empty() || value.size() > kLongest || !is_plain) return false;
    config.*member = value;
    return true;
  };
  const auto show = [member](const Config& config) { return config.*member; };
  return {std::move(name),
          std::move(variables),
          "a name of at most 40 small letters, digits and -",
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

Setting yes_or_no(std::string name, std::vector<std::string> variables, std::string help,
                  std::function<bool&(Config&)> at) {
  const auto set = [at](Config& config, const std::string& text) {
    const bool is_yes = text.empty() || text == "yes" || text == "true" || text == "1";
    if (!is_yes && text != "no" && text != "false" && text != "0") return false;
    at(config) = is_yes;
    return true;
  };
  const auto show = [at = std::move(at)](const Config& config) {
    return std::string{at(const_cast<Config&>(config)) ? "yes" : "no"};
  };
  Setting setting{std::move(name), std::move(variables), "yes or no", std::move(help), set, show};
  setting.may_stand_alone = true;
  return setting;
}

Setting package_names(std::string name, std::vector<std::string> variables, std::string help,
                      std::function<std::vector<std::string>&(Config&)> at) {
  const auto set = [at](Config& config, const std::string& text) {
    std::vector<std::string> names = split(text, ',');
    if (!std::all_of(names.begin(), names.end(), packages::is_package_name)) return false;
    at(config) = std::move(names);
    return true;
  };
  const auto show = [at = std::move(at)](const Config& config) {
    return fmt::format("{}", fmt::join(at(const_cast<Config&>(config)), ","));
  };
  return {std::move(name),
          std::move(variables),
          "names of npm packages, separated by commas",
          std::move(help),
          set,
          show};
}

Setting image_limits() {
  const auto set = [](Config& config, const std::string& text) {
    config.tools.image_limits = ImageLimits::parse(text);
    return true;
  };
  const auto show = [](const Config& config) { return config.tools.image_limits.text(); };
  return {"image-limits",
          {"BELLJAR_IMAGE_LIMITS"},
          "names of images, with * for anything, and their limits, such as "
          "node:20*=memory:256m; ghcr.io/acme/tools:*=memory:2g,cpus:2,pids:1024,disk:1g",
          "limits of images that need others than the rest; the first name that fits counts",
          set,
          show};
}

Setting words(std::string name, std::vector<std::string> variables, std::string form,
              std::string help, std::vector<std::string> Config::*member) {
  const auto set = [member](Config& config, const std::string& text) {
    config.*member = split(text, ',');
    return true;
  };
  const auto show = [member](const Config& config) {
    return fmt::format("{}", fmt::join(config.*member, ","));
  };
  return {std::move(name), std::move(variables), std::move(form), std::move(help), set, show};
}

}  // namespace belljar::app
