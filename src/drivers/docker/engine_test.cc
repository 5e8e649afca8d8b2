#include "drivers/docker/engine.h"

#include <fcntl.h>
#include <gmock/gmock.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/posix.h"
#include "base/testing.h"
#include "drivers/docker/testing.h"
#include "net/test_server.h"

namespace belljar::docker {
namespace {

using net::http_answer;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kVersion =
    R"({"Version":"20.10.24","ApiVersion":"1.41","MinAPIVersion":"1.12","Components":[{"Name":"runc","Version":"1.1.5"}]})";

// Answers /version as an engine does, and everything else with `answer`.
FakeEngine::Handler engine_that_answers(std::string answer) {
  return [answer = std::move(answer)](const FakeRequest& request) {
    return request.line == "GET /version HTTP/1.1" ? http_answer(200, kVersion) : answer;
  };
}

Task<std::string> create(Engine& engine, std::string name) {
  co_await engine.connect();
  json::object spec;
  spec["Image"] = "sha256:1";
  co_return co_await engine.create(std::move(name), std::move(spec));
}

Task<> remove(Engine& engine, std::string id) {
  co_await engine.connect();
  co_await engine.remove(std::move(id));
}

Task<> start(Engine& engine, std::string id) {
  co_await engine.connect();
  co_await engine.start(std::move(id));
}

Task<std::optional<ImageDetails>> inspect_image(Engine& engine, std::string reference) {
  co_await engine.connect();
  co_return co_await engine.inspect_image(std::move(reference));
}

Task<std::vector<std::string>> pull(Engine& engine, std::string reference, PullLimits limits) {
  std::vector<std::string> said;
  std::function<void(std::string_view)> note = [&said](std::string_view text) {
    said.emplace_back(text);
  };
  co_await engine.connect();
  co_await engine.pull(std::move(reference), limits, std::move(note));
  co_return said;
}

Task<std::vector<ContainerSummary>> list(Engine& engine, std::string label) {
  co_await engine.connect();
  co_return co_await engine.list(std::move(label));
}

TEST(Engine, SaysWhoIsThere) {
  const FakeEngine fake{engine_that_answers("")};
  Engine engine{fake.address()};
  const EngineVersion version = run(engine.connect());
  EXPECT_EQ(version.product, "Docker Engine");
  EXPECT_EQ(version.version, "20.10.24");
  EXPECT_EQ(version.api, "1.41");
  EXPECT_EQ(version.runc, "1.1.5");
}

TEST(Engine, SaysWhatToStartIfNobodyIsThere) {
  Engine engine{parse_engine_address("unix:///nonexistent/engine.sock")};
  const auto connect = [&engine] { run(engine.connect()); };
  const std::string message = failure_of(connect, Code::unavailable);
  EXPECT_THAT(message, HasSubstr("no container engine answers at unix:///nonexistent/engine.sock"));
  EXPECT_THAT(message, HasSubstr("systemctl start docker"));
  EXPECT_THAT(message, HasSubstr("podman system service --time=0 unix:///nonexistent/engine.sock"));
}

TEST(Engine, IsNotFooledByAnotherServer) {
  const FakeEngine fake{[](const FakeRequest&) { return http_answer(200, "<html>"); }};
  Engine engine{fake.address()};
  EXPECT_THAT(failure_of([&] { run(engine.connect()); }, Code::unavailable), HasSubstr("no JSON"));
}

TEST(Engine, MakesAContainerOfTheSpec) {
  const FakeEngine fake{engine_that_answers(http_answer(201, R"({"Id":"abc","Warnings":[]})"))};
  Engine engine{fake.address()};
  EXPECT_EQ(run(create(engine, "belljar-1")), "abc");
  const auto requests = fake.requests();
  EXPECT_EQ(requests.back().line, "POST /v1.41/containers/create?name=belljar-1 HTTP/1.1");
  EXPECT_EQ(requests.back().body, R"({"Image":"sha256:1"})");
}

TEST(Engine, RemovesAContainerWhoseLimitsWouldNotHold) {
  const FakeEngine fake{engine_that_answers(http_answer(
      201,
      R"({"Id":"abc","Warnings":["Your kernel does not support swap limit capabilities. Limitation discarded."]})"))};
  Engine engine{fake.address()};
  EXPECT_THAT(failure_of([&] { run(create(engine, "belljar-1")); }, Code::unavailable),
              HasSubstr("would not keep a limit: Your kernel"));
  EXPECT_EQ(fake.requests().back().line, "DELETE /v1.41/containers/abc?force=1&v=1 HTTP/1.1");
}

TEST(Engine, RefusesNamesThatWouldLeadElsewhere) {
  const FakeEngine fake{engine_that_answers(http_answer(200, "{}"))};
  Engine engine{fake.address()};
  for (const char* id :
       {"", "../../images/json", "%2e%2e%2f", "a?x=", "a\r\nX: y", "a/b", "-a", ".."}) {
    failure_of([&] { run(remove(engine, id)); }, Code::invalid);
    failure_of([&] { run(start(engine, id)); }, Code::invalid);
    failure_of([&] { run(create(engine, id)); }, Code::invalid);
  }
  for (const char* image :
       {"", "../x", "a b", "--privileged", "a?tag=b", "a\r\n", "a/B", "a:b:c"}) {
    failure_of([&] { run(inspect_image(engine, image)); }, Code::invalid);
    failure_of([&] { run(pull(engine, image, {})); }, Code::invalid);
  }
  for (const FakeRequest& request : fake.requests())
    EXPECT_EQ(request.line, "GET /version HTTP/1.1");
}

TEST(Engine, EncodesAnImageAsOneSegment) {
  const FakeEngine fake{engine_that_answers(http_answer(404, R"({"message":"no such image"})"))};
  Engine engine{fake.address()};
  EXPECT_EQ(run(inspect_image(engine, "localhost:5000/a/b:1")), std::nullopt);
  EXPECT_EQ(fake.requests().back().line,
            "GET /v1.41/images/localhost%3A5000%2Fa%2Fb%3A1/json HTTP/1.1");
}

Task<std::string> attach(Engine& engine) {
  co_await engine.connect();
  const Fd stream = co_await engine.attach("abc");
  const auto read = [&stream] {
    ::fcntl(stream.get(), F_SETFL, 0);
    return read_to_end(stream.get(), "the stream", 100);
  };
  co_return co_await run_blocking(read);
}

TEST(Engine, HandsOverTheStreamOfAContainerAndNothingOfItsOwn) {
  const FakeEngine fake{
      engine_that_answers("HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\n\r\nwhat it says")};
  Engine engine{fake.address()};
  EXPECT_EQ(run(attach(engine)), "what it says");
  EXPECT_EQ(fake.requests().back().line,
            "POST /v1.41/containers/abc/attach?stream=1&stdin=1&stdout=1&stderr=0 HTTP/1.1");
}

TEST(Engine, SaysThatAContainerHasNoStream) {
  const FakeEngine fake{engine_that_answers(http_answer(404, "{}"))};
  Engine engine{fake.address()};
  EXPECT_THAT(failure_of([&] { run(attach(engine)); }, Code::unavailable),
              HasSubstr("HTTP/1.1 404"));
}

Task<bool> see_memory(Engine& engine) {
  co_await engine.connect();
  co_return co_await engine.saw_out_of_memory("abc");
}

TEST(Engine, TellsWhetherMemoryRanOut) {
  const FakeEngine fake{engine_that_answers(http_answer(200, R"({"Action":"oom"})"))};
  Engine engine{fake.address()};
  EXPECT_TRUE(run(see_memory(engine)));
  EXPECT_THAT(fake.requests().back().line,
              HasSubstr("%7B%22container%22%3A%5B%22abc%22%5D%2C%22event%22%3A%5B%22oom%22%5D%7D"));
  const FakeEngine quiet{engine_that_answers(http_answer(200, ""))};
  Engine other{quiet.address()};
  EXPECT_FALSE(run(see_memory(other)));
}

TEST(Engine, RepeatsWhyItWasRefusedInOneLine) {
  const FakeEngine fake{
      engine_that_answers(http_answer(500, R"({"message":"runc create failed:\n\u001b[31mno"})"))};
  Engine engine{fake.address()};
  EXPECT_EQ(failure_of([&] { run(start(engine, "abc")); }, Code::unavailable),
            "the container engine refused to start a container: runc create failed:  [31mno");
}

TEST(Engine, RemovesWhatIsGoneOrGoing) {
  for (const int status : {204, 404, 409}) {
    const FakeEngine fake{engine_that_answers(http_answer(status, ""))};
    Engine engine{fake.address()};
    run(remove(engine, "abc"));
  }
}

TEST(Engine, GivesUpOnAnAnswerThatIsTooLong) {
  const FakeEngine fake{engine_that_answers("HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n")};
  Engine engine{fake.address()};
  failure_of([&] { run(inspect_image(engine, "node:24")); }, Code::unavailable);
}

TEST(Engine, GivesUpOnAnAnswerThatIsCut) {
  const FakeEngine fake{engine_that_answers("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{")};
  Engine engine{fake.address()};
  failure_of([&] { run(inspect_image(engine, "node:24")); }, Code::unavailable);
}

TEST(Engine, ListsByLabel) {
  const FakeEngine fake{engine_that_answers(http_answer(
      200, R"([{"Id":"abc","Created":5,"Labels":{"belljar.run":"7"}},{"Id":"../x"},3])"))};
  Engine engine{fake.address()};
  const auto containers = run(list(engine, "belljar.run"));
  EXPECT_EQ(fake.requests().back().line,
            "GET /v1.41/containers/json?all=1&filters=%7B%22label%22%3A%5B%22belljar.run%22%5D%7D "
            "HTTP/1.1");
  ASSERT_EQ(containers.size(), 1u);
  EXPECT_EQ(containers[0].id, "abc");
  EXPECT_EQ(containers[0].created, 5);
  EXPECT_EQ(containers[0].labels.at("belljar.run"), "7");
}

// Answers a pull with these lines, and the question for the image with `image`.
FakeEngine::Handler engine_that_pulls(std::string lines, std::string image) {
  return [lines = std::move(lines), image = std::move(image)](const FakeRequest& request) {
    if (request.line == "GET /version HTTP/1.1") return http_answer(200, kVersion);
    if (request.line.rfind("POST", 0) == 0) return http_answer(200, lines);
    return http_answer(200, image);
  };
}

const std::string kImage =
    R"({"Id":"sha256:)" + std::string(64, 'a') + R"(","Size":1000,"RootFS":{"Layers":["a","b"]}})";

TEST(Engine, PullsOneTagAndSaysHowFarItIs) {
  const FakeEngine fake{engine_that_pulls(
      R"({"status":"Pulling from library/node","id":"24"})"
      "\r\n"
      R"({"status":"Downloading","progressDetail":{"current":1048576,"total":2097152},"id":"abc"})"
      "\r\n",
      kImage)};
  Engine engine{fake.address()};
  EXPECT_THAT(run(pull(engine, "node", {})),
              ElementsAre("pulling node: 0 of 1 layers, 1 MiB of 2 MiB"));
  EXPECT_EQ(fake.requests()[1].line,
            "POST /v1.41/images/create?fromImage=node&tag=latest HTTP/1.1");
}

// Lines of a pull of so many layers, of each of which the registry says that it has `size` bytes.
std::string pull_of(int layers, uint64_t size) {
  std::string lines;
  for (int i = 0; i < layers; ++i) {
    lines += fmt::format(
        R"({{"status":"Downloading","progressDetail":{{"current":1,"total":{}}},"id":"{}"}})"
        "\r\n",
        size, i);
  }
  return lines;
}

// Attack DK04: too many layers, and too many bytes, as a registry says them.
TEST(Engine, DK04GivesUpAnImageOnceItIsKnownToCostTooMuch) {
  const PullLimits usual;
  const FakeEngine layers{engine_that_pulls(pull_of(500, 1), kImage)};
  Engine first{layers.address()};
  EXPECT_EQ(failure_of([&] { run(pull(first, "node:24", usual)); }, Code::exhausted),
            "the image node:24 has more than 128 layers");
  const FakeEngine bytes{engine_that_pulls(pull_of(5, 1ull << 30), kImage)};
  Engine second{bytes.address()};
  EXPECT_EQ(failure_of([&] { run(pull(second, "node:24", usual)); }, Code::exhausted),
            "the image node:24 is over the limit of 4 GiB for a download");
}

// Attack DK04: what a registry did not say beforehand.
TEST(Engine, DK04DoesNotKeepAnImageThatIsTooLarge) {
  const FakeEngine fake{engine_that_pulls("", kImage)};
  Engine engine{fake.address()};
  PullLimits limits;
  limits.size = 999;
  EXPECT_THAT(failure_of([&] { run(pull(engine, "node:24", limits)); }, Code::exhausted),
              StartsWith("the image node:24 has"));
  EXPECT_EQ(fake.requests().back().line, "DELETE /v1.41/images/node%3A24 HTTP/1.1");
  limits = {};
  limits.layers = 1;
  failure_of([&] { run(pull(engine, "node:24", limits)); }, Code::exhausted);
}

std::shared_ptr<const RegistryCredentials> logins() {
  return std::make_shared<const RegistryCredentials>(RegistryCredentials::parse(
      R"({"auths":{"h:1":{"auth":"YTpi"},"https://index.docker.io/v1/":{"identitytoken":"t"}},)"
      R"("credHelpers":{"h:3":"pass"}})",
      "config.json"));
}

// The headers X-Registry-Auth of all that was asked, in order.
std::vector<std::string> auths_of(const FakeEngine& fake) {
  std::vector<std::string> list;
  for (const FakeRequest& request : fake.requests()) list.push_back(request.registry_auth);
  return list;
}

TEST(Engine, SendsALoginWithThePullFromItsRegistryOnly) {
  const FakeEngine fake{engine_that_pulls("", kImage)};
  Engine engine{fake.address(), logins()};
  run(pull(engine, "h:1/x:2", {}));
  // Nothing to the question for the version before, nor to that for the image after it.
  EXPECT_THAT(auths_of(fake), ElementsAre("", registry_auth({"h:1", "a", "b", ""}), ""));
  run(pull(engine, "h:2/x:2", {}));
  EXPECT_THAT(auths_of(fake), ElementsAre("", testing::_, "", "", "", ""));
}

TEST(Engine, SendsALoginForTheDefaultRegistryWithAFullName) {
  const FakeEngine fake{engine_that_pulls("", kImage)};
  Engine engine{fake.address(), logins()};
  run(pull(engine, "node:24", {}));
  const FakeRequest request = fake.requests()[1];
  EXPECT_EQ(request.line,
            "POST /v1.41/images/create?fromImage=docker.io%2Flibrary%2Fnode&tag=24 HTTP/1.1");
  EXPECT_EQ(request.registry_auth, registry_auth({"docker.io", "", "", "t"}));
}

TEST(Engine, DoesNotAskForWhatWouldNeedAHelper) {
  const FakeEngine fake{engine_that_pulls("", kImage)};
  Engine engine{fake.address(), logins()};
  EXPECT_THAT(failure_of([&] { run(pull(engine, "h:3/x", {})); }, Code::unavailable),
              HasSubstr("the credential helper \"pass\""));
  EXPECT_EQ(fake.requests().size(), 1u);
}

TEST(Engine, SaysWhichRegistryKeepsAnImageFromUs) {
  const FakeEngine fake{engine_that_answers(
      http_answer(500, R"({"message":"unauthorized: authentication required"})"))};
  Engine engine{fake.address(), logins()};
  EXPECT_THAT(failure_of([&] { run(pull(engine, "h:1/x", {})); }, Code::denied),
              HasSubstr("the registry h:1 does not give the image h:1/x to the credentials"));
  EXPECT_THAT(failure_of([&] { run(pull(engine, "h:2/x", {})); }, Code::denied),
              HasSubstr("belljar has no credentials for it"));
}

TEST(Engine, DoesNotRepeatALoginThatARegistryRepeats) {
  const std::string padding(395, 'x');
  for (const int status : {200, 500}) {
    const std::string words = padding + base64("a:b");
    const std::string body =
        fmt::format(R"({{"{}":"{}"}})", status == 200 ? "error" : "message", words);
    const FakeEngine fake{engine_that_answers(http_answer(status, body))};
    Engine engine{fake.address(), logins()};
    EXPECT_EQ(failure_of([&] { run(pull(engine, "h:1/x", {})); }, Code::unavailable),
              "the image h:1/x cannot be pulled: its words repeat a credential, and are left out");
  }
}

// Attack DK04: a registry that is too slow.
TEST(Engine, DK04GivesUpAPullAfterItsTime) {
  const FakeEngine fake{engine_that_answers(FakeEngine::kSilence)};
  Engine engine{fake.address()};
  PullLimits limits;
  limits.time = milliseconds{50};
  EXPECT_THAT(failure_of([&] { run(pull(engine, "node:24", limits)); }, Code::unavailable),
              HasSubstr("has not answered"));
}

}  // namespace
}  // namespace belljar::docker
