#include "drivers/docker/engine_answers.h"

#include <gmock/gmock.h>

#include "base/error.h"

namespace belljar::docker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

json::object object(std::string_view text) {
  return json::parse({text.data(), text.size()}).get_object();
}

TEST(EngineAnswers, AgreeOnAVersionThatBothKnow) {
  const auto agree = [](std::string_view newest, std::string_view oldest) {
    json::object answer;
    answer["ApiVersion"] = newest;
    answer["MinAPIVersion"] = oldest;
    return read_version(answer).api;
  };
  EXPECT_EQ(agree("1.41", "1.12"), "1.41");
  EXPECT_EQ(agree("1.43", "1.24"), "1.43");
  EXPECT_EQ(agree("1.52", "1.44"), "1.47");
  EXPECT_THROW(agree("1.40", "1.12"), Error);
  EXPECT_THROW(agree("1.60", "1.50"), Error);
  EXPECT_THROW(agree("", ""), Error);
  EXPECT_THROW(agree("1.x", "../.."), Error);
}

TEST(EngineAnswers, SayWhichVersionIsTooOld) {
  try {
    read_version(object(R"({"Version":"19.03.1","ApiVersion":"1.40"})"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::unavailable);
    EXPECT_THAT(error.what(), HasSubstr("Docker Engine 19.03.1 is too old"));
  }
}

TEST(EngineAnswers, KnowPodman) {
  const EngineVersion version = read_version(object(R"json({
    "Version": "4.3.1", "ApiVersion": "1.41", "MinAPIVersion": "1.24", "Components": [
      {"Name": "Podman Engine", "Version": "4.3.1"},
      {"Name": "OCI Runtime (runc)", "Version": "runc version 1.1.5+ds1\ncommit: x"}]})json"));
  EXPECT_EQ(version.product, "Podman");
  EXPECT_EQ(version.runc, "1.1.5+ds1");
}

TEST(EngineAnswers, DescribeTheEngine) {
  const EngineInfo info = read_info(object(
      R"({"Runtimes":{"runc":{},"runsc":{}},"DefaultRuntime":"runc","CgroupVersion":"2","MemoryLimit":true,
          "SwapLimit":true,"PidsLimit":true,"CpuCfsQuota":true,"OSType":"linux","Architecture":"x86_64",
          "SecurityOptions":["name=seccomp,profile=default","name=userns"]})"));
  EXPECT_THAT(info.runtimes, ElementsAre("runc", "runsc"));
  EXPECT_EQ(info.cgroup_version, 2);
  EXPECT_TRUE(info.has_seccomp && info.has_user_namespaces && !info.is_rootless);
  EXPECT_TRUE(info.limits_memory && info.limits_swap && info.limits_pids && info.limits_cpu);
  EXPECT_TRUE(read_info(object(R"({"SecurityOptions":["name=rootless"]})")).is_rootless);
}

TEST(EngineAnswers, TellRuntimesWithAKernelOfTheirOwn) {
  const EngineInfo info = read_info(object(R"({"Runtimes":{
      "runc":{"path":"runc"},"crun":{"path":"/opt/runsc/bin/crun"},"runsc":{"path":"/usr/bin/x"},
      "sandboxed":{"path":"/usr/bin/runsc"},"io.containerd.kata.v2":{},"odd":7,
      "vm":{"runtimeType":"io.containerd.kata.v2"}}})"));
  EXPECT_THAT(info.own_kernel_runtimes,
              UnorderedElementsAre("runsc", "sandboxed", "io.containerd.kata.v2", "vm"));
}

TEST(EngineAnswers, SayWhereAMountComesFrom) {
  const json::object answer = object(
      R"({"Mounts":[7,{"Destination":"/a","Source":"/x"},{"Destination":"/b","Source":"/y"}]})");
  EXPECT_EQ(read_mount_source(answer, "/b"), "/y");
  EXPECT_EQ(read_mount_source(answer, "/c"), "");
  EXPECT_EQ(read_mount_source({}, "/b"), "");
}

TEST(EngineAnswers, CountWhatIsMissingAsNotThere) {
  const EngineInfo info = read_info(object(R"({"SecurityOptions":7,"MemoryLimit":"yes"})"));
  EXPECT_FALSE(info.has_seccomp || info.limits_memory);
  EXPECT_FALSE(read_state(object(R"({"State":[]})")).running);
  EXPECT_THROW(read_image(object(R"({"Id":"../x"})")), Error);
}

TEST(EngineAnswers, DescribeAnImage) {
  const std::string digits(64, 'a');
  const ImageDetails image = read_image(object(
      R"({"Id":")" + digits +
      R"(","Size":10,"Architecture":"amd64","RootFS":{"Layers":["x","y"]},"Config":{"Env":["A=b"],"Volumes":{"/data":{}}}})"));
  EXPECT_EQ(image.id, "sha256:" + digits);
  EXPECT_EQ(image.size, 10u);
  EXPECT_EQ(image.layers, 2);
  EXPECT_THAT(image.env, ElementsAre("A=b"));
  EXPECT_THAT(image.volumes, ElementsAre("/data"));
}

TEST(EngineAnswers, DescribeAContainer) {
  const ContainerState state = read_state(object(
      R"({"State":{"Running":true,"OOMKilled":true,"ExitCode":137,"Pid":42,"Error":"a\nb"}})"));
  EXPECT_TRUE(state.running && state.out_of_memory);
  EXPECT_EQ(state.exit_code, 137);
  EXPECT_EQ(state.pid, 42);
  EXPECT_EQ(state.error, "a b");
}

TEST(EngineAnswers, AreRepeatedAsOneCleanLine) {
  EXPECT_EQ(read_refusal(R"({"message":"no\r\nway"})"), "no  way");
  EXPECT_EQ(read_refusal("no\nway"), "no way");
  EXPECT_EQ(one_line("a\x1b[2J\xff", 10), "a [2J\xef\xbf\xbd");
  EXPECT_EQ(one_line(std::string(1000, 'x')).size(), 400u);
}

}  // namespace
}  // namespace belljar::docker
