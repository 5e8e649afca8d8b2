#include "app/own_rights.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <thread>

#include "base/error.h"
#include "base/posix.h"
#include "base/testing.h"

namespace belljar::app {
namespace {

// Runs it in a child, confined to writing beneath `directory`; true if it says so.
bool when_confined(const std::string& directory, const std::function<bool()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      const Fd writable = open_directory(directory);
      ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
      confine_self({writable.get()});
      ::_exit(body() ? 0 : 1);
    } catch (...) {
      ::_exit(2);
    }
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status == 0;
}

class Confined : public testing::Test {
 protected:
  Confined() {
    if (::mkdtemp(path_.data()) == nullptr) fail_errno(errno, "make a directory");
  }
  ~Confined() override { std::filesystem::remove_all(path_); }

  bool check(const std::function<bool()>& body) const { return when_confined(path_, body); }

  std::string path_ = "/var/tmp/belljar-confined-XXXXXX";
};

TEST_F(Confined, StartsNoProcesses) {
  EXPECT_TRUE(check([] { return ::fork() < 0 && errno == ENOSYS; }));
  EXPECT_TRUE(check([] {
    char* const none[] = {nullptr};
    return ::execve("/bin/true", none, none) < 0;
  }));
}

TEST_F(Confined, StartsThreads) {
  EXPECT_TRUE(check([] {
    bool ran = false;
    std::thread{[&ran] { ran = true; }}.join();
    return ran;
  }));
}

TEST_F(Confined, CannotReachTheRestOfTheKernel) {
  for (const long call : {SYS_mount, SYS_setns, SYS_unshare, SYS_bpf, SYS_keyctl,
                          SYS_open_by_handle_at, SYS_io_uring_setup, SYS_perf_event_open,
                          SYS_setresuid, SYS_capset, SYS_process_vm_readv, SYS_kill}) {
    EXPECT_TRUE(check([call] { return ::syscall(call, 0, 0, 0, 0, 0) < 0 && errno == ENOSYS; }))
        << call;
  }
  EXPECT_TRUE(check([] { return ::socket(AF_PACKET, SOCK_RAW, 0) < 0 && errno == ENOSYS; }));
  EXPECT_TRUE(check([] { return ::socket(AF_INET, SOCK_STREAM, 0) >= 0; }));
}

TEST_F(Confined, WritesBeneathItsDirectoriesOnly) {
  const auto creates = [](const std::string& path) {
    return ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600) >= 0;
  };
  const std::string inside = path_ + "/file";
  const std::string outside = path_ + "-outside";
  EXPECT_TRUE(check([&] { return creates(inside); }));
  EXPECT_TRUE(check([&] { return ::unlink(inside.c_str()) == 0; }));
  const bool has_landlock = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, 1) > 0;
  if (!has_landlock) GTEST_SKIP() << "the kernel has no Landlock";
  EXPECT_TRUE(check([&] { return !creates(outside) && errno == EACCES; }));
  EXPECT_TRUE(check([] { return ::open("/etc/hostname", O_RDONLY | O_CLOEXEC) >= 0; }));
}

// In a thread of its own, because it is for good.
TEST(OwnRights, MakesFilesAsAnotherAndStaysWhoItIs) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can";
  const TemporaryDirectory directory;
  const std::string before = directory.path() + "/before";
  const std::string after = directory.path() + "/after";
  const auto make = [](const std::string& path) {
    return Fd{::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)};
  };
  const auto owner = [](const std::string& path) {
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0 ? info.st_uid : ~0u;
  };
  EXPECT_TRUE(make(before));
  std::thread{[&] {
    make_files_as(kOwnId);
    EXPECT_TRUE(make(after));
    EXPECT_TRUE(make(before)) << "it cannot reach what is root's any more";
    EXPECT_EQ(::geteuid(), 0u);
  }}.join();
  EXPECT_EQ(owner(before), 0u);
  EXPECT_EQ(owner(after), kOwnId);
}

}  // namespace
}  // namespace belljar::app
