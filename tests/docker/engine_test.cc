// The client of container engines against a real one: see tests/docker/run.
#include "drivers/docker/engine.h"

#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <regex>

#include "base/error.h"
#include "base/posix.h"
#include "base/testing.h"
#include "drivers/docker/container_spec.h"
#include "drivers/docker/engine_check.h"
#include "drivers/docker/seccomp_profile.h"

namespace belljar::docker {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string needed(const char* name) {
  std::string value = environment(name);
  if (value.empty()) ADD_FAILURE() << name << " is not set: use tests/docker/run";
  return value;
}

template <class Call>
Code code_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code();
  }
  return Code::internal;
}

json::array words(std::initializer_list<std::string_view> list) {
  json::array array;
  for (const std::string_view word : list) array.emplace_back(word);
  return array;
}

class RealEngine : public testing::Test {
 protected:
  void SetUp() override {
    version_ = run(engine_.connect());
    ASSERT_TRUE(::mkdtemp(directory_) != nullptr);
    for (const char* part : {"/host", "/files"})
      ASSERT_EQ(::mkdir((directory_ + std::string{part}).c_str(), 0755), 0);
    ASSERT_EQ(::chown(files().c_str(), 1000, 1000), 0);
  }
  void TearDown() override {
    for (const ContainerSummary& left : run(engine_.list(kLabel))) run(engine_.remove(left.id));
    std::filesystem::remove_all(directory_);
  }

  bool is_podman() const { return version_.product == "Podman"; }
  std::string files() const { return directory_ + std::string{"/files"}; }

  // As the driver would make it, with the probe of the tests as its first process.
  ContainerWishes wishes() {
    ContainerWishes wishes;
    const auto image = run(engine_.inspect_image(needed("BELLJAR_TEST_DOCKER_IMAGE")));
    if (!image) fail(Code::not_found, "the engine does not have the image of the tests");
    wishes.image = image->id;
    wishes.agent_program = BELLJAR_SECCOMP_PROBE;
    wishes.host_directory = directory_ + std::string{"/host"};
    wishes.files = files();
    wishes.for_podman = is_podman();
    wishes.seccomp = seccomp();
    wishes.labels = {{"belljar.test", std::to_string(::getpid())}};
    return wishes;
  }

  // Runs the container until it ends.
  Task<ContainerState> run_to_end(json::object spec) {
    const std::string id = co_await engine_.create("belljar-test", std::move(spec));
    co_await engine_.start(id);
    ContainerState state = co_await engine_.inspect(id);
    for (int i = 0; state.running && i < 1000; ++i) {
      co_await sleep_for(kPause);
      state = co_await engine_.inspect(id);
    }
    co_await engine_.remove(id);
    co_return state;
  }

  std::string seccomp() {
    if (!is_podman()) return seccomp_profile();
    const std::string path = directory_ + std::string{"/seccomp.json"};
    write_file_atomically(path, seccomp_profile());
    return path;
  }

  static constexpr milliseconds kPause{20};
  static constexpr const char* kLabel = "belljar.test";
  char directory_[30] = "/var/tmp/belljar-test-XXXXXX";
  Engine engine_{parse_engine_address("unix://" + needed("BELLJAR_TEST_DOCKER"))};
  EngineVersion version_;
};

TEST_F(RealEngine, SaysWhoItIsAndWhatItCanDo) {
  EXPECT_TRUE(version_.product == "Docker Engine" || version_.product == "Podman");
  EXPECT_THAT(version_.version, Not(IsEmpty()));
  EXPECT_EQ(version_.api.substr(0, 3), "1.4");
  const EngineInfo info = run(engine_.info());
  EXPECT_THAT(info.runtimes, Contains("runc"));
  EXPECT_EQ(info.os, "linux");
  EXPECT_THAT(find_unmet(check_engine(version_, info), {}), IsEmpty());
}

TEST_F(RealEngine, KnowsItsImages) {
  const auto image = run(engine_.inspect_image(needed("BELLJAR_TEST_DOCKER_IMAGE")));
  ASSERT_TRUE(image);
  EXPECT_GT(image->size, 1u << 20);
  EXPECT_EQ(image->layers, 1);
  EXPECT_THAT(image->env, Contains("PATH=/usr/local/bin:/usr/bin:/bin"));
  EXPECT_EQ(run(engine_.inspect_image(image->id))->id, image->id);
  EXPECT_FALSE(run(engine_.inspect_image("belljar-test/nowhere:1")));
  EXPECT_FALSE(run(engine_.inspect_image("sha256:" + std::string(64, '0'))));
}

