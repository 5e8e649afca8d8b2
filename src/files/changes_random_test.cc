#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <thread>
#include <tuple>
#include <utility>

#include "files/changes.h"
#include "files/testing.h"

namespace belljar::files {
namespace {

namespace fs = std::filesystem;

// Everything that can be known about one entry, read in the plainest way.
struct Known {
  Type type;
  std::tuple<ino_t, off_t, time_t, long, time_t, long> stamp;
  std::string content;
};
using Snapshot = std::map<std::string, Known>;

Snapshot snapshot(const fs::path& root) {
  Snapshot all;
  for (const auto& entry : fs::recursive_directory_iterator{root}) {
    struct stat status {};
    sys(::lstat(entry.path().c_str(), &status), "lstat");
    Known known{type_of(status.st_mode), {}, ""};
    if (known.type != Type::directory) {
      known.stamp = {status.st_ino,          status.st_size,        status.st_mtim.tv_sec,
                     status.st_mtim.tv_nsec, status.st_ctim.tv_sec, status.st_ctim.tv_nsec};
    }
    if (known.type == Type::file) known.content = read_file(entry.path().string());
    all.emplace(entry.path().lexically_relative(root).string(), std::move(known));
  }
  return all;
}

// The reference: what differs between two snapshots.
std::vector<std::string> difference(const Snapshot& before, const Snapshot& after) {
  std::vector<std::string> lines;
  for (const auto& [path, known] : before) {
    const auto now = after.find(path);
    if (now == after.end() || now->second.type != known.type) {
      lines.push_back("deleted " + path);
    } else if (now->second.stamp != known.stamp) {
      lines.push_back("updated " + path);
    } else {
      EXPECT_EQ(now->second.content, known.content) << "the stamp of " << path << " hides an edit";
    }
  }
  for (const auto& [path, known] : after) {
    const auto then = before.find(path);
    if (then == before.end() || then->second.type != known.type) lines.push_back("created " + path);
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

std::vector<std::string> sorted_lines(const Changes& changes) {
  std::vector<std::string> lines;
  for (const Change& change : changes.list) {
    lines.push_back(std::string{kind_name(change.kind)} + " " + change.path);
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

// A program that does anything to a tree, the same each time.
class Program {
 public:
  explicit Program(std::string root) : root_{std::move(root)} {}

  void act() {
    switch (pick(9)) {
      case 0:
      case 1: write(new_path(), O_CREAT | O_TRUNC); break;
      case 2: write(any_path(), O_APPEND); break;
      case 3: edit_unnoticed(any_path()); break;
      case 4: std::rename(any_path().c_str(), new_path().c_str()); break;
      case 5: ::mkdir(new_path().c_str(), 0755); break;
      case 6: symlink(new_path()); break;
      case 7: link(any_path(), new_path()); break;
      default: remove(any_path());
    }
  }

  // What is there already stays.
  static void symlink(const std::string& path) {
    std::error_code ignored;
    fs::create_symlink("/etc/passwd", path, ignored);
  }

  // True if a file got a further name and lost it again since the last call, which watches do not
  // see.
  bool had_a_short_lived_link() {
    const std::set<ino_t> linked = std::exchange(linked_, {});
    const fs::recursive_directory_iterator all{root_};
    return std::any_of(begin(all), end(all), [&linked](const fs::directory_entry& entry) {
      struct stat status {};
      sys(::lstat(entry.path().c_str(), &status), "lstat");
      return status.st_nlink == 1 && linked.contains(status.st_ino);
    });
  }

 private:
  size_t pick(size_t count) { return std::uniform_int_distribution<size_t>{0, count - 1}(random_); }

  // Something that exists.
  std::string any_path() {
    std::set<std::string> paths;  // sorted: the order of a directory is the file system's
    for (const auto& entry : fs::recursive_directory_iterator{root_}) paths.insert(entry.path());
    return paths.empty() ? new_path()
                         : *std::next(paths.begin(), static_cast<long>(pick(paths.size())));
  }

  // Few names, so that things collide.
  std::string new_path() {
    std::string folder = root_;
    for (size_t depth = pick(4); depth > 0; --depth) {
      const std::string deeper = folder + "/" + name();
      if (fs::is_directory(fs::symlink_status(deeper))) folder = deeper;
    }
    return folder + "/" + name();
  }

  std::string name() { return std::string(1, static_cast<char>('a' + pick(6))); }

  void write(const std::string& path, int flags) {
    const Fd file{::open(path.c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC | flags, 0644)};
    const std::string content(pick(5), static_cast<char>('a' + pick(26)));
    if (file) sys(::write(file.get(), content.data(), content.size()), "write");
  }

  void edit_unnoticed(const std::string& path) {
    const Fd file{::open(path.c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC)};
    struct stat before {};
    if (!file || ::fstat(file.get(), &before) != 0 || before.st_size == 0) return;
    const char byte = static_cast<char>('A' + pick(26));
    sys(::pwrite(file.get(), &byte, 1, 0), "write");
    const timespec times[2] = {before.st_atim, before.st_mtim};
    sys(::futimens(file.get(), times), "set times");
  }

  void link(const std::string& path, const std::string& further) {
    struct stat status {};
    if (::link(path.c_str(), further.c_str()) != 0) return;
    sys(::lstat(path.c_str(), &status), "lstat");
    linked_.insert(status.st_ino);
  }

  void remove(const std::string& path) {
    std::error_code ignored;
    if (pick(4) == 0) {
      fs::remove_all(path, ignored);
    } else {
      fs::remove(path, ignored);
    }
  }

  std::string root_;
  std::set<ino_t> linked_;
  std::mt19937 random_{20261115};
};

void expect_reports_like_the_reference(size_t watch_above) {
  constexpr int kRounds = 200;
  const TestDirectory test;
  test.make_directory("files");
  test.write("files/start", "");
  ChangeTracker tracker{test.directory(), "files", {.watch_above = watch_above}};
  Program program{test.path("files")};
  std::mt19937 random{7};
  // A second mark stays open for several rounds, as that of a longer program would.
  ChangeTracker::Mark long_mark = tracker.mark();
  Snapshot long_before = snapshot(test.path("files"));
  size_t reported = 0;
  for (int round = 0; round < kRounds; ++round) {
    const ChangeTracker::Mark mark = tracker.mark();
    const Snapshot before = snapshot(test.path("files"));
    std::this_thread::sleep_for(tracker.settle_time());
    for (size_t i = 1 + random() % 20; i > 0; --i) {
      program.act();
      if (random() % 8 == 0) tracker.refresh();
    }
    if (program.had_a_short_lived_link()) tracker.distrust();
    const Snapshot after = snapshot(test.path("files"));
    const auto lines = sorted_lines(tracker.changes(mark));
    ASSERT_EQ(lines, difference(before, after)) << "round " << round;
    ASSERT_EQ(tracker.size(), after.size());
    reported += lines.size();
    if (round % 7 == 0) {
      ASSERT_EQ(sorted_lines(tracker.changes(long_mark)), difference(long_before, after));
      long_mark = tracker.mark();
      long_before = after;
    }
  }
  EXPECT_GT(reported, 1000u);
}

TEST(ChangesAtRandom, AreReportedLikeTheReferenceByFullScans) {
  expect_reports_like_the_reference(ChangeTracker::kNever);
}

TEST(ChangesAtRandom, AreReportedLikeTheReferenceByWatches) {
  expect_reports_like_the_reference(0);
}

}  // namespace
}  // namespace belljar::files
