#include "drivers/docker/pull_refusal.h"

#include <gmock/gmock.h>

#include "base/bytes.h"
#include "base/error.h"

namespace belljar::docker {
namespace {

using testing::HasSubstr;
using testing::Not;

const RegistryLogin kLogin{"ghcr.io", "acme", "hunter:2", ""};

std::string refusal(const RegistryLogin* login, int status, const std::string& words,
                    Code expected) {
  try {
    refuse_pull(PullSubject{"ghcr.io/acme/tools:1", "ghcr.io", login}, status, words);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), expected) << error.what();
    return error.what();
  }
}

// As Docker 20.10 and Podman 4.3 say it.
TEST(PullRefusal, SaysWhichRegistryAndWhetherThereWereCredentials) {
  for (const char* words : {R"(Head "https://ghcr.io/v2/x/manifests/1": no basic auth credentials)",
                            "unauthorized: authentication required",
                            "pull access denied for acme/tools, repository does not exist or may "
                            "require 'docker login': denied: requested access to the resource is "
                            "denied",
                            "reading manifest 1 in ghcr.io/x: unauthorized: incorrect username or "
                            "password"}) {
    const std::string nobody = refusal(nullptr, 500, words, Code::denied);
    EXPECT_THAT(nobody, HasSubstr("the registry ghcr.io does not give"));
    EXPECT_THAT(nobody, HasSubstr("belljar has no credentials for it"));
    EXPECT_THAT(nobody, HasSubstr("docker login ghcr.io"));
    EXPECT_THAT(nobody, HasSubstr(words));
    const std::string somebody = refusal(&kLogin, 404, words, Code::denied);
    EXPECT_THAT(somebody, HasSubstr("the registry ghcr.io does not give"));
    EXPECT_THAT(somebody, HasSubstr("to the credentials that docker-config has for it"));
  }
  refusal(nullptr, 401, "", Code::denied);
  refusal(nullptr, 403, "", Code::denied);
}

TEST(PullRefusal, IsOtherwiseAboutTheImage) {
  EXPECT_EQ(refusal(&kLogin, 404, "manifest unknown", Code::not_found),
            "the image ghcr.io/acme/tools:1 cannot be pulled: manifest unknown");
  EXPECT_EQ(refusal(nullptr, 500, "", Code::unavailable),
            "the image ghcr.io/acme/tools:1 cannot be pulled: it says no more");
  // The engine's own trouble is no matter of credentials.
  refusal(nullptr, 500, "open /var/lib/docker/tmp: permission denied", Code::unavailable);
}

TEST(PullRefusal, NeverRepeatsACredential) {
  const std::string filler(390, 'x');  // beyond what is shown of long words
  for (const std::string& secret :
       {std::string{"hunter:2"}, base64("acme:hunter:2"), registry_auth(kLogin)}) {
    for (const std::string& before : {std::string{"denied: you sent "}, filler}) {
      for (const int status : {401, 500}) {
        const Code code = status == 401 || before != filler ? Code::denied : Code::unavailable;
        const std::string told = refusal(&kLogin, status, before + secret, code);
        EXPECT_THAT(told, Not(HasSubstr(secret.substr(0, 4))));
        EXPECT_THAT(told, HasSubstr("repeat a credential"));
      }
    }
  }
}

}  // namespace
}  // namespace belljar::docker
