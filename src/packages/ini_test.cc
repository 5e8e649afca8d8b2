#include "packages/ini.h"

#include <gmock/gmock.h>

namespace belljar::packages {
namespace {

using testing::ElementsAre;

std::vector<std::string> read(std::string_view text) {
  static const std::string home = "/home/me";
  std::vector<std::string> result;
  const Variable variable = [](std::string_view name) { return name == "HOME" ? &home : nullptr; };
  for (const IniEntry& entry : parse_ini(text, variable))
    result.push_back(entry.key + (entry.is_list_item ? "+=" : "=") + entry.value);
  return result;
}

TEST(Ini, ReadsKeysAndValues) {
  EXPECT_THAT(read("a=1\n b = two words \r\nflag\nempty=\n"),
              ElementsAre("a=1", "b=two words", "flag=true", "empty="));
}

TEST(Ini, LeavesCommentsAndSectionsOut) {
  EXPECT_THAT(read("; no\n# no\n\na=1 ; why\nb=x\\;y\\#z\n[section]\nc=3\n"),
              ElementsAre("a=1", "b=x;y#z"));
}

TEST(Ini, UnquotesValues) {
  EXPECT_THAT(read("a=\"x;\\ny\"\nb=' z '\nc=\"broken\\q\"\n"),
              ElementsAre("a=x;\ny", "b= z ", "c=\"broken\\q\""));
}

TEST(Ini, KnowsLists) {
  EXPECT_THAT(read("ca[]=1\nca[] = \"2\"\n"), ElementsAre("ca+=1", "ca+=2"));
}

TEST(Ini, KeepsPlacesAndScopesAsTheyAre) {
  EXPECT_THAT(read("//host:8080/path/:_authToken=abc=\n@my:registry=https://x/\n"),
              ElementsAre("//host:8080/path/:_authToken=abc=", "@my:registry=https://x/"));
}

TEST(Ini, FillsVariablesIn) {
  EXPECT_THAT(read("a=${HOME}/ca.pem\nb=${NOPE}\nc=x${NOPE?}y\n${HOME}=1\nd=${\ne=${}\n"),
              ElementsAre("a=/home/me/ca.pem", "b=${NOPE}", "c=xy", "/home/me=1", "d=${", "e=${}"));
}

}  // namespace
}  // namespace belljar::packages
