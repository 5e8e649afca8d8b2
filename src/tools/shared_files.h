#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "files/directory.h"

namespace belljar::tools {

// FILES_DIR: the directory of the host that programs see as ./files. Shared with work on the
// blocking pool, so it never changes.
struct SharedFiles {
  std::string path;  // absolute, without a slash at its end; "" is the root of the file system
  files::Directory directory;
};

// `path` is for URIs and people; everything is looked up beneath the open directory, which is
// duplicated.
std::shared_ptr<const SharedFiles> share_files(const std::string& path, int directory);

// The path below the directory of the file that a URI means; nothing if it cannot be beneath it.
std::optional<std::string> path_of_uri(const SharedFiles& files, std::string_view uri);

std::string uri_of_path(const SharedFiles& files, std::string_view path);

// What there is, in an order that does not change: the first thousand files, and folders. However
// many there are, only a fixed number of entries is looked at. Links, FIFOs and the like are left
// out. Blocks.
struct FileList {
  std::vector<std::string> files;
  std::vector<std::string> folders;
};
FileList list_files(const SharedFiles& files);

}  // namespace belljar::tools
