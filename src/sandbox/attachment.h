#pragma once

#include "base/task.h"

namespace belljar {

// Something that belongs to a session sandbox and ends with it.
class Attachment {
 public:
  virtual ~Attachment() = default;

  // Ends it and waits for that. Called once, before the sandbox is destroyed. What lets others in
  // closes on the call already, before anybody awaits the task.
  virtual Task<> stop() = 0;
};

}  // namespace belljar
