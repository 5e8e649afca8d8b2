#include "app/server_sockets.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/error.h"

namespace belljar::app {
namespace {

using testing::HasSubstr;

// A directory of our own, gone after the test.
class Sockets : public testing::Test {
 protected:
  Sockets() {
    if (::mkdtemp(parent_.data()) == nullptr) fail_errno(errno, "make a directory");
  }
  ~Sockets() override {
    ::unsetenv("XDG_RUNTIME_DIR");
    std::filesystem::remove_all(parent_);
  }

  std::string refusal() const {
    try {
      ServerSockets::make(path());
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::denied);
      return e.what();
    }
    return "";
  }

  std::string path() const { return parent_ + "/belljar"; }
  bool has(const std::string& name) const {
    return std::filesystem::exists(std::filesystem::symlink_status(path() + "/" + name));
  }

  std::string parent_ = "/tmp/belljar-sockets-XXXXXX";
};

TEST_F(Sockets, AreInADirectoryOfThisUserAlone) {
  ServerSockets::make(path());
  struct stat status {};
  ASSERT_EQ(::stat(path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0700u);
  EXPECT_TRUE(ServerSockets::find(path()));
  EXPECT_FALSE(ServerSockets::find(parent_ + "/nothing"));
}

TEST_F(Sockets, AreRefusedBehindALink) {
  const std::string target = parent_ + "/target";
  ::mkdir(target.c_str(), 0700);
  std::filesystem::create_symlink(target, path());
  EXPECT_THAT(refusal(), HasSubstr("is not a directory"));
  EXPECT_THROW(ServerSockets::find(path()), Error);
  EXPECT_TRUE(std::filesystem::is_empty(target));
}

TEST_F(Sockets, AreRefusedWhereOthersCanEnter) {
  for (const mode_t mode : {0770, 0707, 0710, 0701}) {
    ::mkdir(path().c_str(), 0700);
    ::chmod(path().c_str(), mode);
    EXPECT_THAT(refusal(), HasSubstr("not a directory of this user alone")) << mode;
  }
}

TEST_F(Sockets, AreRefusedInADirectoryOfSomebodyElse) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a directory away";
  ::mkdir(path().c_str(), 0700);
  ASSERT_EQ(::chown(path().c_str(), 65534, 65534), 0);
  EXPECT_THAT(refusal(), HasSubstr("not a directory of this user alone"));
}

TEST_F(Sockets, AreRefusedInPlaceOfAFile) {
  std::ofstream{path()} << "file";
  EXPECT_THAT(refusal(), HasSubstr("is not a directory"));
}

TEST_F(Sockets, AreKeptInTheRuntimeDirectoryIfThatIsSafe) {
  ::setenv("XDG_RUNTIME_DIR", parent_.c_str(), 1);
  EXPECT_EQ(ServerSockets::usual_path(), fmt::format("{}/belljar-{}", parent_, ::geteuid()));
  ::chmod(parent_.c_str(), 0777);
  EXPECT_THAT(ServerSockets::usual_path(), testing::Not(HasSubstr(parent_)));
  ::chmod(parent_.c_str(), 0700);
  ::setenv("XDG_RUNTIME_DIR", "relative", 1);
  EXPECT_THAT(ServerSockets::usual_path(), testing::StartsWith("/"));
}

TEST_F(Sockets, AreFoundWhileTheirServerRuns) {
  const ServerSockets sockets = ServerSockets::make(path());
  EXPECT_TRUE(sockets.connect().empty());
  {
    OwnSocket own{ServerSockets::make(path())};
    const Fd listener = own.take();
    const auto servers = sockets.connect();
    ASSERT_EQ(servers.size(), 1u);
    EXPECT_EQ(servers[0].pid, ::getpid());
    struct stat status {};
    const std::string name = fmt::format("{}/{}.sock", path(), ::getpid());
    ASSERT_EQ(::stat(name.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0600u);
  }
  EXPECT_TRUE(std::filesystem::is_empty(path()));
}

TEST_F(Sockets, OfDeadServersAreRemoved) {
  const ServerSockets sockets = ServerSockets::make(path());
  sockets.listen("123.sock");
  const Fd living = sockets.listen("124.sock");
  const auto servers = sockets.connect();
  ASSERT_EQ(servers.size(), 1u);
  EXPECT_EQ(servers[0].pid, 124);
  EXPECT_FALSE(has("123.sock"));
  EXPECT_TRUE(has("124.sock"));
}

TEST_F(Sockets, OfAnotherServerAreNeitherReplacedNorRemoved) {
  const ServerSockets sockets = ServerSockets::make(path());
  const std::string name = fmt::format("{}.sock", ::getpid());
  {
    const OwnSocket own{ServerSockets::make(path())};
    EXPECT_THROW(sockets.listen(name), Error);
    EXPECT_FALSE(has(name + ".new"));
    std::filesystem::remove(path() + "/" + name);
    std::ofstream{path() + "/other"} << "";
    std::filesystem::rename(path() + "/other", path() + "/" + name);
  }
  EXPECT_TRUE(has(name));
}

TEST_F(Sockets, OfOtherNamesAreLeftAlone) {
  const ServerSockets sockets = ServerSockets::make(path());
  for (const char* name :
       {"x.sock", "-1.sock", "0.sock", "12.sock.new", "12", "99999999999.sock"}) {
    std::ofstream{path() + "/" + name} << "";
  }
  EXPECT_TRUE(sockets.connect().empty());
  EXPECT_TRUE(has("x.sock") && has("-1.sock") && has("0.sock") && has("12.sock.new"));
}

}  // namespace
}  // namespace belljar::app
