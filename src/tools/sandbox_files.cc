#include "tools/sandbox_files.h"

#include <algorithm>

#include "base/error.h"
#include "files/beneath.h"

namespace belljar::tools {

namespace {

constexpr std::string_view kFiles = "files";
constexpr const char* kModules = "node_modules";

bool is_beneath(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

Place place_beneath(int handle, std::string_view path, std::string_view folder) {
  path.remove_prefix(std::min(folder.size() + 1, path.size()));
  return {std::make_shared<files::Directory>(handle), path.empty() ? "." : std::string{path},
          std::string{folder} + "/"};
}

int workspace_of(const Lease& lease) {
  const int workspace = lease.sandbox().workspace();
  if (workspace < 0) fail(Code::unavailable, "the sandbox was stopped");
  return workspace;
}

}  // namespace

Fd open_node_modules(const Lease& lease) {
  return Fd{files::open_mount(workspace_of(lease), kModules)};
}

Place find_place(const Context& context, const Lease& lease, const std::string& path) {
  std::string relative = files::check_relative_path("path", path);
  if (context.files != nullptr && is_beneath(relative, kFiles))
    return place_beneath(context.files->shared->directory.handle(), relative, kFiles);
  if (is_beneath(relative, kModules)) {
    if (const Fd modules = open_node_modules(lease))
      return place_beneath(modules.get(), relative, kModules);
  }
  return {std::make_shared<files::Directory>(workspace_of(lease)), std::move(relative), ""};
}

}  // namespace belljar::tools
