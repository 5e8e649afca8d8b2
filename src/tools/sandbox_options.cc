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

Limits highest_limits(const Settings& settings) {
  Limits limits = settings.default_limits;
  limits.memory = std::max(limits.memory, settings.max_limits.memory);
  limits.cpus = std::max(limits.cpus, settings.max_limits.cpus);
  limits.pids = std::max(limits.pids, settings.max_limits.pids);
  limits.disk = std::max(limits.disk, settings.max_limits.disk);
  return limits;
}

Parameter limits_parameter(const Settings& settings) {
  const Limits highest = highest_limits(settings);
  const Limits& usual = settings.default_limits;
  Parameter limits{
      .name = "limits",
      .type = Type::object,
      .description = "What the sandbox may use, where it shall differ from the default."};
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
  const Arguments given = arguments.object("limits");
  Limits limits = settings.default_limits;
  if (given.has("memory")) limits.memory = given.bytes("memory");
  if (given.has("cpus")) limits.cpus = given.number("cpus");
  if (given.has("pids")) limits.pids = static_cast<uint32_t>(given.integer("pids"));
  if (given.has("disk")) limits.disk = given.bytes("disk");
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
