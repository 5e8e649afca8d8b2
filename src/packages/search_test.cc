#include "packages/search.h"

#include <gmock/gmock.h>

#include <map>

#include "base/error.h"
#include "base/testing.h"
#include "base/utf8.h"
#include "net/test_server.h"
#include "packages/testing.h"

namespace belljar::packages {
namespace {

using net::http_answer;
using net::TestRequest;
using net::TestServer;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class SearchTest : public testing::Test {
 protected:
  SearchTest() { host_.prefixes = {}; }
  void use(const TestServer& server) {
    host_.environment["npm_config_registry"] = server.url("/npm/");
    registry_ = std::make_unique<Registry>(host_);
  }
  std::vector<FoundPackage> search(SearchQuery query) {
    return run(search_packages(*registry_, std::move(query)));
  }
  std::string error_of(SearchQuery query) {
    try {
      search(std::move(query));
    } catch (const Error& error) {
      code_ = error.code();
      return error.what();
    }
    return "no error";
  }

  Surroundings host_;
  std::unique_ptr<Registry> registry_;
  Code code_ = Code::internal;
};

std::string hits(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names)
    text += (text.empty() ? "" : ",") + (R"({"package":{"name":")" + name) +
            R"(","description":"about )" + name + R"("}})";
  return R"({"objects":[)" + text + "]}";
}

TEST_F(SearchTest, ReturnsNameDescriptionAndTheBeginningOfTheReadme) {
  TestServer server{[](const TestRequest& request) {
    if (request.target.starts_with("/npm/-/v1/search"))
      return http_answer(200, hits({"a", "@b/c"}));
    if (request.target == "/npm/a")
      return http_answer(200, R"({"readme":"# A\u001b[31m\r\nré)" + std::string(600, 'x') + "\"}");
    return http_answer(404, "{}");
  }};
  use(server);
  const auto found = search({.term = "a"});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].name, "a");
  EXPECT_EQ(found[0].description, "about a");
  EXPECT_EQ(found[0].readme, "# A[31m\nré" + std::string(490, 'x'));
  EXPECT_EQ(found[1].name, "@b/c");
  EXPECT_EQ(found[1].readme, "");
}

TEST_F(SearchTest, AsksForFiveByPopularityWithEveryQualifierEncoded) {
  TestServer server{[](const TestRequest&) { return http_answer(200, R"({"objects":[]})"); }};
  use(server);
  EXPECT_THAT(search({.term = "a&size=9#",
                      .author = "jo",
                      .maintainer = "mo",
                      .scope = "@types",
                      .keywords = "x,y",
                      .exclude = "insecure",
                      .is = "unstable",
                      .boost_exact = "false"}),
              IsEmpty());
  EXPECT_EQ(server.requests().at(0).target,
            "/npm/-/v1/search?text=a%26size%3D9%23%20author%3Ajo%20maintainer%3Amo%20scope%3Atypes"
            "%20keywords%3Ax%2Cy%20not%3Ainsecure%20is%3Aunstable%20boost-exact%3Afalse"
            "&size=5&popularity=1.0&quality=0.0&maintenance=0.0");
}

TEST_F(SearchTest, RefusesMoreThanOneWord) {
  TestServer server{[](const TestRequest&) { return http_answer(200, "{}"); }};
  use(server);
  EXPECT_THAT(error_of({.term = "two words"}), HasSubstr(R"("searchTerm" is "two words")"));
  EXPECT_THAT(error_of({.term = "a\r\nHost: x"}), HasSubstr("searchTerm"));
  EXPECT_THAT(error_of({.term = std::string(300, 'a')}), HasSubstr("at most 256 bytes"));
  EXPECT_THAT(error_of({.term = "a", .author = "x not:y"}), HasSubstr("qualifiers.author"));
  EXPECT_EQ(code_, Code::invalid);
  EXPECT_THAT(server.requests(), IsEmpty());
}

TEST_F(SearchTest, SaysSoIfTheRegistryCannotSearch) {
  const std::map<std::string, std::string> answers = {
      {"absent", http_answer(404, "{}")},
      {"refused", http_answer(405, "")},
      {"unwritten", http_answer(501, "")},
      {"failing", http_answer(500, "")},
      {"page", http_answer(200, "<!doctype html><p>hello")},
      {"list", http_answer(200, "[]")},
      {"number", http_answer(200, R"({"objects":7})")},
  };
  TestServer server{[&answers](const TestRequest& request) {
    const size_t start = request.target.find("text=") + 5;
    return answers.at(request.target.substr(start, request.target.find('&') - start));
  }};
  use(server);
  for (const auto& [term, answer] : answers) {
    const std::string text = error_of({.term = term});
    EXPECT_EQ(code_, Code::unavailable);
    EXPECT_THAT(text, AllOf(HasSubstr("127.0.0.1:" + std::to_string(server.port())),
                            HasSubstr("cannot search"), HasSubstr("get_dependency_types"),
                            HasSubstr("registry in ~/.npmrc")));
  }
}

TEST_F(SearchTest, PassesOverHitsThatMakeNoSense) {
  TestServer server{[](const TestRequest& request) {
    if (!request.target.starts_with("/npm/-/")) return http_answer(200, "not JSON");
    return http_answer(200, R"({"objects":[1,{},{"package":7},{"package":{"name":"../x"}},
        {"package":{"name":"ok","description":7}},{"package":{"name":"a b"}},
        {"package":{"name":"b"}},{"package":{"name":"c"}},{"package":{"name":"d"}},
        {"package":{"name":"e"}},{"package":{"name":"f"}}]})");
  }};
  use(server);
  std::vector<std::string> names;
  for (const FoundPackage& found : search({.term = "a"})) {
    names.push_back(found.name);
    EXPECT_EQ(found.readme, "");
  }
  EXPECT_THAT(names, ElementsAre("ok", "b", "c", "d", "e"));
}

TEST_F(SearchTest, FindsNamesNearAMistypedOne) {
  TestServer server{[](const TestRequest& request) {
    // A registry that looks for the text as it is.
    return http_answer(200, request.target.find("text=lo&") != std::string::npos
                                ? hits({"lodash", "lodash-es", "loadash", "logger"})
                                : hits({}));
  }};
  use(server);
  EXPECT_THAT(run(near_names(*registry_, "lodahs")), ElementsAre("lodash"));
}

TEST_F(SearchTest, KnowsNoNearNamesWithoutSearch) {
  TestServer server{[](const TestRequest&) { return http_answer(404, "{}"); }};
  use(server);
  EXPECT_THAT(run(near_names(*registry_, "lodahs")), IsEmpty());
}

TEST(EditDistance, CountsSlips) {
  EXPECT_EQ(edit_distance("lodash", "lodash"), 0u);
  EXPECT_EQ(edit_distance("lodahs", "lodash"), 1u);
  EXPECT_EQ(edit_distance("lodsh", "lodash"), 1u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("reakt", "react"), 1u);
}

}  // namespace
}  // namespace belljar::packages
