#pragma once

#include <string>
#include <vector>

#include "base/fd.h"

// For unit tests only.
namespace belljar::packages {

// A directory of its own for one test, deleted afterwards.
class TestDirectory {
 public:
  TestDirectory();
  ~TestDirectory();
  TestDirectory(const TestDirectory&) = delete;
  TestDirectory& operator=(const TestDirectory&) = delete;

  const std::string& path() const { return path_; }
  std::string write(const std::string& name, const std::string& content,
                    unsigned mode = 0644) const;

 private:
  std::string path_;
};

// One entry of a tarball to be made; anything may be wrong with it.
struct TestEntry {
  std::string path;
  std::string content;
  unsigned mode = 0644;
  unsigned type = 0100000;  // S_IFREG
  std::string link = {};    // target of a symbolic link
  std::string hardlink = {};
};

// A gzipped tar archive with these entries.
std::string make_tarball(const std::vector<TestEntry>& entries);

// "sha512-…" of some bytes.
std::string sha512_integrity(const std::string& bytes);

}  // namespace belljar::packages
