#include "packages/served_document.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace belljar::packages {
namespace {

TEST(ServedDocument, LeavesOutASecondSpellingOfAVersionThatMakesNoSense) {
  const ServedDocument served = serve_document("@a/b", R"({"versions":{
      "1.0.0":{"dist":{"tarball":"http://elsewhere/b.tgz"}},
      "v1.0.0":5,
      "=1.0.0":{"dist":null}}})",
                                               "http://127.0.0.1:1/-/tarball/");
  const json::value body = json::parse(served.body);
  const json::object& versions = body.at("versions").as_object();
  ASSERT_EQ(versions.size(), 1u);
  EXPECT_EQ(versions.at("1.0.0").at("dist").at("tarball").as_string(),
            "http://127.0.0.1:1/-/tarball/@a%2fb/1.0.0.tgz");
}

}  // namespace
}  // namespace belljar::packages
