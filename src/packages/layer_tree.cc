#include "packages/layer_tree.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/posix.h"
#include "base/sha256.h"
#include "packages/beneath.h"
#include "packages/store_files.h"

namespace belljar::packages {
namespace {

constexpr uint64_t kDirectoryBytes = 4096;
constexpr size_t kLargestProgram = 16u << 20;

// "#!/usr/bin/env node\r\n" does not start; npm mends it, and so do we.
std::string with_unix_first_line(std::string text) {
  const size_t end = text.find('\n');
  if (text.starts_with("#!") && end != std::string::npos && end > 2 && text[end - 1] == '\r')
    text.erase(end - 1, 1);
  return text;
}

}  // namespace

LayerTree::LayerTree(const std::string& directory) : root_{open_directory_to_read(directory)} {}

void LayerTree::make_directories_to(std::string_view path) {
  if (path.empty() || made_.contains(path)) return;
  make_directories_to(directory_of(path));
  const std::string name{path};
  if (::mkdirat(root_.get(), name.c_str(), 0755) != 0 && errno != EEXIST)
    fail_errno(errno, "create " + name);
  struct stat status {};
  if (made_.empty()) {
    sys(::fstatat(root_.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW), "look at {}", name);
    must_set_modes_ = (status.st_mode & 0777) != 0755;
  }
  if (must_set_modes_)
    sys(::fchmodat(root_.get(), name.c_str(), 0755, 0), "set the mode of {}", name);
  made_.insert(name);
  own_disk_bytes_ += kDirectoryBytes;
}

int LayerTree::directory(std::string_view path) {
  if (path.empty()) return root_.get();
  if (directory_ && path == path_) return directory_.get();
  make_directories_to(path);
  path_ = path;
  directory_.reset(sys(open_beneath(root_.get(), path_.c_str(), O_PATH | O_DIRECTORY),
                       "open {} of a layer", path_));
  return directory_.get();
}

void LayerTree::begin_package(int source, const std::string& path) {
  source_ = source;
  prefix_ = path;
  source_directory_.reset();
  make_directories_to(path);
}

int LayerTree::source_directory(std::string_view path) {
  if (path.empty()) return source_;
  if (source_directory_ && path == source_path_) return source_directory_.get();
  source_path_ = path;
  source_directory_.reset(sys(open_beneath(source_, source_path_.c_str(), O_PATH | O_DIRECTORY),
                              "open {} of a package", source_path_));
  return source_directory_.get();
}

void LayerTree::add_file(const UnpackedFile& file,
                         const std::set<std::string, std::less<>>& programs) {
  UnpackedFile added = file;
  added.path = prefix_ + "/" + file.path;
  const int from = source_directory(directory_of(file.path));
  const int to = directory(directory_of(added.path));
  const std::string name{base_name(file.path)};
  paths_.insert(added.path);
  if (!file.executable && programs.contains(added.path)) {
    copy(added, from, to, true);
    return;
  }
  if (::linkat(from, name.c_str(), to, name.c_str(), 0) == 0) {
    manifest_.files.push_back(std::move(added));
    return;
  }
  // Too many links, none of this user's files, or a file system without any.
  if (errno != EMLINK && errno != EXDEV && errno != EPERM && errno != EOPNOTSUPP)
    fail_errno(errno, "link " + added.path);
  copy(added, from, to, file.executable);
}

void LayerTree::copy(const UnpackedFile& file, int from, int to, bool executable) {
  const std::string name{base_name(file.path)};
  const unsigned mode = executable ? 0755 : 0644;
  const Fd source{sys(open_beneath(from, name.c_str(), O_RDONLY), "open {}", file.path)};
  UnpackedFile copied = file;
  copied.executable = executable;
  own_disk_bytes_ += in_blocks(file.size);
  if (executable && !file.executable && file.size <= kLargestProgram) {
    const std::string text =
        with_unix_first_line(read_to_end(source.get(), file.path, kLargestProgram));
    Sha256 hash;
    hash.add(text);
    copied.sha256 = hash.finish();
    copied.size = text.size();
    write_new_file(to, name.c_str(), text, mode);
  } else {
    const Fd target{sys(open_beneath(to, name.c_str(), O_WRONLY | O_CREAT | O_EXCL, mode),
                        "create {}", file.path)};
    sys(::fchmod(target.get(), mode), "set the mode of {}", file.path);
    copy_file(source.get(), target.get());
  }
  manifest_.files.push_back(std::move(copied));
}

void LayerTree::add_link(const std::string& path, const std::string& target) {
  const std::string name{base_name(path)};
  sys(::symlinkat(target.c_str(), directory(directory_of(path)), name.c_str()), "create {}", path);
  manifest_.links.push_back({path, target});
}

void LayerTree::add_text(const std::string& path, std::string_view content) {
  write_new_file(directory(directory_of(path)), std::string{base_name(path)}.c_str(), content,
                 0644);
  Sha256 hash;
  hash.add(content);
  manifest_.files.push_back({path, content.size(), hash.finish(), false});
  own_disk_bytes_ += in_blocks(content.size());
}

TreeManifest LayerTree::finish() {
  manifest_.sort();
  return std::move(manifest_);
}

}  // namespace belljar::packages