TEST_F(RealEngine, MakesListsAndRemovesContainers) {
  const std::string id = run(engine_.create("belljar-test", container_spec(wishes())));
  EXPECT_FALSE(run(engine_.inspect(id)).running);
  const auto listed = run(engine_.list("belljar.test=" + std::to_string(::getpid())));
  ASSERT_EQ(listed.size(), 1u);
  EXPECT_EQ(listed[0].id, id);
  EXPECT_GT(listed[0].created, 1'500'000'000);
  EXPECT_THAT(run(engine_.list("belljar.test=other")), IsEmpty());
  run(engine_.remove("belljar-test"));
  run(engine_.remove(id));
  EXPECT_EQ(code_of([&] { run(engine_.inspect(id)); }), Code::not_found);
}

// What Docker says of a container that was made, as far as it could open something.
constexpr const char* kGolden = R"({
  "Privileged": false, "CapAdd": [], "CapDrop": ["ALL"], "ReadonlyRootfs": true,
  "NetworkMode": "none", "PidMode": "", "IpcMode": "none", "UTSMode": "", "UsernsMode": "",
  "CgroupnsMode": "private", "CgroupParent": "", "Devices": [], "DeviceCgroupRules": [],
  "GroupAdd": [], "PublishAllPorts": false, "PortBindings": null, "Memory": 536870912,
  "MemorySwap": 536870912, "NanoCpus": 1000000000, "PidsLimit": 256, "OomKillDisable": false,
  "Binds": [], "VolumesFrom": null, "AutoRemove": false, "Init": false,
  "LogConfig": {"Type": "none", "Config": {}},
  "RestartPolicy": {"Name": "no", "MaximumRetryCount": 0}})";

// Attack DK01.
TEST_F(RealEngine, MakesExactlyWhatItWasAskedFor) {
  if (is_podman()) return;  // says all this otherwise: IsSealedFromInside
  const std::string id = run(engine_.create("belljar-test", container_spec(wishes())));
  const json::object whole = run(engine_.inspect_whole(id));
  const json::object& host = whole.at("HostConfig").as_object();
  const json::value golden = json::parse(kGolden);
  for (const auto& wanted : golden.as_object())
    EXPECT_EQ(host.at(wanted.key()), wanted.value()) << wanted.key();
  EXPECT_EQ(host.at("SecurityOpt").as_array().size(), 2u);
  EXPECT_EQ(host.at("SecurityOpt").at(1).as_string(), "seccomp=" + seccomp_profile());
  EXPECT_NE(whole.at("AppArmorProfile"), "unconfined");
  ASSERT_EQ(whole.at("Mounts").as_array().size(), 3u);
  for (const json::value& mount : whole.at("Mounts").as_array())
    EXPECT_EQ(mount.at("RW").as_bool(), mount.at("Destination") == "/workspace/files");
  EXPECT_EQ(whole.at("Config").at("User"), "1000:1000");
  EXPECT_EQ(whole.at("Config").at("Healthcheck"), json::parse(R"({"Test": ["NONE"]})"));
}

TEST_F(RealEngine, KillsWhatRunsWhenItIsRemoved) {
  json::object spec = container_spec(wishes());
  spec["Entrypoint"] = words({"/bin/sleep", "1000"});
  const std::string id = run(engine_.create("belljar-test", std::move(spec)));
  run(engine_.start(id));
  run(engine_.start(id));
  const ContainerState state = run(engine_.inspect(id));
  EXPECT_TRUE(state.running);
  EXPECT_GT(state.pid, 0);
  run(engine_.remove(id));
  EXPECT_NE(::access(fmt::format("/proc/{}/root/bin/busybox", state.pid).c_str(), F_OK), 0);
}

TEST_F(RealEngine, RefusesAnImageOrRuntimeThatIsNotThere) {
  ContainerWishes other = wishes();
  other.image = "sha256:" + std::string(64, '0');
  EXPECT_EQ(code_of([&] { run(engine_.create("belljar-test", container_spec(other))); }),
            Code::not_found);
  const EngineInfo info = run(engine_.info());
  check_runtime(version_, info, info.default_runtime);
  EXPECT_EQ(code_of([&] { check_runtime(version_, info, "nonexistent"); }), Code::unavailable);
  if (is_podman()) return;  // takes any name, and ignores it
  other = wishes();
  other.runtime = "nonexistent";
  EXPECT_EQ(code_of([&] { run(run_to_end(container_spec(other))); }), Code::unavailable);
}

