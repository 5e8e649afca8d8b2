#include "app/docker_settings.h"

#include <algorithm>

#include "app/setting_kinds.h"

namespace belljar::app {

namespace {

using Variables = std::vector<std::string>;

// Patterns of image names, separated by commas.
Setting images() {
  const auto set = [](Config& config, const std::string& text) {
    std::vector<std::string> list;
    size_t start = 0;
    while (start <= text.size()) {
      const size_t end = std::min(text.find(',', start), text.size());
      std::string word = text.substr(start, end - start);
      if (word.empty() || word.find_first_of(" \t\n") != std::string::npos) return false;
      list.push_back(std::move(word));
      start = end + 1;
    }
    config.docker.images = std::move(list);
    return true;
  };
  const auto show = [](const Config& config) {
    return fmt::format("{}", fmt::join(config.docker.images, ","));
  };
  return {"docker-images",
          {"BELLJAR_DOCKER_IMAGES"},
          "names of images, with * for anything, such as node:*,ghcr.io/acme/tools:*",
          "the images of the engine that callers may use",
          set,
          show};
}

}  // namespace

std::vector<Setting> docker_settings() {
  std::vector<Setting> rows;
  rows.push_back(choice<DriverName>(
      "driver", Variables{"BELLJAR_DRIVER"},
      "what makes sandboxes: this host's kernel, a Docker or Podman engine, or each its own "
      "images: "
      "node:* this host, others the engine",
      {{"native", DriverName::native}, {"docker", DriverName::docker}, {"both", DriverName::both}},
      &Config::driver));
  rows.push_back(text("docker-host", Variables{"BELLJAR_DOCKER_HOST", "DOCKER_HOST"},
                      "an address such as unix:///run/docker.sock or tcp://127.0.0.1:2376",
                      "where the engine listens, which must run on this host",
                      [](Config& c) -> std::string& { return c.docker.host; }));
  rows.push_back(text("docker-certificates",
                      Variables{"BELLJAR_DOCKER_CERTIFICATES", "DOCKER_CERT_PATH"},
                      "a directory with ca.pem, cert.pem and key.pem",
                      "for an engine at a tcp:// address that speaks TLS",
                      [](Config& c) -> std::string& { return c.docker.certificates; }));
  rows.push_back(text("docker-runtime", Variables{"BELLJAR_DOCKER_RUNTIME"}, "a name such as crun",
                      "the OCI runtime of containers; without it, the engine's own choice",
                      [](Config& c) -> std::string& { return c.docker.runtime; }));
  rows.push_back(images());
  rows.push_back(yes_or_no("docker-pull", Variables{"BELLJAR_DOCKER_PULL"},
                           "images that the engine does not have are pulled",
                           [](Config& c) -> bool& { return c.docker.pull; }));
  rows.push_back(text("docker-config", Variables{"BELLJAR_DOCKER_CONFIG"},
                      "a file such as /root/.docker/config.json",
                      "logins to registries that images are pulled with; without it, none",
                      [](Config& c) -> std::string& { return c.docker.config_file; }));
  rows.push_back(count(
      "docker-warm", Variables{"BELLJAR_DOCKER_WARM"},
      "containers kept ready for the next call, of each kind in use", 0, 64, "",
      [](const Config& c) { return static_cast<int64_t>(c.docker.warm); },
      [](Config& c, int64_t v) { c.docker.warm = static_cast<size_t>(v); }));
  return rows;
}

}  // namespace belljar::app
