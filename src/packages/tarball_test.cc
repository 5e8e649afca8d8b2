#include "packages/tarball.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/error.h"
#include "base/posix.h"
#include "packages/testing.h"

namespace belljar::packages {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Tarball : public testing::Test {
 protected:
  Unpacked unpack_bytes(const std::string& bytes, const UnpackOptions& options = {}) {
    fs::create_directory(into());
    const Fd file = make_memory_file("tarball", bytes);
    const Fd target{::open(into().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    return unpack_tarball(file.get(), target.get(), options);
  }
  Unpacked unpack(const std::vector<TestEntry>& entries, const UnpackOptions& options = {}) {
    return unpack_bytes(make_tarball(entries), options);
  }
  std::string error_of(const std::vector<TestEntry>& entries, const UnpackOptions& options = {}) {
    fs::remove_all(into());
    try {
      unpack(entries, options);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }
  std::string into() const { return directory_.path() + "/into"; }
  // Files and directories outside the place where the archive belongs.
  size_t strangers() const {
    size_t count = 0;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator{directory_.path()}) ++count;
    return count - 1;
  }
  unsigned mode(const std::string& name) const {
    struct stat status {};
    ::stat((into() + "/" + name).c_str(), &status);
    return status.st_mode & 07777;
  }

  TestDirectory directory_;
};

TEST_F(Tarball, IsUnpackedWithoutItsFirstComponent) {
  const Unpacked done = unpack({{"package/package.json", "{}"}, {"package/lib/deep/a.js", "a"}});
  EXPECT_EQ(done.files, 2u);
  EXPECT_EQ(done.bytes, 3u);
  EXPECT_EQ(read_file(into() + "/package.json"), "{}");
  EXPECT_EQ(read_file(into() + "/lib/deep/a.js"), "a");
}

TEST_F(Tarball, GetsPlainModesWhateverItSaysAndWhateverTheUmaskIs) {
  const mode_t before = ::umask(077);
  unpack({{"p/a", "", 0600}, {"p/b", "", 06777}, {"p/d", "", 0700, S_IFDIR}, {"p/d/c", "", 0100}});
  ::umask(before);
  EXPECT_EQ(mode("a"), 0644u);
  EXPECT_EQ(mode("b"), 0755u);
  EXPECT_EQ(mode("d"), 0755u);
  EXPECT_EQ(mode("d/c"), 0755u);
}

TEST_F(Tarball, KeepsNamesOutsideAscii) {
  unpack({{"p/größe 🚀.txt", "x"}});
  EXPECT_TRUE(fs::exists(into() + "/größe 🚀.txt"));
}

TEST_F(Tarball, LeavesOutWhatIsNotWanted) {
  UnpackOptions options;
  options.wanted = [](std::string_view path) { return path == "bin/node"; };
  EXPECT_EQ(unpack({{"p/bin/node", "n"}, {"p/include/x.h", "x"}}, options).files, 1u);
  EXPECT_FALSE(fs::exists(into() + "/include"));
}

TEST_F(Tarball, RefusesNamesThatLeadOutOfIt) {
  for (const char* path : {"/etc/evil", "//evil", "../evil", "p/../evil", "p/../../evil",
                           "p/a/../../../evil", "..", "p/.."}) {
    EXPECT_THAT(error_of({{path, "x"}}), HasSubstr("not a proper npm package")) << path;
    EXPECT_EQ(strangers(), 0u) << path;
  }
}

TEST_F(Tarball, RefusesStrangeNames) {
  const std::string deep = [] {
    std::string path = "p";
    for (int i = 0; i < 70; ++i) path += "/d";
    return path;
  }();
  for (const std::string& path : {std::string{"p/a\nb"}, std::string{"p/\x1b[31m"},
                                  std::string{"file"}, "p/" + std::string(256, 'a'), deep,
                                  "p/" + std::string(200, 'a') + "/" + std::string(900, 'b')})
    EXPECT_THAT(error_of({{path, "x"}}), HasSubstr("not a proper npm package")) << path;
}

TEST_F(Tarball, LeavesLinksOutAsNpmDoes) {
  const Unpacked unpacked = unpack({{"p/a", "a"},
                                    {"p/link", "", 0777, S_IFLNK, "/etc/passwd"},
                                    {"p/folder", "", 0777, S_IFLNK, ".."},
                                    {"p/folder/b", "b"},
                                    {"p/hard", "", 0644, S_IFREG, "", "p/a"},
                                    {"p/outside", "", 0644, S_IFREG, "", "/etc/passwd"},
                                    {"p/replaced", "old"},
                                    {"p/replaced", "", 0777, S_IFLNK, "a"}});
  EXPECT_EQ(unpacked.files, 3u);
  for (const char* path : {"link", "hard", "outside"})
    EXPECT_FALSE(fs::exists(fs::symlink_status(into() + "/" + path))) << path;
  EXPECT_TRUE(fs::is_directory(fs::symlink_status(into() + "/folder")));
  EXPECT_EQ(read_file(into() + "/folder/b"), "b");
  EXPECT_EQ(read_file(into() + "/replaced"), "old");
  EXPECT_EQ(strangers(), 0u);
}

TEST_F(Tarball, RefusesLinksWhoseOwnNameLeadsOut) {
  for (const char* path : {"../evil", "/evil", "p/../../evil"}) {
    EXPECT_THAT(error_of({{path, "", 0777, S_IFLNK, "a"}}), HasSubstr("not a proper npm package"));
    EXPECT_EQ(strangers(), 0u) << path;
  }
}

TEST_F(Tarball, RefusesDevices) {
  for (const TestEntry& entry : std::vector<TestEntry>{{"p/fifo", "", 0644, S_IFIFO},
                                                       {"p/null", "", 0644, S_IFCHR},
                                                       {"p/disk", "", 0644, S_IFBLK}})
    EXPECT_THAT(error_of({entry}), HasSubstr("neither file nor directory")) << entry.path;
}

TEST_F(Tarball, KeepsNamesApartThatDifferInCaseOnly) {
  unpack({{"p/Readme", "1"}, {"p/README", "2"}, {"p/Lib/a", "3"}, {"p/lib/a", "4"}});
  EXPECT_EQ(read_file(into() + "/Readme") + read_file(into() + "/README"), "12");
  EXPECT_EQ(read_file(into() + "/Lib/a") + read_file(into() + "/lib/a"), "34");
}

TEST_F(Tarball, TakesTheLastOfFilesOfTheSameName) {
  const Unpacked unpacked = unpack({{"p/a", "one"}, {"p/b", "x"}, {"p/a", "2", 0755}});
  EXPECT_EQ(unpacked.files, 2u);
  EXPECT_EQ(read_file(into() + "/a"), "2");
}

TEST_F(Tarball, RefusesAFileAsADirectory) {
  EXPECT_THAT(error_of({{"p/a", "1"}, {"p/a/b", "2"}}), HasSubstr("as a directory"));
  EXPECT_THAT(error_of({{"p/a/b", "1"}, {"p/a", "2"}}), HasSubstr("as a file and as a directory"));
}

TEST_F(Tarball, DoesNotFollowALinkThatAlreadyWaits) {
  fs::create_directory(into());
  fs::create_symlink(directory_.path(), into() + "/lib");
  EXPECT_THROW(unpack({{"p/lib/evil", "x"}}), Error);
  EXPECT_EQ(strangers(), 0u);
  fs::create_symlink(directory_.path() + "/evil", into() + "/a");
  EXPECT_THROW(unpack({{"p/a", "x"}}), Error);
  EXPECT_EQ(strangers(), 0u);
}

TEST_F(Tarball, StopsAtItsLimits) {
  UnpackOptions options;
  options.max_entries = 2;
  EXPECT_THAT(error_of({{"p/a", ""}, {"p/b", ""}, {"p/c", ""}}, options), HasSubstr("2 entries"));
  options = {};
  options.max_bytes = 1u << 20;
  const std::string bomb(2u << 20, '\0');
  EXPECT_LT(make_tarball({{"p/bomb", bomb}}).size(), 10'000u);
  EXPECT_THAT(error_of({{"p/bomb", bomb}}, options), HasSubstr("more than 1 MiB"));
  options.wanted = [](std::string_view) { return false; };
  EXPECT_THAT(error_of({{"p/bomb", bomb}}, options), HasSubstr("more than 1 MiB"));
}

TEST_F(Tarball, RefusesADamagedOrForeignArchive) {
  const std::string good = make_tarball({{"p/a", std::string(100'000, 'a') + "b"}});
  EXPECT_THROW(unpack_bytes(good.substr(0, good.size() / 2)), Error);
  EXPECT_THROW(unpack_bytes("PK\x03\x04 this is no tarball"), Error);
  EXPECT_THROW(unpack_bytes("<html>captive portal</html>"), Error);
}

std::string read_error(const std::vector<TestEntry>& entries) {
  const Fd file = make_memory_file("tarball", make_tarball(entries));
  try {
    read_tarball(file.get(), {}, {});
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(TarballInMemory, KeepsWhatIsWantedUpToTheLimits) {
  const Fd file = make_memory_file(
      "tarball", make_tarball({{"p/a", "12345"}, {"p/b/c", "123"}, {"p/d", "12"}, {"p/no", "x"}}));
  UnpackOptions options;
  options.wanted = [](std::string_view path) { return path != "no"; };
  const auto files = read_tarball(file.get(), options, ReadLimits{4, 6});
  EXPECT_EQ(files.size(), 3u);
  EXPECT_EQ(files.at("a").content, "1234");
  EXPECT_EQ(files.at("a").size, 5u);
  EXPECT_EQ(files.at("b/c").content, "12");
  EXPECT_EQ(files.at("d").content, "");
  EXPECT_EQ(files.at("d").size, 2u);
}

TEST(TarballInMemory, HasTheSameChecksAsOneOnDisk) {
  EXPECT_THAT(read_error({{"p/../../evil", "x"}}), HasSubstr("leads out of its directory"));
  EXPECT_THAT(read_error({{"p/fifo", "", 0644, S_IFIFO}}), HasSubstr("neither file nor directory"));
  EXPECT_EQ(read_error({{"p/l", "", 0777, S_IFLNK, "/etc/passwd"}}), "no error");
}

}  // namespace
}  // namespace belljar::packages