TEST_F(RealEngine, EnforcesTheSeccompProfile) {
  const ContainerState state = run(run_to_end(container_spec(wishes())));
  EXPECT_EQ(state.exit_code, 0) << state.error;
  EXPECT_EQ(read_file(files() + "/probe"), "done\n");
}

// What a program finds out about itself, as lines "name value".
constexpr const char* kPosture = R"sh(
  exec >/workspace/files/posture
  echo "ids $(id -u) $(id -g) $(id -G)"
  for word in CapInh CapPrm CapEff CapBnd CapAmb NoNewPrivs Seccomp; do
    echo "$word $(grep "^$word:" /proc/self/status | cut -f 2)"
  done
  echo "network $(ls /sys/class/net)"
  for place in / /bin /etc /run /dev /sys/fs/cgroup /.belljar /.belljar/host /workspace /workspace/files /tmp /home/node; do
    (: >"$place/x") 2>/dev/null && echo "writable $place"
  done
  cgroup=/sys/fs/cgroup
  for file in $cgroup/memory/memory.limit_in_bytes $cgroup/memory/memory.memsw.limit_in_bytes $cgroup/pids/pids.max \
              $cgroup/memory.max $cgroup/memory.swap.max $cgroup/pids.max; do
    [ -e "$file" ] && echo "limit $(cat "$file")"
  done
  for name in ipc mnt net pid uts; do echo "namespace $(readlink /proc/self/ns/$name)"; done
  set -- /proc/[0-9]*
  echo "processes $#"
  ls /var/run/docker.sock /run/docker.sock /run/podman /run/containerd 2>/dev/null
  echo end
)sh";

// Attacks DK01 and DK02, from inside.
TEST_F(RealEngine, IsSealedFromInside) {
  json::object spec = container_spec(wishes());
  spec["Entrypoint"] = words({"/bin/sh", "-c", kPosture});
  run(run_to_end(std::move(spec)));
  std::string said = read_file(files() + "/posture");
  for (const char* name : {"ipc", "mnt", "net", "pid", "uts"}) {
    const std::string ours = std::filesystem::read_symlink("/proc/self/ns/" + std::string{name});
    EXPECT_THAT(said, Not(HasSubstr(ours)));
  }
  said = std::regex_replace(said, std::regex{"namespace .*\n"}, "");
  const bool is_v2 = run(engine_.info()).cgroup_version == 2;
  const std::string none = "0000000000000000";
  EXPECT_EQ(said, "ids 1000 1000 1000\nCapInh " + none + "\nCapPrm " + none + "\nCapEff " + none +
                      "\nCapBnd " + none + "\nCapAmb " + none +
                      "\nNoNewPrivs 1\nSeccomp 2\nnetwork lo\n" +
                      (is_podman() ? "writable /run\n" : "") +
                      "writable /workspace\nwritable /workspace/files\nwritable /tmp\n"
                      "writable /home/node\nlimit 536870912\nlimit " +
                      (is_v2 ? "0" : "536870912") + "\nlimit 256\nprocesses 1\nend\n");
}

TEST_F(RealEngine, RunsNodeUnderTheProfile) {
  const char* const code = R"js(
    const { Worker } = require('worker_threads');
    const { execFileSync } = require('child_process');
    const { writeFileSync } = require('fs');
    new Worker('require("worker_threads").parentPort.postMessage(1)', { eval: true }).on('message', () => {
      require('net').createServer().listen(0, '127.0.0.1', function () {
        writeFileSync('/workspace/files/said', execFileSync('/bin/id', ['-u']) + process.cwd());
        this.close();
      });
    });)js";
  json::object spec = container_spec(wishes());
  spec["Entrypoint"] = words({"/usr/local/bin/node", "-e", code});
  const ContainerState state = run(run_to_end(std::move(spec)));
  EXPECT_EQ(state.exit_code, 0) << state.error;
  EXPECT_EQ(read_file(files() + "/said"), "1000\n/workspace");
}

