#include "files/archive_writer.h"

#include <archive.h>
#include <archive_entry.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>

#include "files/testing.h"

namespace belljar::files {
namespace {

struct Unpacked {
  std::string content;
  unsigned mode;
};

std::map<std::string, Unpacked> unpack(int fd) {
  const std::unique_ptr<archive, decltype(&archive_read_free)> source{archive_read_new(),
                                                                      &archive_read_free};
  archive_read_support_format_tar(source.get());
  EXPECT_EQ(archive_read_open_fd(source.get(), fd, 10240), ARCHIVE_OK);
  std::map<std::string, Unpacked> files;
  archive_entry* entry = nullptr;
  while (archive_read_next_header(source.get(), &entry) == ARCHIVE_OK) {
    std::string content(static_cast<size_t>(archive_entry_size(entry)), '\0');
    EXPECT_EQ(archive_read_data(source.get(), content.data(), content.size()),
              static_cast<la_ssize_t>(content.size()));
    files[archive_entry_pathname(entry)] = {content, archive_entry_perm(entry)};
  }
  return files;
}

TEST(ArchiveWriter, PacksNamesAndContentsOfAnyBytes) {
  const std::string deep = std::string(200, 'a') + "/" + std::string(200, 'b') + "/c";
  const std::string binary = std::string{"\0\xff\n", 3} + std::string(1'000'000, 'x');
  const Fd archive = make_archive({{"a.txt", "hello"},
                                   {"bin/run", "#!/bin/sh\n", true},
                                   {"empty", ""},
                                   {"\xc3\xbc\n\xff", binary},
                                   {deep, "deep"}});
  const auto files = unpack(archive.get());
  ASSERT_EQ(files.size(), 5u);
  EXPECT_EQ(files.at("a.txt").content, "hello");
  EXPECT_EQ(files.at("a.txt").mode, 0644u);
  EXPECT_EQ(files.at("bin/run").mode, 0755u);
  EXPECT_EQ(files.at("empty").content, "");
  EXPECT_EQ(files.at("\xc3\xbc\n\xff").content, binary);
  EXPECT_EQ(files.at(deep).content, "deep");
}

TEST(ArchiveWriter, PacksNothingIntoAProperArchive) {
  EXPECT_TRUE(unpack(make_archive({}).get()).empty());
}

TEST(ArchiveWriter, RefusesAPathThatLeadsOut) {
  for (const std::string path : {"../a", "/a", "", "a/../../b"}) {
    EXPECT_EQ(error_of([&] { make_archive({{path, "x"}}); }).code(), Code::invalid) << path;
  }
}

TEST(ArchiveWriter, SealsTheArchive) {
  const Fd archive = make_archive({{"a", "b"}});
  EXPECT_EQ(::write(archive.get(), "x", 1), -1);
}

}  // namespace
}  // namespace belljar::files
