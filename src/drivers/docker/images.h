#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "drivers/docker/driver.h"

namespace belljar::docker {

// Which images callers may use. A caller is not trusted: an image of the operator's may hold what
// is not for everybody, and a registry's may be anything.
struct ImagePolicy {
  enum class Pull { never, missing };
  std::vector<std::string> offered = {"node:*"};  // names, with * for anything
  Pull pull = Pull::never;
};

// The images of the engine as a caller may ask for them.
class DockerImages {
 public:
  DockerImages(DockerDriver& driver, ImagePolicy policy);

  // Pulls it if that is needed and allowed, telling `progress`. Error{invalid} for one that is not
  // offered, Error{not_found} for one that is not there or has no Node.js.
  Task<Image> resolve(std::string name, std::function<void(std::string_view)> progress);

 private:
  Task<std::string> node_version(std::string name, const ImageDetails& details);

  DockerDriver& driver_;
  ImagePolicy policy_;
  std::map<std::string, std::string> versions_;  // by the image's id
};

}  // namespace belljar::docker