TEST_F(RealEngine, SaysWhenMemoryRanOut) {
  json::object spec = container_spec(wishes());
  spec["Entrypoint"] = words(
      {"/usr/local/bin/node", "-e", "const a = []; for (;;) a.push(Buffer.alloc(1 << 20, 1))"});
  const ContainerState state = run(run_to_end(std::move(spec)));
  EXPECT_EQ(state.exit_code, 137);
  // Podman does not find out with cgroup v1.
  const bool tells = !is_podman() || run(engine_.info()).cgroup_version == 2;
  EXPECT_EQ(state.out_of_memory, tells);
}

std::string in_registry(const char* image) {
  return needed("BELLJAR_TEST_DOCKER_REGISTRY") + "/" + image;
}

TEST_F(RealEngine, PullsAnImage) {
  const std::string image = in_registry("small:1");
  EXPECT_FALSE(run(engine_.inspect_image(image)));
  std::vector<std::string> said;
  run(engine_.pull(image, {}, [&said](std::string_view text) { said.emplace_back(text); }));
  EXPECT_THAT(said, Contains(HasSubstr("pulling " + image)));
  ASSERT_TRUE(run(engine_.inspect_image(image)));
}

TEST_F(RealEngine, SaysThatAnImageIsNowhere) {
  for (const char* image : {"small:2", "nowhere:1"})
    EXPECT_EQ(code_of([&] { run(engine_.pull(in_registry(image), {}, {})); }), Code::not_found)
        << image;
  // A port where nothing is.
  EXPECT_EQ(code_of([&] { run(engine_.pull("127.0.0.1:1/small:1", {}, {})); }), Code::unavailable);
}

// Attack DK04.
TEST_F(RealEngine, DK04DoesNotKeepAnImageOverTheLimits) {
  const std::string image = in_registry("large:1");
  PullLimits small;
  small.size = 1 << 20;
  EXPECT_EQ(code_of([&] { run(engine_.pull(image, small, {})); }), Code::exhausted);
  EXPECT_FALSE(run(engine_.inspect_image(image)));
  PullLimits few;
  few.layers = 0;
  EXPECT_EQ(code_of([&] { run(engine_.pull(image, few, {})); }), Code::exhausted);
}

// Attack DK04: a registry that takes the question and never answers.
TEST_F(RealEngine, DK04GivesUpASlowRegistry) {
  const Fd registry{sys(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "make a socket")};
  sockaddr_in address{};
  socklen_t size = sizeof address;
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const place = reinterpret_cast<sockaddr*>(&address);
  sys(::bind(registry.get(), place, size), "bind");
  sys(::listen(registry.get(), 16), "listen");
  sys(::getsockname(registry.get(), place, &size), "see the port");
  const std::string image = fmt::format("127.0.0.1:{}/slow:1", ntohs(address.sin_port));
  PullLimits limits;
  limits.time = milliseconds{500};
  EXPECT_EQ(code_of([&] { run(engine_.pull(image, limits, {})); }), Code::unavailable);
  EXPECT_FALSE(run(engine_.inspect_image(image)));
}

// The message of what connect() throws at that address.
std::string refusal_at(EngineAddress address) {
  Engine engine{std::move(address)};
  try {
    run(engine.connect());
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::unavailable);
    return error.what();
  }
  ADD_FAILURE() << "it answered";
  return "";
}

TEST_F(RealEngine, SpeaksTlsWithCertificatesOnBothSides) {
  if (is_podman()) return;  // has no TLS
  const std::string where = needed("BELLJAR_TEST_DOCKER_TLS");
  const std::string certificates = needed("BELLJAR_TEST_DOCKER_CERTS");
  Engine engine{parse_engine_address(where, certificates)};
  EXPECT_EQ(run(engine.connect()).version, version_.version);
  EXPECT_TRUE(run(engine.inspect_image(needed("BELLJAR_TEST_DOCKER_IMAGE"))));
  // Without TLS the engine answers something else, with an authority that did not sign we end it.
  EXPECT_THAT(refusal_at(parse_engine_address(where)), HasSubstr("no container engine"));
  const std::string strange = directory_ + std::string{"/certificates"};
  std::filesystem::copy(certificates, strange);
  std::filesystem::copy(strange + "/cert.pem", strange + "/ca.pem",
                        std::filesystem::copy_options::overwrite_existing);
  EXPECT_THAT(refusal_at(parse_engine_address(where, strange)),
              HasSubstr("see that ca.pem, cert.pem and key.pem in " + strange));
}

}  // namespace
}  // namespace belljar::docker
