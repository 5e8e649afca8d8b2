#pragma once

#include <string>
#include <vector>

#include "base/fd.h"

namespace belljar::files {

struct ArchiveFile {
  std::string path;  // as check_relative_path() returns it; any bytes
  std::string content;
  bool executable = false;
};

// A tar archive of these files as a sealed memory file, positioned at its start: standard input for
// `tar -x` in a sandbox. tar makes the directories that the paths need. The archive names nobody as
// owner; unpack it with --no-same-owner.
Fd make_archive(const std::vector<ArchiveFile>& files);

}  // namespace belljar::files
