#include "files/changes.h"

#include <gmock/gmock.h>
#include <sys/mman.h>

#include <atomic>
#include <thread>

#include "files/testing.h"

namespace belljar::files {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Lines = std::vector<std::string>;

// Every test runs twice: with a full scan at each look, and with watches.
class ChangeTracking : public testing::TestWithParam<size_t> {
 protected:
  ChangeTracking() { test.make_directory("files"); }

  ChangeTracker::Options options() const { return {.watch_above = GetParam()}; }

  // A mark after which a change cannot share a tick of the clock with one before it.
  ChangeTracker::Mark mark() {
    ChangeTracker::Mark mark = tracker.mark();
    std::this_thread::sleep_for(tracker.settle_time());
    return mark;
  }

  Lines changes(const ChangeTracker::Mark& mark) { return lines(tracker.changes(mark)); }

  static Lines lines(const Changes& changes) {
    Lines lines;
    for (const Change& change : changes.list) {
      lines.push_back(
          fmt::format("{} {} {}", kind_name(change.kind), type_name(change.type), change.path));
    }
    return lines;
  }

  TestDirectory test;
  ChangeTracker tracker{test.directory(), "files", options()};
};

INSTANTIATE_TEST_SUITE_P(, ChangeTracking, testing::Values(0, ChangeTracker::kNever),
                         [](const auto& mode) {
                           return mode.param == 0 ? "WithWatches" : "WithFullScans";
                         });

TEST_P(ChangeTracking, ReportsFilesThatWereCreatedUpdatedAndDeleted) {
  test.write("files/old", "1");
  test.write("files/kept", "1");
  test.write("files/dead", "1");
  const auto start = mark();
  EXPECT_EQ(tracker.watching(), GetParam() == 0);
  test.write("files/old", "22");
  test.write("files/new", "333");
  test.write("files/empty", "");
  test.remove("files/dead");
  const Changes found = tracker.changes(start);
  EXPECT_THAT(lines(found), ElementsAre("deleted file dead", "created file empty",
                                        "created file new", "updated file old"));
  EXPECT_EQ(found.list[2].size, 3u);
  EXPECT_FALSE(found.truncated);
}

TEST_P(ChangeTracking, ReportsAnEditThatKeepsSizeAndTime) {
  test.write("files/a", "1111");
  struct stat before {};
  sys(::stat(test.path("files/a").c_str(), &before), "stat");
  const auto start = mark();
  test.write("files/a", "2222");
  const timespec times[2] = {before.st_atim, before.st_mtim};
  sys(::utimensat(AT_FDCWD, test.path("files/a").c_str(), times, 0), "utimensat");
  EXPECT_THAT(changes(start), ElementsAre("updated file a"));
}

TEST_P(ChangeTracking, ReportsAWriteThroughAMapping) {
  test.write("files/a", "1111");
  const auto start = mark();
  {
    const Fd file{sys(::open(test.path("files/a").c_str(), O_RDWR | O_CLOEXEC), "open")};
    void* memory = ::mmap(nullptr, 4, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    ASSERT_NE(memory, MAP_FAILED);
    *static_cast<char*>(memory) = '2';
    ::munmap(memory, 4);
  }
  EXPECT_THAT(changes(start), ElementsAre("updated file a"));
}

TEST_P(ChangeTracking, ReportsDirectoriesWithAllThatIsInThem) {
  test.make_directory("files/old");
  test.make_directory("files/old/sub");
  test.write("files/old/sub/x", "1");
  const auto start = mark();
  test.rename("files/old", "files/new");
  test.make_directory("files/empty");
  EXPECT_THAT(changes(start), ElementsAre("created directory empty", "created directory new",
                                          "created directory new/sub", "created file new/sub/x",
                                          "deleted directory old", "deleted directory old/sub",
                                          "deleted file old/sub/x"));
  const auto later = mark();
  test.write("files/new/sub/x", "2");  // a moved directory is still watched
  test.remove("files/empty");
  EXPECT_THAT(changes(later), ElementsAre("deleted directory empty", "updated file new/sub/x"));
}

TEST_P(ChangeTracking, DoesNotReportADirectoryWhoseEntriesChanged) {
  test.make_directory("files/d");
  const auto start = mark();
  test.write("files/d/x", "1");
  EXPECT_THAT(changes(start), ElementsAre("created file d/x"));
}

TEST_P(ChangeTracking, DoesNotReportWhatCameAndWent) {
  test.make_directory("files/d");
  test.write("files/d/x", "1");
  const auto start = mark();
  test.write("files/a", "1");
  test.make_directory("files/b");
  test.write("files/b/c", "1");
  tracker.refresh();
  test.remove("files/a");
  test.remove("files/b");
  test.rename("files/d", "files/e");
  tracker.refresh();
  test.rename("files/e", "files/d");
  EXPECT_THAT(changes(start), IsEmpty());
}

TEST_P(ChangeTracking, ReportsAnEntryThatBecameAnotherThingAsDeletedAndCreated) {
  test.make_directory("files/d");
  test.write("files/d/x", "1");
  test.write("files/f", "1");
  const auto start = mark();
  test.remove("files/d");
  test.write("files/d", "1");
  test.remove("files/f");
  test.make_directory("files/f");
  test.write("files/f/y", "1");
  EXPECT_THAT(changes(start),
              ElementsAre("deleted directory d", "created file d", "deleted file d/x",
                          "deleted file f", "created directory f", "created file f/y"));
}

TEST_P(ChangeTracking, KeepsSeveralMarksApart) {
  const auto first = mark();
  test.write("files/a", "1");
  const auto second = mark();
  test.write("files/a", "2");
  test.write("files/b", "2");
  EXPECT_THAT(changes(second), ElementsAre("updated file a", "created file b"));
  {
    const auto third = mark();
    test.remove("files/a");
    EXPECT_THAT(changes(third), ElementsAre("deleted file a"));
  }
  EXPECT_THAT(changes(second), ElementsAre("deleted file a", "created file b"));
  EXPECT_THAT(changes(first), ElementsAre("created file b"));
}

TEST_P(ChangeTracking, SeesTwoDirectoriesThatChangedPlaces) {
  test.make_directory("files/a");
  test.make_directory("files/b");
  test.write("files/a/x", "1");
  test.write("files/b/y", "1");
  const auto start = mark();
  test.rename("files/a", "files/t");
  test.rename("files/b", "files/a");
  test.rename("files/t", "files/b");
  EXPECT_THAT(changes(start), ElementsAre("deleted file a/x", "created file a/y",
                                          "created file b/x", "deleted file b/y"));
  const auto later = mark();
  test.write("files/a/y", "22");
  test.write("files/b/x", "22");
  EXPECT_THAT(changes(later), ElementsAre("updated file a/y", "updated file b/x"));
}

TEST_P(ChangeTracking, SeesAWriteByAnotherNameOfTheFile) {
  test.make_directory("files/d");
  test.write("files/a", "1");
  mark();
  sys(::link(test.path("files/a").c_str(), test.path("files/d/b").c_str()), "link");
  const auto start = mark();
  test.write("files/d/b", "2");
  EXPECT_THAT(changes(start), ElementsAre("updated file a", "updated file d/b"));
}

TEST_P(ChangeTracking, SeesAWriteByANameOutsideTheTreeThatWasThereBefore) {
  test.write("outside", "1");
  sys(::link(test.path("outside").c_str(), test.path("files/a").c_str()), "link");
  const auto start = mark();
  test.write("outside", "2");
  EXPECT_THAT(changes(start), ElementsAre("updated file a"));
}

TEST_P(ChangeTracking, TakesATreeThatIsGoneForEmpty) {
  test.write("files/a", "1");
  const auto start = mark();
  test.rename("files", "elsewhere");
  EXPECT_THAT(changes(start), ElementsAre("deleted file a"));
  test.link_to("elsewhere", "files");
  EXPECT_THAT(changes(start), ElementsAre("deleted file a"));
  test.remove("files");
  test.write("files", "a file");
  EXPECT_THAT(changes(start), ElementsAre("deleted file a"));
  test.remove("files");
  test.make_directory("files");
  test.write("files/b", "1");
  EXPECT_THAT(changes(start), ElementsAre("deleted file a", "created file b"));
}

TEST_P(ChangeTracking, ComparesWithAnotherTreeAtTheSamePlace) {
  test.write("files/a", "1");
  test.make_directory("files/d");
  test.make_directory("other");
  test.write("other/b", "1");
  const auto start = mark();
  test.rename("files", "elsewhere");
  test.rename("other", "files");
  EXPECT_THAT(changes(start),
              ElementsAre("deleted file a", "created file b", "deleted directory d"));
}

TEST_P(ChangeTracking, FollowsNoLinkAndReportsLinksAsSuch) {
  test.make_directory("outside");
  test.link_to("../outside", "files/old");
  const auto start = mark();
  test.link_to("/", "files/root");
  test.write("outside/x", "1");
  sys(::mkfifo(test.path("files/fifo").c_str(), 0600), "mkfifo");
  EXPECT_THAT(changes(start), ElementsAre("created FIFO fifo", "created symbolic link root"));
}

TEST_P(ChangeTracking, TakesNamesOfAnyBytesAndTimesOfAnyCentury) {  // HF13, HF14, HF28
  const auto start = mark();
  const std::string odd[] = {"\n", "\xff", std::string(255, 'x'), "\x1b[2J", "\\"};
  for (const std::string& name : odd) {
    test.write("files/" + name, "1");
    const timespec times[2] = {{-2'147'483'648, 0}, {1'000'000'000'000, 999'999'999}};
    ::utimensat(AT_FDCWD, test.path("files/" + name).c_str(), times, 0);
  }
  EXPECT_EQ(changes(start).size(), std::size(odd));
}

TEST_P(ChangeTracking, SaysWhenTheTreeIsTooLargeOrTooDeep) {  // HF12
  ChangeTracker small{test.directory(),
                      "files",
                      {.limits = {.entries = 10, .depth = 3}, .watch_above = GetParam()}};
  const auto start = small.mark();
  for (int i = 0; i < 10; ++i) test.write(fmt::format("files/{}", i), "");
  EXPECT_FALSE(small.changes(start).truncated);
  test.write("files/10", "");
  EXPECT_TRUE(small.changes(start).truncated);
  EXPECT_EQ(small.changes(start).list.size(), 10u);
  EXPECT_FALSE(small.watching());
  test.remove("files");
  test.make_directory("files");
  for (const std::string name : {"a", "a/b", "a/b/c", "a/b/c/d"})
    test.make_directory("files/" + name);
  const Changes deep = small.changes(start);
  EXPECT_TRUE(deep.truncated);
  EXPECT_THAT(lines(deep), ElementsAre("created directory a", "created directory a/b",
                                       "created directory a/b/c"));
}

TEST_P(ChangeTracking, SurvivesMoreEventsThanTheKernelKeeps) {
  test.write("files/a", "1");
  test.write("files/b", "1");
  const auto start = mark();
  const Fd a{sys(::open(test.path("files/a").c_str(), O_WRONLY | O_CLOEXEC), "open")};
  const Fd b{sys(::open(test.path("files/b").c_str(), O_WRONLY | O_CLOEXEC), "open")};
  for (int i = 0; i < 20'000; ++i) {
    sys(::write(a.get(), "x", 1), "write");
    sys(::write(b.get(), "x", 1), "write");
  }
  test.write("files/c", "1");
  EXPECT_THAT(changes(start), ElementsAre("updated file a", "updated file b", "created file c"));
  const auto later = mark();
  test.write("files/c", "2");
  EXPECT_THAT(changes(later), ElementsAre("updated file c"));
}

TEST_P(ChangeTracking, DoesNotDrownInAProgramThatNeverStopsWriting) {
  const auto start = mark();
  std::atomic<bool> stop = false;
  std::thread program{[this, &stop] {
    for (int i = 0; !stop; ++i) {
      test.write(fmt::format("files/{}", i % 100), "x");
      ::unlink(test.path(fmt::format("files/{}", (i + 50) % 100)).c_str());
    }
  }};
  for (int i = 0; i < 50; ++i) tracker.changes(start);
  stop = true;
  program.join();
  const Changes end = tracker.changes(start);
  EXPECT_EQ(end.list.size(), tracker.size());
}

TEST(ChangeTracker, WatchesOnlyLargeTrees) {
  const TestDirectory test;
  ChangeTracker tracker{test.directory()};
  for (int i = 0; i < 500; ++i) test.write(fmt::format("{}", i), "");
  tracker.refresh();
  EXPECT_FALSE(tracker.watching());
  const auto start = tracker.mark();
  test.write("500", "");
  EXPECT_EQ(tracker.changes(start).list.size(), 1u);
  EXPECT_TRUE(tracker.watching());
  EXPECT_EQ(tracker.size(), 501u);
}

TEST(ChangeTracker, HasToSettleOnlyAfterAWrite) {
  const TestDirectory test;
  ChangeTracker tracker{test.directory()};
  tracker.refresh();
  EXPECT_EQ(tracker.settle_time().count(), 0);
  test.write("a", "1");
  tracker.refresh();
  EXPECT_LE(tracker.settle_time().count(), 10);
}

TEST(ChangeTracker, CannotBeStoppedByAHundredThousandFiles) {  // HF12
  const TestDirectory test{"/dev/shm"};
  test.make_directory("d");
  const Fd folder{sys(::open(test.path("d").c_str(), O_RDONLY | O_CLOEXEC), "open")};
  test.write("d/0", "");
  for (int i = 1; i < 100'000; ++i) {
    sys(::linkat(folder.get(), "0", folder.get(), fmt::format("{}", i).c_str(), 0), "link");
  }
  ChangeTracker capped{test.directory(), ".", {.limits = {.entries = 50'000}}};
  const auto start = capped.mark();
  EXPECT_EQ(capped.size(), 50'000u);
  EXPECT_TRUE(capped.changes(start).truncated);
  const Listing listing = test.directory().list(".", {.recursive = true, .max_entries = 10});
  EXPECT_EQ(listing.entries.size(), 10u);
  EXPECT_EQ(listing.more, 99'991u);
}

}  // namespace
}  // namespace belljar::files
