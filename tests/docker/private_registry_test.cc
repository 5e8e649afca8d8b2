// Pulls from a registry that asks who is there, through a real engine: see tests/docker/run.
#include <gmock/gmock.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/posix.h"
#include "base/testing.h"
#include "drivers/docker/engine.h"

namespace belljar::docker {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string needed(const char* name) {
  std::string value = environment(name);
  if (value.empty()) ADD_FAILURE() << name << " is not set: use tests/docker/run";
  return value;
}

class PrivateRegistry : public testing::Test {
 protected:
  // What `docker login` would have written for `registry`; "" for no configuration at all.
  Engine engine_with(const std::string& registry, const std::string& login) const {
    std::shared_ptr<const RegistryCredentials> credentials;
    if (!registry.empty()) {
      const std::string text =
          fmt::format(R"({{"auths":{{"{}":{{"auth":"{}"}}}}}})", registry, base64(login));
      credentials = std::make_shared<const RegistryCredentials>(
          RegistryCredentials::parse(text, "config.json"));
    }
    return Engine{parse_engine_address("unix://" + socket_), std::move(credentials)};
  }

  Task<> pull(Engine& engine) const {
    co_await engine.connect();
    const PullLimits limits;
    co_await engine.pull(image_, limits, nullptr);
  }

  // The message of the pull that the registry refuses.
  std::string refusal_of(Engine engine) const {
    try {
      run(pull(engine));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::denied) << error.what();
      EXPECT_FALSE(run(engine.inspect_image(image_)));
      return error.what();
    }
    ADD_FAILURE() << "it was pulled";
    return "";
  }

  std::string socket_ = needed("BELLJAR_TEST_DOCKER");
  std::string registry_ = needed("BELLJAR_TEST_DOCKER_PRIVATE");
  std::string login_ = needed("BELLJAR_TEST_DOCKER_LOGIN");
  std::string image_ = registry_ + "/node:1";
};

// One test, because an engine keeps what it has pulled.
TEST_F(PrivateRegistry, GivesItsImagesToWhoeverLoggedIn) {
  const auto is_without =
      AllOf(HasSubstr("the registry " + registry_ + " does not give the image"),
            HasSubstr("belljar has no credentials for it"), HasSubstr("docker login " + registry_));
  EXPECT_THAT(refusal_of(engine_with("", "")), is_without);
  // The right login for another registry is not tried here.
  EXPECT_THAT(refusal_of(engine_with("127.0.0.1:1", login_)), is_without);
  EXPECT_THAT(refusal_of(engine_with(registry_, "tester:guessed")),
              AllOf(HasSubstr("to the credentials that docker-config has for it"),
                    HasSubstr("the registry " + registry_), Not(HasSubstr("guessed"))));
  Engine engine = engine_with("http://" + registry_ + "/v2/", login_);
  run(pull(engine));
  EXPECT_TRUE(run(engine.inspect_image(image_)));
}

}  // namespace
}  // namespace belljar::docker
