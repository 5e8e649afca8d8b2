// The launcher against a belljar that was taken over after it gave up its rights.
#include "drivers/linux/seal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "base/error.h"
#include "base/posix.h"
#include "drivers/linux/launcher_socket.h"

namespace belljar::linux_driver {
namespace {

using launcher::Reply;
using launcher::ReplyType;
using launcher::Request;
using launcher::RequestType;

class SealedLauncher : public testing::Test {
 protected:
  SealedLauncher() {
    if (::mkdtemp(root_.data()) == nullptr) fail_errno(errno, "make a directory");
    for (const char* name :
         {"/data/runtime", "/data/node_modules", "/files", "/others-files", "/others"})
      std::filesystem::create_directories(root_ + name);
    data_ = open_directory(root_ + "/data");
    files_ = open_directory(root_ + "/files");
    launcher_ = start_launcher(launcher_path());
    others_files_ = open_directory(root_ + "/others-files");
    const SealRequest request{data_.get(), {files_.get(), others_files_.get()}, 12345};
    ask_to_seal(launcher_, request);
    seal_ = wait_for_seal(launcher_, request);
  }
  ~SealedLauncher() override { std::filesystem::remove_all(root_); }

  // The error with which the launcher answers; 0 if it does what it is asked.
  int ask(const Request& request, int fd = -1, int second = -1) const {
    const int fds[] = {fd, second};
    const size_t count = fd < 0 ? 0 : second < 0 ? 1 : 2;
    if (send_request(launcher_.socket.get(), request, {}, {fds, count}) != Sent::yes)
      fail_errno(errno, "ask");
    Reply reply{};
    if (receive_reply(launcher_.socket.get(), reply, {}) != Received::reply)
      fail(Code::unavailable, "the launcher has ended");
    return reply.type == ReplyType::done ? 0 : reply.error;
  }

  int prepare(const std::string& runtime) const {
    Request request{};
    request.type = RequestType::prepare;
    request.image = 1;
    const Fd directory = open_directory(runtime);
    return ask(request, directory.get());
  }

  int create_with(const std::string& files) const {
    Request request{};
    request.type = RequestType::create;
    request.image = 1;
    request.sandbox = 1;
    request.limits = {64 << 20, 1 << 20, 1000, 1000, 64};
    const Fd directory = open_directory(files);
    return ask(request, directory.get());
  }

  int mount(const std::string& packages, uint64_t sandbox = 1) const {
    Request request{};
    request.type = RequestType::mount;
    request.sandbox = sandbox;
    const Fd directory = open_directory(packages);
    return ask(request, directory.get());
  }

  int mount_both(const std::string& packages, const std::string& base) const {
    Request request{};
    request.type = RequestType::mount;
    request.sandbox = 1;
    const Fd directory = open_directory(packages);
    const Fd beneath = open_directory(base);
    return ask(request, directory.get(), beneath.get());
  }

