#include "observe/audit_log.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/error.h"
#include "base/id.h"
#include "base/posix.h"
#include "base/request_context.h"

namespace belljar::observe {
namespace {

class AuditLogTest : public testing::Test {
 protected:
  AuditLogTest() { std::filesystem::create_directory(directory_); }
  ~AuditLogTest() override { std::filesystem::remove_all(directory_); }

  const std::string directory_ =
      (std::filesystem::temp_directory_path() / ("belljar-audit-" + random_hex(8))).string();
  const std::string file_ = directory_ + "/audit.jsonl";
};

TEST_F(AuditLogTest, LinesAreAddedAndNameTheRequest) {
  {
    AuditLog log{open_audit_log(file_)};
    const RequestScope scope{
        std::make_shared<const RequestContext>(RequestContext{"r1", "00-a-b-01"})};
    log.add({{"owner", "a\nb"}});
  }
  AuditLog again{open_audit_log(file_)};
  again.add({{"owner", "c"}});
  const std::string text = read_file(file_);
  const size_t end = text.find('\n');
  const json::value first = json::parse(text.substr(0, end));
  EXPECT_EQ(first.at("request"), "r1");
  EXPECT_EQ(first.at("traceparent"), "00-a-b-01");
  EXPECT_EQ(first.at("owner"), "a\nb");
  const json::value second = json::parse(text.substr(end + 1));
  EXPECT_EQ(second.at("owner"), "c");
  EXPECT_FALSE(second.as_object().contains("request"));
}

TEST_F(AuditLogTest, TheFileIsForItsOwnerOnly) {
  open_audit_log(file_);
  struct stat info {};
  ASSERT_EQ(::stat(file_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600u);
}

TEST_F(AuditLogTest, LinksAndOtherThingsAreRefused) {
  ASSERT_EQ(::symlink("/dev/null", file_.c_str()), 0);
  EXPECT_THROW(open_audit_log(file_), Error);
  EXPECT_THROW(open_audit_log("/dev/null"), Error);
  EXPECT_THROW(open_audit_log(directory_ + "/nope/x"), Error);
}

TEST_F(AuditLogTest, WithoutAFileNothingIsKept) {
  AuditLog log;
  EXPECT_FALSE(log);
  log.add({{"owner", "a"}});
}

}  // namespace
}  // namespace belljar::observe
