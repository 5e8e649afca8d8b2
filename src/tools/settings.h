#pragma once

#include <boost/asio/ip/address.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/task.h"
#include "network/policy.h"
#include "packages/package_rules.h"
#include "sandbox/image_limits.h"

namespace belljar::tools {

// What the operator decided for all calls. A default above its maximum raises the maximum, and that
// of an image does so for this image.
struct Settings {
  std::string default_image = "node:lts-slim";
  Limits default_limits;     // ask usual_limits() (sandbox_options.h), which knows the image
  ImageLimits image_limits;  // in place of these, for images that have some of their own
  // How far a caller may raise each limit; lowering is always allowed. inodes are not the caller's.
  Limits max_limits{.memory = 4ull << 30, .cpus = 4, .pids = 1024, .disk = 4ull << 30};
  network::Policy network = network::Policy::parse("internet");
  std::optional<network::Policy> max_network;  // without: nothing beyond `network`
  std::string secrets;  // what programs can use of them, in words; "": nothing
  asio::ip::address publish_address = asio::ip::address_v4::loopback();  // of published ports
  milliseconds run_timeout{30'000};
  milliseconds max_run_timeout{600'000};
  size_t output_limit = 1u << 20;  // bytes kept of each stream
  size_t code_limit = 1u << 20;
  size_t stdin_limit = 1u << 20;
  milliseconds install_timeout{120'000};
  packages::PackageRules packages;
  std::string downloads_dir;  // where tarballs are kept while they are installed
  std::string files_dir;      // a directory of the host that programs see as ./files; "": none
  size_t environment_limit = 96u << 10;  // env and args together: what the kernel takes safely
};

}  // namespace belljar::tools
