#include "packages/layer_tree.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <set>

#include "base/error.h"
#include "base/posix.h"
#include "packages/beneath.h"
#include "packages/store_files.h"

namespace belljar::packages {
namespace {

constexpr uint64_t kDirectoryBytes = 4096;

// The files of one directory follow each other, so it is opened once.
class OpenDirectory {
 public:
  void begin(int root) {
    root_ = root;
    fd_.reset();
  }
  int at(std::string_view path) {
    if (path.empty()) return root_;
    if (fd_ && path == path_) return fd_.get();
    path_ = path;
    fd_.reset(sys(open_beneath(root_, path_.c_str(), O_PATH | O_DIRECTORY), "open {}", path_));
    return fd_.get();
  }

 private:
  int root_ = -1;
  std::string path_;
  Fd fd_;
};

class Writer {
 public:
  Writer(const StoreDirectory& store, const LayerPlan& plan, const std::string& directory)
      : store_{store}, plan_{plan}, root_{open_directory_to_read(directory)} {
    to_.begin(root_.get());
  }

  uint64_t write() {
    for (const LayerPlan::File& file : plan_.files) {
      if (file.package == LayerPlan::kMoved) {
        move(file);
      } else if (file.package != LayerPlan::kOfNoPackage) {
        add_file(file);
      }
    }
    for (const TreeLink& link : plan_.links) {
      const int to = directory(directory_of(link.path));
      const std::string name{base_name(link.path)};
      sys(::symlinkat(link.target.c_str(), to, name.c_str()), "create {}", link.path);
    }
    for (const LayerPlan::File& file : plan_.files)
      if (file.package == LayerPlan::kOfNoPackage) add_text(file);
    return own_disk_bytes_;
  }

 private:
  void make_directories_to(std::string_view path) {
    if (path.empty() || made_.contains(path)) return;
    make_directories_to(directory_of(path));
    const std::string name{path};
    const bool is_made = ::mkdirat(root_.get(), name.c_str(), 0755) == 0;
    if (!is_made && errno != EEXIST) fail_errno(errno, "create " + name);
    if (made_.empty()) {
      struct stat status {};
      sys(::fstatat(root_.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW), "look at {}", name);
      must_set_modes_ = (status.st_mode & 0777) != 0755;
    }
    if (must_set_modes_ && is_made)  // else it may be a link
      sys(::fchmodat(root_.get(), name.c_str(), 0755, 0), "set the mode of {}", name);
    made_.insert(name);
    own_disk_bytes_ += kDirectoryBytes;
  }

  int directory(std::string_view path) {
    make_directories_to(path);
    return to_.at(path);
  }

  int source_directory(const LayerPlan::File& file) {
    if (!source_ || file.package != package_) {
      package_ = file.package;
      source_ = open_directory(store_.content(plan_.packages[package_].content) + "/files");
      from_.begin(source_.get());
    }
    return from_.at(directory_of(file.source));
  }

  void add_file(const LayerPlan::File& file) {
    const int from = source_directory(file);
    const int to = directory(directory_of(file.file.path));
    const std::string name{base_name(file.source)};
    if (file.is_made_executable) return copy(file, from, to);
    if (::linkat(from, name.c_str(), to, name.c_str(), 0) == 0) return;
    // Too many links, none of this user's files, or a file system without any.
    if (errno != EMLINK && errno != EXDEV && errno != EPERM && errno != EOPNOTSUPP)
      fail_errno(errno, "link " + file.file.path);
    copy(file, from, to);
  }

  void copy(const LayerPlan::File& planned, int from, int to) {
    const UnpackedFile& file = planned.file;
    const std::string name{base_name(planned.source)};
    const unsigned mode = file.executable ? 0755 : 0644;
    const Fd source{sys(open_beneath(from, name.c_str(), O_RDONLY), "open {}", file.path)};
    own_disk_bytes_ += in_blocks(file.size);
    if (planned.is_made_executable && file.size <= kLargestProgram)
      return write_new_file(to, name.c_str(), program_text(source.get(), file.path), mode);
    const Fd target{sys(open_beneath(to, name.c_str(), O_WRONLY | O_CREAT | O_EXCL, mode),
                        "create {}", file.path)};
    sys(::fchmod(target.get(), mode), "set the mode of {}", file.path);
    copy_file(source.get(), target.get());
  }

  void move(const LayerPlan::File& file) {
    const int to = directory(directory_of(file.file.path));
    const std::string name{base_name(file.file.path)};
    sys(::renameat2(AT_FDCWD, file.source.c_str(), to, name.c_str(), RENAME_NOREPLACE), "move {}",
        file.file.path);
    own_disk_bytes_ += in_blocks(file.file.size);
  }

  void add_text(const LayerPlan::File& file) {
    const std::string name{base_name(file.file.path)};
    write_new_file(directory(directory_of(file.file.path)), name.c_str(), file.source, 0644);
    own_disk_bytes_ += in_blocks(file.source.size());
  }

  const StoreDirectory& store_;
  const LayerPlan& plan_;
  Fd root_;
  bool must_set_modes_ = false;  // the umask takes rights away
  std::set<std::string, std::less<>> made_;
  OpenDirectory to_;
  size_t package_ = LayerPlan::kOfNoPackage;  // whose directory is `source_`
  Fd source_;
  OpenDirectory from_;
  uint64_t own_disk_bytes_ = 0;
};

}  // namespace

uint64_t write_tree(const StoreDirectory& store, const LayerPlan& plan,
                    const std::string& directory) {
  return Writer{store, plan, directory}.write();
}

}  // namespace belljar::packages
