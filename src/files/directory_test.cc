#include "files/directory.h"

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

#include "files/testing.h"

namespace belljar::files {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

void expect_denied(const Directory& directory, const std::string& path, const std::string& why) {
  const Error error = error_of([&] { directory.read(path, 0, 100); });
  EXPECT_EQ(error.code(), Code::denied) << path;
  EXPECT_THAT(error.what(), HasSubstr(why)) << path;
}

std::vector<std::string> paths(const Listing& listing) {
  std::vector<std::string> paths;
  for (const auto& entry : listing.entries) paths.push_back(entry.path);
  return paths;
}

TEST(Directory, ReadsAFileBeneathIt) {
  const TestDirectory test;
  test.make_directory("a");
  test.write("a/b.txt", "hello");
  const Directory directory = test.directory();
  EXPECT_EQ(directory.read("a/b.txt", 0, 100), "hello");
  EXPECT_EQ(directory.open_directory("a").read("b.txt", 1, 3), "ell");
  EXPECT_EQ(directory.read("a/b.txt", 5, 3), "");
  EXPECT_EQ(directory.read("a/b.txt", UINT64_MAX, 3), "");
  EXPECT_EQ(directory.look("a/b.txt")->size, 5u);
  EXPECT_EQ(directory.look("a")->type, Type::directory);
}

TEST(Directory, KeepsItsOwnHandle) {
  const TestDirectory test;
  test.write("a", "x");
  Fd handle = belljar::open_directory(test.path());
  const Directory directory{handle.get()};
  handle.reset();
  EXPECT_EQ(directory.read("a", 0, 1), "x");
  EXPECT_NE(::fcntl(directory.handle(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST(Directory, SaysThatANameDoesNotExist) {
  const TestDirectory test;
  test.write("file", "x");
  const Directory directory = test.directory();
  EXPECT_EQ(directory.look("nope"), std::nullopt);
  for (const std::string path : {"nope", "nope/x", "file/x"}) {
    const Error error = error_of([&] { directory.open_file(path); });
    EXPECT_EQ(error.code(), Code::not_found) << path;
  }
  EXPECT_EQ(error_of([&] {
              directory.open_file(std::string{"file\0x", 6});
            }).code(),
            Code::not_found);
}

TEST(Directory, FollowsNoLink) {  // HF01, HF02, HF04
  const TestDirectory test;
  test.make_directory("d");
  test.write("d/inside", "x");
  test.link_to("/etc/passwd", "absolute");
  test.link_to("../../../../../../etc/passwd", "relative");
  test.link_to("/proc/self/root/etc/passwd", "magic");
  test.link_to("/proc/self/environ", "environ");
  test.link_to("d/inside", "harmless");
  test.link_to("/etc", "etc");
  test.link_to("d", "d2");
  test.link_to("loop", "loop");
  const Directory directory = test.directory();
  for (const std::string name : {"absolute", "relative", "magic", "environ", "harmless", "loop"}) {
    expect_denied(directory, name, "is a symbolic link, not a file");
    EXPECT_EQ(directory.look(name)->type, Type::symlink);
  }
  expect_denied(directory, "etc/passwd", "leads through a symbolic link");
  expect_denied(directory, "d2/inside", "leads through a symbolic link");
  EXPECT_EQ(directory.look("etc/passwd"), std::nullopt);
  EXPECT_EQ(error_of([&] { directory.open_directory("etc"); }).code(), Code::denied);
  EXPECT_EQ(error_of([&] { directory.list("d2", {}); }).code(), Code::denied);
}

TEST(Directory, StaysBeneathItsStart) {
  const TestDirectory test;
  test.make_directory("d");
  test.write("secret", "x");
  const Directory directory = test.directory().open_directory("d");
  expect_denied(directory, "../secret", "leads out of its directory");
  expect_denied(directory, test.path("secret"), "leads out of its directory");
}

TEST(Directory, DoesNotCrossToAnotherFileSystem) {
  const Directory root{belljar::open_directory("/")};
  expect_denied(root, "proc/self/environ", "another file system");
  EXPECT_EQ(error_of([&] { root.open_directory("proc"); }).code(), Code::denied);
}

TEST(Directory, RefusesWhatIsNoRegularFileAndDoesNotWaitForIt) {  // HF05, HF06
  const TestDirectory test;
  sys(::mkfifo(test.path("fifo").c_str(), 0644), "mkfifo");
  const Fd listener{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  test.path("socket").copy(address.sun_path, sizeof(address.sun_path) - 1);
  sys(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), "bind");
  test.make_directory("directory");
  const Directory directory = test.directory();
  expect_denied(directory, "fifo", "is a FIFO, not a file");
  expect_denied(directory, "socket", "is a socket, not a file");
  expect_denied(directory, "directory", "is a directory, not a file");
  expect_denied(directory, ".", "is a directory, not a file");
  if (::mknod(test.path("whiteout").c_str(), S_IFCHR | 0600, makedev(0, 0)) == 0) {
    expect_denied(directory, "whiteout", "is a device, not a file");
  }
  EXPECT_EQ(error_of([&] { directory.list("fifo", {}); }).code(), Code::denied);
}

TEST(Directory, StaysWithADirectoryThatIsRenamed) {  // HF09
  const TestDirectory test;
  test.make_directory("a");
  test.write("a/x", "mine");
  const Directory directory = test.directory().open_directory("a");
  test.rename("a", "b");
  test.make_directory("a");
  test.write("a/x", "other");
  EXPECT_EQ(directory.read("x", 0, 100), "mine");
  test.remove("b");
  EXPECT_EQ(directory.look("x"), std::nullopt);
}

TEST(Directory, ReadsNoMoreThanTheLimitOfAHugeFile) {  // HF10, HF12
  const TestDirectory test;
  test.write("huge", "start");
  constexpr off_t kSize = 8ll << 40;
  if (::truncate(test.path("huge").c_str(), kSize) != 0) GTEST_SKIP() << "no sparse files here";
  const Directory directory = test.directory();
  EXPECT_EQ(directory.look("huge")->size, static_cast<uint64_t>(kSize));
  EXPECT_EQ(directory.read("huge", 0, 5), "start");
  EXPECT_EQ(directory.read("huge", kSize - 10, 1000).size(), 10u);
  EXPECT_EQ(directory.read("huge", 0, 3u << 20).size(), 3u << 20);
}

TEST(Directory, ReadsWhatIsThereWhenAFileGrowsOrShrinks) {  // HF10
  const TestDirectory test;
  test.write("f", "0123456789");
  const File file = test.directory().open_file("f");
  test.write("f", "0123");
  EXPECT_EQ(read_range(file.fd.get(), 0, 10), "0123");
  EXPECT_EQ(read_range(file.fd.get(), 8, 10), "");
  test.write("f", std::string(100, 'x'));
  EXPECT_EQ(read_range(file.fd.get(), 0, 10).size(), 10u);
  EXPECT_EQ(file.info.size, 10u);
}

TEST(Directory, TakesTimesOfAnyCentury) {  // HF28
  const TestDirectory test;
  for (const time_t seconds :
       {time_t{-2'147'483'648}, time_t{4'294'967'295}, time_t{15'000'000'000}}) {
    test.write("f", "x");
    const timespec times[2] = {{seconds, 0}, {seconds, 999'999'999}};
    sys(::utimensat(AT_FDCWD, test.path("f").c_str(), times, 0), "utimensat");
    struct stat status {};
    sys(::stat(test.path("f").c_str(), &status), "stat");
    EXPECT_EQ(test.directory().look("f")->mtime.tv_sec, status.st_mtim.tv_sec);
  }
}

TEST(Directory, ListsInOrderWithTypesAndSizes) {
  const TestDirectory test;
  test.write("b", "12345");
  test.make_directory("a");
  test.write("a/z", "1");
  test.make_directory("a/empty");
  test.link_to("/etc", "link");
  const Listing flat = test.directory().list(".", {});
  EXPECT_THAT(paths(flat), ElementsAre("a", "b", "link"));
  EXPECT_EQ(flat.entries[0].type, Type::directory);
  EXPECT_EQ(flat.entries[1].size, 5u);
  EXPECT_EQ(flat.entries[2].type, Type::symlink);
  const Listing deep = test.directory().list(".", {.recursive = true});
  EXPECT_THAT(paths(deep), ElementsAre("a", "a/empty", "a/z", "b", "link"));
  EXPECT_EQ(deep.more, 0u);
  EXPECT_TRUE(deep.more_is_exact);
  EXPECT_THAT(paths(test.directory().list("a", {})), ElementsAre("empty", "z"));
}

TEST(Directory, CountsWhatItDoesNotList) {
  const TestDirectory test;
  test.make_directory("d");
  for (int i = 0; i < 30; ++i) test.write(fmt::format("d/{:02}", i), "");
  const Listing listing = test.directory().list(".", {.recursive = true, .max_entries = 11});
  EXPECT_EQ(listing.entries.size(), 11u);
  EXPECT_EQ(listing.entries.back().path, "d/09");
  EXPECT_EQ(listing.more, 20u);
  EXPECT_TRUE(listing.more_is_exact);
}

TEST(Directory, ListsNoDeeperThanAsked) {
  const TestDirectory test;
  test.make_directory("a");
  test.make_directory("a/b");
  test.make_directory("a/b/c");
  const Listing listing = test.directory().list(".", {.recursive = true, .max_depth = 2});
  EXPECT_THAT(paths(listing), ElementsAre("a", "a/b"));
  EXPECT_FALSE(listing.more_is_exact);
}

TEST(Directory, ListsNamesOfAnyBytes) {  // HF13, HF14
  const TestDirectory test;
  const std::string odd[] = {"\n", "\x1b[31m", "\xff\xfe", "a\\b", std::string(255, 'x'),
                             "~",  "-rf"};
  for (const std::string& name : odd) test.write(name, "1");
  const Listing listing = test.directory().list(".", {});
  EXPECT_THAT(paths(listing), testing::UnorderedElementsAreArray(odd));
  for (const std::string& name : odd) EXPECT_EQ(test.directory().read(name, 0, 9), "1");
}

TEST(CheckRelativePath, GivesTheShortestForm) {
  EXPECT_EQ(check_relative_path("path", "a/b"), "a/b");
  EXPECT_EQ(check_relative_path("path", "./a//b/./c/"), "a/b/c");
  EXPECT_EQ(check_relative_path("path", "."), ".");
  EXPECT_EQ(check_relative_path("path", "./"), ".");
  EXPECT_EQ(check_relative_path("path", "~"), "~");
  EXPECT_EQ(check_relative_path("path", "..."), "...");
  EXPECT_EQ(check_relative_path("path", " "), " ");
}

TEST(CheckRelativePath, RefusesWhatIsNoRelativePathAndNamesTheArgument) {
  const std::string bad[] = {"",
                             "/",
                             "/etc/passwd",
                             "..",
                             "a/../b",
                             "a/..",
                             "./../x",
                             std::string{"a\0b", 3},
                             std::string(256, 'a'),
                             std::string(5000, '/').replace(0, 1, "a")};
  for (const std::string& path : bad) {
    const Error error = error_of([&] { check_relative_path("files[3].path", path); });
    EXPECT_EQ(error.code(), Code::invalid) << path;
    EXPECT_THAT(error.what(), HasSubstr("argument \"files[3].path\"")) << path;
    EXPECT_LT(std::string{error.what()}.size(), 300u);
  }
}

}  // namespace
}  // namespace belljar::files
