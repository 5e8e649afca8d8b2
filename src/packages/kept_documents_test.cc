#include "packages/kept_documents.h"

#include <gmock/gmock.h>

#include <atomic>
#include <filesystem>
#include <fstream>

#include "base/testing.h"
#include "net/test_server.h"
#include "packages/testing.h"

namespace belljar::packages {
namespace {

namespace fs = std::filesystem;
using net::http_answer;
using net::TestRequest;
using net::TestServer;
using testing::HasSubstr;

constexpr auto kAbbreviated = DocumentDetail::abbreviated;
constexpr auto kFull = DocumentDetail::full;

// A registry that says which request this is, and how the document was asked for.
class KeptDocumentsTest : public testing::Test {
 protected:
  KeptDocumentsTest()
      : server_{[this](const TestRequest& request) {
          const bool is_short =
              request.headers.at("accept").find("install-v1") != std::string::npos;
          return http_answer(
              200, std::to_string(++asked_) + (is_short ? " short " : " full ") + request.target);
        }} {
    host_.home = directory_.path();
    host_.prefixes = {};
    use(server_);
  }
  void use(const TestServer& server) {
    host_.environment["npm_config_registry"] = server.url("/npm/");
    registry_ = std::make_unique<Registry>(host_);
  }
  std::string get(const std::string& package, DocumentDetail detail = kAbbreviated) {
    KeptDocuments kept{*registry_, clock_, kept_, rules_};
    return run(kept.get(package, detail, nullptr));
  }
  std::string error_of(const std::string& package) {
    try {
      return "no error: " + get(package);
    } catch (const Error& error) {
      return error.what();
    }
  }
  void age(std::chrono::hours by) {
    for (const auto& entry : fs::directory_iterator{kept_})
      fs::last_write_time(entry.path(), entry.last_write_time() - by);
  }

  TestDirectory directory_;
  std::string kept_ = directory_.path() + "/documents";
  std::atomic<int> asked_ = 0;
  TestServer server_;
  Surroundings host_;
  std::unique_ptr<Registry> registry_;
  SystemClock clock_;
  KeptDocuments::Rules rules_;
};

TEST_F(KeptDocumentsTest, FetchesEachOnceADay) {
  EXPECT_EQ(get("x"), "1 short /npm/x");
  EXPECT_EQ(get("x"), "1 short /npm/x");
  EXPECT_EQ(get("@a/x"), "2 short /npm/@a%2fx");
  age(std::chrono::hours{23});
  EXPECT_EQ(get("x"), "1 short /npm/x");
  age(std::chrono::hours{2});
  EXPECT_EQ(get("x"), "3 short /npm/x");
  EXPECT_EQ(get("x"), "3 short /npm/x");
}

TEST_F(KeptDocumentsTest, FetchesADamagedOneAgain) {
  for (const char* damage : {"", "x", "no hash\n1 short /npm/x"}) {
    get("x");
    for (const auto& entry : fs::directory_iterator{kept_}) std::ofstream{entry.path()} << damage;
    const int before = asked_;
    get("x");
    EXPECT_EQ(asked_, before + 1) << damage;
  }
}

TEST_F(KeptDocumentsTest, KeepsWhatIsAskedForDifferentlyApart) {
  EXPECT_EQ(get("x"), "1 short /npm/x");
  EXPECT_EQ(get("x", kFull), "2 full /npm/x");
  EXPECT_EQ(get("x", kFull), "2 full /npm/x");
  TestServer other{[](const TestRequest&) { return http_answer(200, "of another registry"); }};
  use(other);
  EXPECT_EQ(get("x"), "of another registry");
  use(server_);
  EXPECT_EQ(get("x"), "1 short /npm/x");
}

TEST_F(KeptDocumentsTest, OfflineTakesWhatThereIs) {
  get("x");
  age(std::chrono::hours{1000});
  rules_.offline = true;
  EXPECT_EQ(get("x"), "1 short /npm/x");
  EXPECT_THAT(error_of("y"), HasSubstr("y is not among the packages that are kept here"));
  EXPECT_EQ(asked_, 1);
}

TEST_F(KeptDocumentsTest, AnAgeOfZeroMeansEveryTime) {
  rules_.max_age = std::chrono::seconds{0};
  EXPECT_EQ(get("x"), "1 short /npm/x");
  EXPECT_EQ(get("x"), "2 short /npm/x");
}

TEST_F(KeptDocumentsTest, WorksWithoutADisk) {
  directory_.write("documents", "a file where the directory should be");
  EXPECT_EQ(get("x"), "1 short /npm/x");
  EXPECT_EQ(get("x"), "2 short /npm/x");
}

TEST_F(KeptDocumentsTest, ForgetsWhatIsOld) {
  get("x");
  KeptDocuments::prune(kept_, clock_.wall());
  EXPECT_EQ(get("x"), "1 short /npm/x");
  KeptDocuments::prune(kept_, clock_.wall() + KeptDocuments::kForget + std::chrono::hours{1});
  EXPECT_EQ(get("x"), "2 short /npm/x");
  KeptDocuments::prune(directory_.path() + "/nowhere", clock_.wall());
}

}  // namespace
}  // namespace belljar::packages