  std::string root_ = "/var/tmp/belljar-seal-XXXXXX";
  Fd data_;
  Fd files_;
  Fd others_files_;
  LauncherProcess launcher_;
  Seal seal_;
};

TEST_F(SealedLauncher, MountsRuntimesOfTheDataDirectoryAndOfTheSystemOnly) {
  EXPECT_EQ(prepare(root_ + "/data/runtime"), 0);
  EXPECT_EQ(prepare("/usr/local"), 0);
  ::chmod((root_ + "/others").c_str(), 0700);
  EXPECT_EQ(prepare(root_ + "/others"), EPERM);
  EXPECT_EQ(prepare("/tmp"), EPERM) << "everybody may write there";
}

TEST_F(SealedLauncher, GivesSandboxesTheFilesDirectoryAndNoOther) {
  EXPECT_EQ(prepare(root_ + "/data/runtime"), 0);
  EXPECT_EQ(create_with("/etc"), EPERM);
  EXPECT_EQ(create_with(root_ + "/others"), EPERM);
  EXPECT_EQ(create_with(root_), EPERM) << "it contains the right one";
  EXPECT_EQ(create_with(root_ + "/files"), 0);
}

TEST_F(SealedLauncher, GivesSandboxesAnyOfSeveralFilesDirectories) {
  EXPECT_EQ(prepare(root_ + "/data/runtime"), 0);
  EXPECT_EQ(create_with(root_ + "/others-files"), 0);
}

TEST_F(SealedLauncher, MountsPackagesOfTheDataDirectoryOnly) {
  EXPECT_EQ(prepare(root_ + "/data/runtime"), 0);
  EXPECT_EQ(create_with(root_ + "/files"), 0);
  EXPECT_EQ(mount("/etc"), EPERM);
  EXPECT_EQ(mount(root_ + "/others"), EPERM);
  EXPECT_EQ(mount(root_ + "/files"), EPERM);
  EXPECT_EQ(mount(root_), EPERM) << "it contains the right one";
  EXPECT_EQ(mount(root_ + "/data"), EPERM) << "there is more than packages in it";
  EXPECT_EQ(mount(root_ + "/data/node_modules"), 0);
  EXPECT_EQ(mount(root_ + "/data/node_modules", 2), ESRCH) << "no such sandbox";
}

TEST_F(SealedLauncher, MountsNoOtherPackagesBeneathThemEither) {
  const std::string good = root_ + "/data/node_modules";
  const std::string also = root_ + "/data/runtime";
  EXPECT_EQ(prepare(also), 0);
  EXPECT_EQ(create_with(root_ + "/files"), 0);
  EXPECT_EQ(mount_both(good, "/etc"), EPERM);
  EXPECT_EQ(mount_both(good, root_ + "/data"), EPERM);
  EXPECT_EQ(mount_both(root_ + "/others", good), EPERM);
  EXPECT_EQ(mount_both(good, also), 0);
  if (::geteuid() != 0) return;  // others can give nothing away
  ASSERT_EQ(::chown(also.c_str(), 12, 12), 0);
  EXPECT_EQ(mount_both(good, also), EPERM) << "they have another owner";
}

TEST_F(SealedLauncher, CannotBeSealedAgain) {
  Request request{};
  request.type = RequestType::seal;
  request.own_id = 12345;
  const Fd directory = open_directory("/etc");
  EXPECT_EQ(ask(request, directory.get()), EBUSY);
}

TEST_F(SealedLauncher, SurvivesMessagesThatAreNone) {
  EXPECT_EQ(::send(launcher_.socket.get(), "x", 1, 0), 1);
  Reply reply{};
  ASSERT_EQ(::recv(launcher_.socket.get(), &reply, sizeof reply, 0), ssize_t{sizeof reply});
  EXPECT_EQ(reply.type, ReplyType::failed);
  EXPECT_EQ(reply.error, EBADMSG);
  EXPECT_EQ(ask(Request{}), EBADMSG);
  EXPECT_EQ(prepare(root_ + "/data/runtime"), 0) << "and serves on";
}

TEST(Launcher, SaysWhetherItIsRootBeforeItIsSetUp) {
  const LauncherProcess launcher = start_launcher(launcher_path());
  const auto facts = [&launcher](RequestType type) {
    Request request{};
    request.type = type;
    EXPECT_EQ(send_request(launcher.socket.get(), request, {}, {}), Sent::yes);
    Reply reply{};
    EXPECT_EQ(receive_reply(launcher.socket.get(), reply, {}), Received::reply);
    return reply.facts;
  };
  const uint32_t before = facts(RequestType{});
  const uint32_t after = facts(RequestType::prepare);
  EXPECT_EQ(before, after & launcher::kFactRoot);
  EXPECT_NE(before, after) << "it is set up, and says more";
}

TEST_F(SealedLauncher, HandsOutTheNamespaceAndReadableViews) {
  EXPECT_TRUE(seal_.user_namespace);
  const auto inode = [](int directory) {
    struct stat seen {};
    EXPECT_EQ(::fstat(directory, &seen), 0);
    return seen.st_ino;
  };
  ASSERT_EQ(seal_.files.size(), 2u);
  EXPECT_EQ(inode(seal_.files[0].get()), inode(files_.get()));
  EXPECT_EQ(inode(seal_.files[1].get()), inode(others_files_.get()));
}

}  // namespace
}  // namespace belljar::linux_driver
