#include "drivers/docker/package_links.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/posix.h"
#include "base/testing.h"

namespace belljar::docker {
namespace {

class PackageLinks : public testing::Test {
 protected:
  void write(const TemporaryDirectory& place, const std::string& name, const std::string& text) {
    const std::filesystem::path path = place.path() + "/" + name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream{path} << text;
  }
  void link() {
    std::vector<Fd> directories;
    directories.push_back(open_directory(first_.path()));
    directories.push_back(open_directory(second_.path()));
    link_packages(directories, open_directory(target_.path()).get());
  }
  std::string shown(const std::string& name) { return read_file(target_.path() + "/" + name); }

  TemporaryDirectory first_, second_, target_;
};

TEST_F(PackageLinks, ShowTheFirstWhereBothHaveSomething) {
  write(first_, "both/index.js", "first");
  write(second_, "both/index.js", "second");
  write(second_, "both/more.js", "more");
  write(second_, "@scope/other/index.js", "other");
  link();
  EXPECT_EQ(shown("both/index.js"), "first");
  EXPECT_EQ(shown("both/more.js"), "more");
  EXPECT_EQ(shown("@scope/other/index.js"), "other");
}

TEST_F(PackageLinks, AreTheSameFiles) {
  write(first_, "one/index.js", "text");
  ::chmod((first_.path() + "/one/index.js").c_str(), 0755);
  link();
  struct stat before {
  }, after{};
  ASSERT_EQ(::stat((first_.path() + "/one/index.js").c_str(), &before), 0);
  ASSERT_EQ(::stat((target_.path() + "/one/index.js").c_str(), &after), 0);
  EXPECT_EQ(before.st_ino, after.st_ino);
}

TEST_F(PackageLinks, AreNotFollowedWhereTheyAreLinks) {
  write(first_, "tool/run.js", "run");
  std::filesystem::create_directories(first_.path() + "/.bin");
  std::filesystem::create_symlink("../tool/run.js", first_.path() + "/.bin/tool");
  std::filesystem::create_symlink("/etc", first_.path() + "/outside");
  link();
  EXPECT_EQ(std::filesystem::read_symlink(target_.path() + "/.bin/tool"), "../tool/run.js");
  EXPECT_EQ(std::filesystem::read_symlink(target_.path() + "/outside"), "/etc");
}

TEST_F(PackageLinks, KeepAFileWhereTheOtherHasADirectory) {
  write(first_, "name", "a file");
  write(second_, "name/index.js", "a directory");
  link();
  EXPECT_EQ(shown("name"), "a file");
}

TEST_F(PackageLinks, AreCopiesOnAnotherFileSystem) {
  TemporaryDirectory memory{"/dev/shm"};
  write(memory, "one/index.js", "from memory");
  std::vector<Fd> directories;
  directories.push_back(open_directory(memory.path()));
  link_packages(directories, open_directory(target_.path()).get());
  EXPECT_EQ(shown("one/index.js"), "from memory");
}

}  // namespace
}  // namespace belljar::docker
