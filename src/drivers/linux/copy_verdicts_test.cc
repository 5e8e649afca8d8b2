#include "drivers/linux/copy_verdicts.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/id.h"
#include "base/posix.h"

namespace belljar::linux_driver {
namespace {

using State = CopyVerdict::State;

class CopyVerdicts : public testing::Test {
 protected:
  CopyVerdicts() { make_directories(directory_); }
  ~CopyVerdicts() override { std::filesystem::remove_all(directory_); }

  std::string directory_ = testing::TempDir() + "belljar-copies-" + random_hex(8);
  std::string path_ = directory_ + "/copies.json";
  CopyKey key_{"0123", "4567", "Linux 6.1 x86_64"};
  CopyVerdict good_{State::works, "", "", "2026-11-16T03:04:05Z"};
  CopyVerdict bad_{State::differs, "workers", "line 1: \"a\"", "2026-11-16T03:04:06Z"};
};

TEST_F(CopyVerdicts, AreReadAsTheyWereWritten) {
  CopyRecord record;
  CopyKey other = key_;
  other.node = "89ab";
  record.add(key_, good_);
  record.add(other, bad_);
  record.add("1 2 3 4.5 6.7", "0123");
  ASSERT_TRUE(write_copy_record(path_, record));
  const CopyRecord read = read_copy_record(path_);
  ASSERT_TRUE(read.find(key_) && read.find(other));
  EXPECT_EQ(read.find(key_)->state, State::works);
  EXPECT_EQ(read.find(key_)->checked, good_.checked);
  EXPECT_EQ(read.find(other)->state, State::differs);
  EXPECT_EQ(read.find(other)->program, bad_.program);
  EXPECT_EQ(read.find(other)->reason, bad_.reason);
  EXPECT_EQ(read.hash_of("1 2 3 4.5 6.7"), "0123");
  EXPECT_EQ(read.hash_of("1 2 3 4.5 6.8"), "");
}

TEST_F(CopyVerdicts, HoldForNothingElse) {
  CopyRecord record;
  record.add(key_, good_);
  CopyKey node = key_;
  node.node = "0124";
  CopyKey belljar = key_;
  belljar.belljar = "";
  CopyKey machine = key_;
  machine.machine = "Linux 6.2 x86_64";
  for (const CopyKey& key : {node, belljar, machine}) EXPECT_FALSE(record.find(key));
  EXPECT_TRUE(record.find(key_));
}

TEST_F(CopyVerdicts, AreReplacedAndForgotten) {
  CopyRecord record;
  record.add(key_, bad_);
  record.add(key_, good_);
  ASSERT_EQ(record.verdicts.size(), 1u);
  EXPECT_EQ(record.find(key_)->state, State::works);
  for (int i = 0; i < 200; ++i) {
    CopyKey key = key_;
    key.node = std::to_string(i);
    record.add(key, good_);
    record.add(std::to_string(i), "0");
  }
  EXPECT_FALSE(record.find(key_));
  EXPECT_LE(record.verdicts.size(), 64u);
  EXPECT_LE(record.hashes.size(), 64u);
  EXPECT_EQ(record.hash_of("199"), "0");
}

TEST_F(CopyVerdicts, AreForgottenIfTheFileIsDamaged) {
  CopyRecord record;
  record.add(key_, good_);
  record.add("1 2 3 4.5 6.7", "0123");
  ASSERT_TRUE(write_copy_record(path_, record));
  const std::string whole = read_file(path_);
  std::string mangled = whole;
  mangled.replace(mangled.find("works"), 5, "sorks");
  for (const std::string& text :
       {std::string{}, whole.substr(0, whole.size() / 2), mangled, std::string{"[]"},
        std::string{R"({"files":{},"nodes":[1]})"}, std::string{R"({"files":{"a":1},"nodes":[]})"},
        std::string{R"({"nodes":[]})"}}) {
    write_file_atomically(path_, text);
    const CopyRecord read = read_copy_record(path_);
    EXPECT_TRUE(read.verdicts.empty() && read.hashes.empty()) << text;
  }
  write_file_atomically(path_, whole);
  EXPECT_TRUE(read_copy_record(path_).find(key_));
}

TEST_F(CopyVerdicts, AreNeitherReadThroughALinkNorWaitedFor) {
  CopyRecord record;
  record.add(key_, good_);
  ASSERT_TRUE(write_copy_record(directory_ + "/elsewhere", record));
  ASSERT_EQ(::symlink("elsewhere", path_.c_str()), 0);
  EXPECT_FALSE(read_copy_record(path_).find(key_));
  ASSERT_EQ(::unlink(path_.c_str()), 0);
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  EXPECT_FALSE(read_copy_record(path_).find(key_));
}

TEST_F(CopyVerdicts, NeedNoFile) {
  EXPECT_TRUE(read_copy_record(path_).verdicts.empty());
  EXPECT_TRUE(read_copy_record("").verdicts.empty());
  CopyRecord record;
  record.add(key_, good_);
  EXPECT_FALSE(write_copy_record(directory_ + "/absent/copies.json", record));
  EXPECT_FALSE(write_copy_record("/proc/copies.json", record));
}

TEST_F(CopyVerdicts, TellFilesApartByTheirStamp) {
  const auto stamp = [this](const char* name, std::string_view content) {
    const std::string path = directory_ + "/" + name;
    write_file_atomically(path, content);
    const Fd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    EXPECT_EQ(stamp_of(file.get()), stamp_of(file.get()));
    return stamp_of(file.get());
  };
  const std::string first = stamp("a", "one");
  EXPECT_NE(stamp("b", "one"), first);
  EXPECT_NE(stamp("a", "two"), first);  // another file of that name
}

}  // namespace
}  // namespace belljar::linux_driver
