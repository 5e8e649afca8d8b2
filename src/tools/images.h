#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/task.h"
#include "sandbox/spec.h"

namespace belljar::tools {

// Finds the Node.js for an image name. Implemented over the installed runtimes by the wiring.
class Images {
 public:
  virtual ~Images() = default;

  // Installs the runtime first if that is needed and possible, telling `progress` about it. An
  // unknown name is an Error that lists what there is.
  virtual Task<Image> resolve(std::string name, std::function<void(std::string_view)> progress) = 0;
};

}  // namespace belljar::tools
