#include "drivers/docker/images.h"

#include <fnmatch.h>

#include <algorithm>

#include "sandbox/run.h"

namespace belljar::docker {

namespace {

constexpr size_t kMostVersions = 256;

bool is_offered(const std::vector<std::string>& patterns, const std::string& name) {
  return std::any_of(patterns.begin(), patterns.end(), [&name](const std::string& pattern) {
    return ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
  });
}

// As official images say it.
std::string version_in(const std::vector<std::string>& environment) {
  constexpr std::string_view kName = "NODE_VERSION=";
  for (const std::string& variable : environment) {
    if (variable.starts_with(kName)) return variable.substr(kName.size());
  }
  return "";
}

bool is_version(const std::string& text) {
  return !text.empty() && text.size() < 32 &&
         text.find_first_not_of("0123456789.") == std::string::npos;
}

}  // namespace

DockerImages::DockerImages(DockerDriver& driver, ImagePolicy policy)
    : driver_{driver}, policy_{std::move(policy)} {}

Task<Image> DockerImages::resolve(std::string name,
                                  std::function<void(std::string_view)> progress) {
  if (!is_offered(policy_.offered, name)) {
    fail(Code::invalid, "the image \"{}\" is not offered; offered are: {} (setting docker-images)",
         name, fmt::join(policy_.offered, ", "));
  }
  co_await driver_.get_ready();
  auto details = co_await driver_.engine().inspect_image(name);
  if (!details && policy_.pull == ImagePolicy::Pull::missing) {
    const PullLimits limits;
    details = co_await driver_.engine().pull(name, limits, std::move(progress));
  }
  if (!details) {
    fail(
        Code::not_found,
        "the engine does not have the image \"{}\": pull it there (docker pull {}), or let belljar "
        "do so (docker-pull = true)",
        name, name);
  }
  driver_.know_image(*details);
  Image image;
  image.id = details->id;
  image.node_version = co_await node_version(name, *details);
  image.name = std::move(name);
  image.prefix = "/usr/local";
  co_return image;
}

Task<std::string> DockerImages::node_version(std::string name, const ImageDetails& details) {
  const auto known = versions_.find(details.id);
  if (known != versions_.end()) co_return known->second;
  std::string version = version_in(details.env);
  if (!is_version(version)) {
    SandboxSpec spec;
    spec.image = {name, "", "/usr/local", details.id};
    Command command;
    command.argv = {node_path(spec.image), "-p", "process.versions.node"};
    const auto sandbox = co_await driver_.create(std::move(spec));
    const RunLimits limits;
    const RunResult result = co_await run_program(*sandbox, std::move(command), limits, nullptr);
    version = result.out.text.substr(0, result.out.text.find('\n'));
    co_await sandbox->destroy();
  }
  if (!is_version(version)) {
    fail(Code::not_found, "the image \"{}\" has a Node.js that does not tell its version", name);
  }
  if (versions_.size() >= kMostVersions) versions_.clear();
  versions_[details.id] = version;
  co_return version;
}

}  // namespace belljar::docker
