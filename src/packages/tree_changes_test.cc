#include "packages/tree_changes.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/error.h"
#include "base/posix.h"
#include "base/sha256.h"
#include "packages/store_files.h"
#include "packages/testing.h"

namespace belljar::packages {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing::UnorderedElementsAre;

// A tree of two files and a link, and another one that shares its files, as a program sees them.
class TreeChangesTest : public testing::Test {
 protected:
  TreeChangesTest() {
    for (const char* name : {"/original/a", "/original/.bin", "/changed"})
      make_directories(directory_.path() + name);
    add("a/index.js", "one");
    add("a/cli.js", "two");
    fs::create_symlink("../a/cli.js", original() + ".bin/a");
    manifest_.links.push_back({".bin/a", "../a/cli.js"});
    fs::copy(original(), changed(),
             fs::copy_options::recursive | fs::copy_options::create_hard_links |
                 fs::copy_options::copy_symlinks);
  }

  void add(const std::string& path, const std::string& text) {
    directory_.write("original/" + path, text);
    Sha256 hash;
    hash.add(text);
    manifest_.files.push_back({path, text.size(), hash.finish(), false});
  }
  void write(const std::string& path, const std::string& text, unsigned mode = 0644) const {
    fs::remove(changed() + path);  // the file itself is the original's, too
    fs::create_directories(fs::path{changed() + path}.parent_path());
    directory_.write("changed/" + path, text, mode);
  }

  TreeChanges collect(const ChangeLimits& limits = {}) const {
    const Fd changed_tree = open_directory(changed());
    const Fd original_tree = open_directory(original());
    fs::remove_all(directory_.path() + "/contents");
    make_directory(directory_.path() + "/contents");
    const Fd contents = open_directory_to_read(directory_.path() + "/contents");
    return collect_changes(changed_tree.get(), original_tree.get(), manifest_, contents.get(),
                           limits);
  }
  std::string error_of(const ChangeLimits& limits) const {
    try {
      collect(limits);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::exhausted);
      return error.what();
    }
    return "";
  }

  std::string original() const { return directory_.path() + "/original/"; }
  std::string changed() const { return directory_.path() + "/changed/"; }
  std::string content(int number) const {
    return directory_.path() + "/contents/" + std::to_string(number);
  }

  TestDirectory directory_;
  TreeManifest manifest_;
};

TEST_F(TreeChangesTest, OfNothingAreNone) {
  EXPECT_TRUE(collect().empty());
}

TEST_F(TreeChangesTest, AreNotThatAFileWasWrittenAgainAsItWas) {
  write("a/index.js", "one");
  fs::create_directories(changed() + "empty/inner");
  EXPECT_TRUE(collect().empty());
  EXPECT_TRUE(fs::is_empty(directory_.path() + "/contents"));
}

TEST_F(TreeChangesTest, AreFilesWithTheirContentAndWhetherTheyAreExecutable) {
  write("a/build/new.node", "binary", 0700);
  write("a/index.js", "ONE");
  const TreeChanges changes = collect();
  ASSERT_THAT(changes.files, SizeIs(2));
  const bool first = changes.files[0].path == "a/index.js";
  EXPECT_EQ(changes.files[first ? 1 : 0].path, "a/build/new.node");
  EXPECT_TRUE(changes.files[first ? 1 : 0].executable);
  EXPECT_FALSE(changes.files[first ? 0 : 1].executable);
  EXPECT_EQ(read_file(content(first ? 0 : 1)), "ONE");
  EXPECT_EQ(read_file(content(first ? 1 : 0)), "binary");
  EXPECT_THAT(changes.replaced, ElementsAre("a/index.js"));
  EXPECT_EQ(read_file(original() + "a/index.js"), "one");
}

TEST_F(TreeChangesTest, AreModesAndThatSomethingIsGone) {
  write("a/cli.js", "two", 0755);
  fs::remove(changed() + "a/index.js");
  fs::remove(changed() + ".bin/a");
  const TreeChanges changes = collect();
  ASSERT_THAT(changes.files, SizeIs(1));
  EXPECT_TRUE(changes.files[0].executable);
  EXPECT_THAT(changes.replaced, ElementsAre(".bin/a", "a/cli.js", "a/index.js"));
}

TEST_F(TreeChangesTest, DropSpecialBits) {
  write("a/tool", "x", 0755);
  ASSERT_EQ(::chmod((changed() + "a/tool").c_str(), 06755), 0);
  EXPECT_THAT(collect().files, SizeIs(1));
  struct stat status {};
  ASSERT_EQ(::stat(content(0).c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0755u);
}

TEST_F(TreeChangesTest, AreLinksThatStayWithin) {
  for (const auto& [name, target] : {std::pair{"a/up", "../.."}, std::pair{"a/out", "../../x"},
                                     std::pair{"a/root", "/etc/passwd"}, std::pair{"top", ".."}})
    fs::create_symlink(target, changed() + name);
  fs::create_symlink("../a", changed() + "a/self");
  fs::remove(changed() + ".bin/a");
  fs::create_symlink("../a/index.js", changed() + ".bin/a");
  const TreeChanges changes = collect();
  std::vector<std::string> links;
  for (const TreeLink& link : changes.links) links.push_back(link.path + " " + link.target);
  EXPECT_THAT(links, UnorderedElementsAre("a/self ../a", ".bin/a ../a/index.js"));
  EXPECT_THAT(changes.left_out, SizeIs(4));
  EXPECT_THAT(changes.replaced, ElementsAre(".bin/a"));
}

TEST_F(TreeChangesTest, LeaveOutWhatIsNoFile) {
  ASSERT_EQ(::mkfifo((changed() + "a/fifo").c_str(), 0644), 0);
  write("a/new\nline", "x");
  write("a/\xff", "x");
  fs::remove(changed() + "a/index.js");
  fs::create_symlink("/etc/passwd", changed() + "a/index.js");
  const TreeChanges changes = collect();
  EXPECT_TRUE(changes.files.empty());
  EXPECT_TRUE(changes.links.empty());
  EXPECT_THAT(
      changes.left_out,
      UnorderedElementsAre(HasSubstr("a/fifo is neither"), HasSubstr("a/new?line has a name"),
                           HasSubstr("has a name"), HasSubstr("leads out")));
  EXPECT_THAT(changes.replaced, ElementsAre("a/index.js"));
}

TEST_F(TreeChangesTest, HaveLimits) {
  for (int i = 0; i < 12; ++i) write("many/" + std::to_string(i), "1234");
  EXPECT_EQ(error_of({13, 48}), "");
  EXPECT_THAT(error_of({12, 48}), HasSubstr("more than 12 files"));
  EXPECT_THAT(error_of({13, 47}), HasSubstr("files of more than 47"));
  for (int i = 0; i < 12; ++i) fs::create_directory(changed() + "d" + std::to_string(i));
  EXPECT_THAT(error_of({13, 48}), HasSubstr("more than 13 files"));
}

TEST(StaysWithin, FollowsTheWords) {
  EXPECT_TRUE(stays_within("a/b/c", "../../x"));
  EXPECT_TRUE(stays_within("a", "b/./c"));
  EXPECT_FALSE(stays_within("a", "b/../../c"));
  EXPECT_FALSE(stays_within("a/b", "../../x/.."));
  EXPECT_FALSE(stays_within("a", "/a"));
  EXPECT_FALSE(stays_within("a", ""));
}

}  // namespace
}  // namespace belljar::packages
