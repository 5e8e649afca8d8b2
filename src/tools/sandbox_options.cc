#include "tools/sandbox_options.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/error.h"

namespace belljar::tools {

namespace {

using Type = Parameter::Type;

constexpr size_t kMaxImageLength = 128;

// Less would not even start Node.js, which has eleven threads and 40 MiB of its own.
constexpr double kMinMemory = 32 << 20;
constexpr double kMinCpus = 0.05;
constexpr double kMinPids = 16;
constexpr double kMinDisk = 1 << 20;

bool is_image_character(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '.' ||
         c == '_' || c == '-' || c == ':' || c == '/';
}

Limits higher_of_each(const Limits& one, const Limits& other) {
  Limits limits = one;
  limits.memory = std::max(one.memory, other.memory);
  limits.cpus = std::max(one.cpus, other.cpus);
  limits.pids = std::max(one.pids, other.pids);
  limits.disk = std::max(one.disk, other.disk);
  return limits;
}

// What some image may have: a schema is made before the image is known.
Limits highest_of_all(const Settings& settings) {
  Limits limits = highest_limits(settings, settings.default_image);
  for (const ImageLimits::Rule& rule : settings.image_limits.rules()) {
    limits = higher_of_each(limits, rule.limits.over(settings.default_limits));
  }
  return higher_of_each(limits, settings.default_limits);
}

std::string in_words(const Limits& limits) {
  return fmt::format("{} of memory, {} CPU, {} processes and threads, {} of disk",
                     format_bytes(limits.memory), limits.cpus, limits.pids,
                     format_bytes(limits.disk));
}

// Which images have other defaults than the others; "" if none has.
std::string defaults_of_images(const Settings& settings) {
  if (settings.image_limits.rules().empty()) return "";
  std::string text = " Defaults by image: ";
  for (const ImageLimits::Rule& rule : settings.image_limits.rules()) {
    text +=
        fmt::format("{}: {}; ", rule.pattern, in_words(rule.limits.over(settings.default_limits)));
  }
  return text + fmt::format("others: {}.", in_words(settings.default_limits));
}

void check_highest(const Limits& limits, const Limits& highest, const std::string& image) {
  const auto refuse = [&image](const char* name, const auto& is, const auto& most) {
    fail(Code::invalid, "argument \"limits.{}\" is {}; a sandbox of {} may have at most {}", name,
         is, image, most);
  };
  if (limits.memory > highest.memory) {
    refuse("memory", format_bytes(limits.memory), format_bytes(highest.memory));
  }
  if (limits.cpus > highest.cpus) refuse("cpus", limits.cpus, highest.cpus);
  if (limits.pids > highest.pids) refuse("pids", limits.pids, highest.pids);
  if (limits.disk > highest.disk) {
    refuse("disk", format_bytes(limits.disk), format_bytes(highest.disk));
  }
}

}  // namespace

Parameter image_parameter(const Settings& settings) {
  return Parameter{
      .name = "image",
      .description =
          "The Node.js to run on, by image name: node:lts-slim, node:lts, node:24, "
          "node:22-slim, … An unknown name is answered with the list of those there are.",
      .nul = Parameter::Nul::allowed,  // read_image_name() has the clearer error
      .fallback = json::value(settings.default_image)};
}

Limits usual_limits(const Settings& settings, const std::string& image) {
  return settings.image_limits.of(image, settings.default_limits);
}

Limits highest_limits(const Settings& settings, const std::string& image) {
  return higher_of_each(usual_limits(settings, image), settings.max_limits);
}

Parameter limits_parameter(const Settings& settings) {
  const Limits highest = highest_of_all(settings);
  const Limits usual = usual_limits(settings, settings.default_image);
  Parameter limits{
      .name = "limits",
      .type = Type::object,
      .description = "What the sandbox may use, where it shall differ from the default." +
                     defaults_of_images(settings)};
  limits.fields = {
      Parameter{
          .name = "memory",
          .type = Type::bytes,
          .description = fmt::format("Memory, such as \"512m\" or \"1g\". Default {}, at most {}.",
                                     format_bytes(usual.memory), format_bytes(highest.memory)),
          .min = kMinMemory,
          .max = static_cast<double>(highest.memory)},
      Parameter{.name = "cpus",
                .type = Type::number,
                .description = fmt::format("Processors, such as 0.5. Default {}.", usual.cpus),
                .min = kMinCpus,
                .max = highest.cpus},
      Parameter{.name = "pids",
                .type = Type::integer,
                .description = fmt::format("Processes and threads. Default {}.", usual.pids),
                .min = kMinPids,
                .max = static_cast<double>(highest.pids)},
      Parameter{
          .name = "disk",
          .type = Type::bytes,
          .description = fmt::format("Bytes of all files it may write, such as \"256m\". Default "
                                     "{}, at most {}.",
                                     format_bytes(usual.disk), format_bytes(highest.disk)),
          .min = kMinDisk,
          .max = static_cast<double>(highest.disk)}};
  return limits;
}

std::string read_image_name(const Arguments& arguments) {
  const std::string name = arguments.string("image");
  const bool valid = !name.empty() && name.size() <= kMaxImageLength && name.front() != '-' &&
                     name.front() != '.' && name.front() != '/' && name.front() != ':' &&
                     std::all_of(name.begin(), name.end(), is_image_character);
  if (!valid) {
    fail(Code::invalid, "argument \"image\" is {}; it must be an image name such as node:lts-slim",
         shown(json::value(name)));
  }
  return name;
}

Limits read_limits(const Arguments& arguments, const Settings& settings) {
  const std::string image = read_image_name(arguments);
  const Arguments given = arguments.object("limits");
  Limits limits = usual_limits(settings, image);
  if (given.has("memory")) limits.memory = given.bytes("memory");
  if (given.has("cpus")) limits.cpus = given.number("cpus");
  if (given.has("pids")) limits.pids = static_cast<uint32_t>(given.integer("pids"));
  if (given.has("disk")) limits.disk = given.bytes("disk");
  check_highest(limits, highest_limits(settings, image), image);
  return limits;
}

void check_limits_unchanged(const Arguments& arguments, const Limits& limits) {
  const Arguments given = arguments.object("limits");
  const auto refuse = [](const char* name, const std::string& is) {
    fail(Code::invalid,
         "argument \"limits.{}\" differs from that of the sandbox, which is {} and cannot change; "
         "leave it out, or give it to sandbox_initialize when making a sandbox",
         name, is);
  };
  if (given.has("memory") && given.bytes("memory") != limits.memory) {
    refuse("memory", format_bytes(limits.memory));
  }
  if (given.has("cpus") && given.number("cpus") != limits.cpus) {
    refuse("cpus", fmt::format("{}", limits.cpus));
  }
  if (given.has("pids") && given.integer("pids") != static_cast<int64_t>(limits.pids)) {
    refuse("pids", fmt::format("{}", limits.pids));
  }
  if (given.has("disk") && given.bytes("disk") != limits.disk) {
    refuse("disk", format_bytes(limits.disk));
  }
}

}  // namespace belljar::tools
