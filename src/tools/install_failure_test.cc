#include "tools/install_failure.h"

#include <gmock/gmock.h>

#include <csignal>

namespace belljar::tools {

namespace {

using testing::HasSubstr;
using testing::StartsWith;

InstallFailure failure_of(std::string_view printed) {
  InstallFailure failure;
  failure.run.outcome.code = 1;
  failure.complaint = read_complaint(printed);
  return failure;
}

TEST(InstallFailure, NamesAPackageThatDoesNotExist) {
  InstallFailure failure = failure_of(
      "npm error code E404\n"
      "npm error 404 Not Found - GET http://127.0.0.1:4000/lodahs - the registry …\n");
  failure.trouble = {Code::not_found, "lodahs", "the registry does not have the package lodahs"};
  EXPECT_STREQ(explain(failure).what(),
               "no package \"lodahs\" in the registry; check its spelling");
  EXPECT_EQ(explain(failure).code(), Code::not_found);
}

TEST(InstallFailure, NamesTheNewestVersionWhenNoneFits) {
  InstallFailure failure = failure_of(
      "npm error code ETARGET\n"
      "npm error notarget No matching version found for @types/node@^99.\n"
      "npm error notarget In most cases you or one of your dependencies are requesting …\n");
  EXPECT_EQ(failure.complaint.unmatched(), "@types/node@^99");
  EXPECT_EQ(name_in_spec(failure.complaint.unmatched()), "@types/node");
  EXPECT_STREQ(explain(failure).what(), "no version of @types/node fits ^99");
  failure.newest = "24.1.0";
  EXPECT_STREQ(explain(failure).what(), "no version of @types/node fits ^99; the newest is 24.1.0");
}

TEST(InstallFailure, SaysWhichPackagesDoNotFitTogether) {
  const char* const printed =
      "npm ERR! code ERESOLVE\n"
      "npm ERR! ERESOLVE unable to resolve dependency tree\n"
      "npm ERR! \n"
      "npm ERR! Found: react@18.2.0\n"
      "npm ERR! node_modules/react\n"
      "npm ERR! Could not resolve dependency:\n"
      "npm ERR! peer react@\"^19.0.0\" from react-dom@19.0.0\n";
  EXPECT_THAT(explain(failure_of(printed)).what(),
              StartsWith("ERESOLVE: react-dom@19.0.0 needs react@\"^19.0.0\", but react@18.2.0 is "
                         "what would be installed"));
  EXPECT_THAT(explain(failure_of("npm error code ERESOLVE\n")).what(),
              HasSubstr("do not fit together"));
}

TEST(InstallFailure, TellsWhatWasWrongWithTheRegistry) {
  InstallFailure failure = failure_of("npm error code E502\nnpm error 502 Bad Gateway\n");
  failure.trouble = {Code::unavailable, "x", "GET https://r/x: cannot connect to r"};
  EXPECT_STREQ(explain(failure).what(), "GET https://r/x: cannot connect to r");
  EXPECT_EQ(explain(failure).code(), Code::unavailable);
  failure.trouble = {Code::denied, "x", "x 1.0.0 does not have the sha512 that …"};
  EXPECT_EQ(explain(failure).code(), Code::denied);
}

TEST(InstallFailure, SaysThatALimitWasReachedAndWhichOne) {
  InstallFailure failure = failure_of("npm error code ENOSPC\n");
  failure.limits.disk = 256u << 20;
  failure.limits.memory = 1u << 30;
  failure.timeout = milliseconds{5000};
  EXPECT_STREQ(explain(failure).what(),
               "the packages need more than 256 MiB of disk; raise limits.disk or install fewer");
  failure.run.outcome.kind = Outcome::Kind::out_of_memory;
  EXPECT_THAT(explain(failure).what(), HasSubstr("more than 1 GiB of memory"));
  failure.run.outcome.kind = Outcome::Kind::timed_out;
  EXPECT_THAT(explain(failure).what(), HasSubstr("ETIMEDOUT"));
  EXPECT_THAT(explain(failure).what(), HasSubstr("5000 ms"));
  failure.waiting_for = "lodash";
  EXPECT_THAT(explain(failure).what(), HasSubstr("the registry had not sent lodash yet"));
  EXPECT_EQ(explain(failure).code(), Code::exhausted);
}

TEST(InstallFailure, SaysThatAPackageIsForAnotherMachineOrNotFromTheRegistry) {
  EXPECT_STREQ(explain(failure_of("npm error code EBADPLATFORM\n"
                                  "npm error notsup Unsupported platform for x@1: wanted …\n"))
                   .what(),
               "Unsupported platform for x@1: wanted …");
  EXPECT_THAT(
      explain(failure_of("npm error code EALLOWGIT\nnpm error Fetching of type git\n")).what(),
      HasSubstr("not from the registry"));
}

TEST(InstallFailure, TellsWhateverNpmSaidWhenNothingElseIsKnown) {
  EXPECT_STREQ(explain(failure_of("npm error code EWEIRD\nnpm error strange things\n")).what(),
               "npm failed with EWEIRD: strange things");
  EXPECT_STREQ(explain(failure_of("Segmentation\n")).what(), "npm failed with exit status 1");
  InstallFailure failure = failure_of("");
  failure.run.outcome.kind = Outcome::Kind::signaled;
  failure.run.outcome.code = SIGABRT;
  EXPECT_STREQ(explain(failure).what(), "npm was ended by SIGABRT");
}

}  // namespace

}  // namespace belljar::tools
