#include "tools/sandbox_files.h"

#include "base/error.h"

namespace belljar::tools {

Place find_place(const Context& context, const Lease& lease, const std::string& path) {
  constexpr std::string_view kFiles = "files";
  std::string relative = files::check_relative_path("path", path);
  if (context.files != nullptr && (relative == kFiles || relative.starts_with("files/"))) {
    const auto shared = context.files->shared;
    const size_t skip = std::min(kFiles.size() + 1, relative.size());
    relative.erase(0, skip);
    auto directory = std::make_shared<files::Directory>(shared->directory.handle());
    return {std::move(directory), relative.empty() ? "." : relative, "files/"};
  }
  const int workspace = lease.sandbox().workspace();
  if (workspace < 0) fail(Code::unavailable, "the sandbox was stopped");
  return {std::make_shared<files::Directory>(workspace), std::move(relative), ""};
}

}  // namespace belljar::tools
