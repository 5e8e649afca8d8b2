#include "tools/shared_files.h"

#include <filesystem>

#include "base/error.h"
#include "files/uri.h"

namespace belljar::tools {

namespace {

constexpr size_t kMaxEntries = 10'000;
constexpr size_t kMaxFiles = 1000;

}  // namespace

std::shared_ptr<const SharedFiles> share_files(const std::string& path, int directory) {
  std::string plain = std::filesystem::absolute(path).lexically_normal().string();
  while (plain.ends_with('/')) plain.pop_back();
  return std::make_shared<SharedFiles>(SharedFiles{std::move(plain), files::Directory{directory}});
}

std::optional<std::string> path_of_uri(const SharedFiles& files, std::string_view uri) {
  try {
    const std::string path = files::parse_file_uri(uri);
    if (!path.starts_with(files.path + "/")) return std::nullopt;
    return files::check_relative_path("uri", std::string_view{path}.substr(files.path.size() + 1));
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::string uri_of_path(const SharedFiles& files, std::string_view path) {
  return files::to_file_uri(fmt::format("{}/{}", files.path, path));
}

FileList list_files(const SharedFiles& files) {
  files::ListOptions options;
  options.recursive = true;
  options.max_entries = kMaxEntries;
  options.max_read = kMaxEntries;  // nobody asks how many more there are
  files::Listing listing = files.directory.list(".", options);
  FileList list;
  for (files::Listing::Entry& entry : listing.entries) {
    if (entry.type == files::Type::directory) list.folders.push_back(std::move(entry.path));
    const bool shown = entry.type == files::Type::file && list.files.size() < kMaxFiles;
    if (shown) list.files.push_back(std::move(entry.path));
  }
  return list;
}

}  // namespace belljar::tools
