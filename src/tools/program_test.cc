#include "tools/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/environment.h"
#include "tools/testing.h"

namespace belljar::tools {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<Parameter> parameters() {
  std::vector<Parameter> all = program_parameters(Settings{});
  all.push_back(code_parameter(Settings{}));
  return all;
}

Program read(const json::object& sent) {
  return read_program(Arguments::read(parameters(), sent), Settings{});
}
Program read(std::string_view text) {
  return read(json::parse(text).as_object());
}

Image image(std::string version, std::string prefix = "/opt/node") {
  Image image;
  image.name = "node:test";
  image.node_version = std::move(version);
  image.prefix = std::move(prefix);
  return image;
}

Command typescript_on(const char* version) {
  Program program;
  program.language = Program::Language::typescript;
  return make_command(std::move(program), image(version), 1);
}

TEST(ReadProgram, TakesEverythingThatWasGiven) {
  const Program program = read(R"({"code":"c","language":"typescript","args":["a"],"env":{"K":"v"},
                                   "stdin":"i\u0000n","timeoutMs":7})");
  EXPECT_EQ(program.code, "c");
  EXPECT_EQ(program.language, Program::Language::typescript);
  EXPECT_THAT(program.args, ElementsAre("a"));
  EXPECT_EQ(program.env.at("K"), "v");
  EXPECT_EQ(program.input, std::string("i\0n", 3));
  EXPECT_EQ(program.timeout, milliseconds{7});
}

TEST(ReadProgram, LimitsArgumentsAndEnvironmentTogether) {
  json::object sent;
  sent["code"] = "c";
  json::array args;
  for (int i = 0; i < 50; ++i) args.emplace_back(std::string(1000, 'a'));
  sent["args"] = args;
  EXPECT_NO_THROW(read(sent));
  json::object env;
  env["BIG"] = std::string(50000, 'b');
  sent["env"] = env;
  EXPECT_THAT(error_of([&sent] { read(sent); }), HasSubstr("they must have at most 96 KiB"));
}

TEST(Environment, RefusesNamesThatAreNone) {
  for (const char* name : {"", "1A", "A=B", "A-B", "A B", "A\nB", "é", "A.B"}) {
    EXPECT_THAT(error_of([name] {
                  check_environment({{name, "x"}});
                }),
                HasSubstr("a name must consist of letters"))
        << name;
  }
}

TEST(Environment, RefusesVariablesThatAreNotTheProgramsToSet) {
  for (const char* name : {"LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH", "NODE_OPTIONS",
                           "NODE_EXTRA_CA_CERTS", "PATH", "HOME", "HTTPS_PROXY", "http_proxy"}) {
    EXPECT_THAT(error_of([name] {
                  check_environment({{name, "x"}});
                }),
                HasSubstr(std::string{name} + ", which is not allowed: "))
        << name;
  }
  EXPECT_NO_THROW(check_environment({{"_", ""}, {"NODE_ENV", "test"}, {"PATHS", "a\nb"}}));
}

TEST(MakeCommand, RunsTheFileWithTheNodeOfTheImage) {
  Program program;
  program.code = "c";
  program.args = {"--flag", ""};
  const Command command = make_command(program, image("24.1.0"), 1);
  EXPECT_THAT(command.argv,
              ElementsAre("/usr/local/bin/node", "/workspace/index.js", "--flag", ""));
  EXPECT_EQ(command.source->path, "/workspace/index.js");
  EXPECT_EQ(command.source->content, "c");
  EXPECT_EQ(make_command(program, image("24.1.0", ""), 1).argv[0], "/usr/bin/node");
  EXPECT_EQ(make_command(program, image("24.1.0"), 2).source->path, "/workspace/index-2.js");
}

TEST(MakeCommand, TellsANodeThatNeedsItToStripTypes) {
  for (const char* version : {"22.18.0", "22.21.1", "23.6.0", "24.1.0", "26.0.0", "v24.3.0"}) {
    EXPECT_THAT(typescript_on(version).argv,
                ElementsAre("/usr/local/bin/node", "/workspace/index.ts"))
        << version;
  }
  for (const char* version : {"22.6.0", "22.17.1", "23.0.0", "23.5.0"}) {
    EXPECT_EQ(typescript_on(version).argv[1], "--experimental-strip-types") << version;
  }
  for (const char* version : {"20.20.2", "22.5.1", "21.0.0"}) {
    EXPECT_THAT(
        error_of([version] { typescript_on(version); }),
        HasSubstr(std::string{"needs Node.js 22.6 or newer, but node:test is Node.js "} + version));
  }
}

}  // namespace
}  // namespace belljar::tools
