#pragma once

#include <set>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "packages/tree_manifest.h"

namespace belljar::packages {

// A directory tree that is being made out of links to files of the store. Nobody else can reach it
// yet. Blocks.
class LayerTree {
 public:
  explicit LayerTree(const std::string& directory);

  // Files of a package, as hard links, copies where the file system refuses one more.
  //   `only_if`   which ones
  //   `programs`  those to be executable, by their path in the tree
  template <class Wanted>
  void add_package(int source, const TreeManifest& files, const std::string& path,
                   const std::set<std::string, std::less<>>& programs, const Wanted& only_if) {
    begin_package(source, path);
    for (const UnpackedFile& file : files.files)
      if (only_if(file.path)) add_file(file, programs);
  }

  void add_link(const std::string& path, const std::string& target);
  void add_text(const std::string& path, std::string_view content);

  bool has_file(const std::string& path) const { return paths_.contains(path); }

  // What it holds, sorted.
  TreeManifest finish();
  uint64_t own_disk_bytes() const { return own_disk_bytes_; }

 private:
  void begin_package(int source, const std::string& path);
  void add_file(const UnpackedFile& file, const std::set<std::string, std::less<>>& programs);
  void copy(const UnpackedFile& file, int from, int to, bool executable);
  int source_directory(std::string_view path);
  int directory(std::string_view path);
  void make_directories_to(std::string_view path);

  Fd root_;
  bool must_set_modes_ = false;  // the umask takes rights away
  std::set<std::string, std::less<>> made_;
  std::set<std::string, std::less<>> paths_;
  std::string path_;  // of the open directory
  Fd directory_;
  int source_ = -1;
  std::string prefix_;       // of the package
  std::string source_path_;  // of the open directory of the package
  Fd source_directory_;
  TreeManifest manifest_;
  uint64_t own_disk_bytes_ = 0;
};

}  // namespace belljar::packages
