#pragma once

#include <vector>

#include "base/fd.h"

namespace belljar::docker {

// Makes `target`, an empty directory, show what the directories have, the first one wherever two
// have something of a name: directories of its own, and further names of the files (copies, where
// the file system does not allow that). Blocks. The directories must be belljar's own.
void link_packages(const std::vector<Fd>& directories, int target);

}  // namespace belljar::docker
