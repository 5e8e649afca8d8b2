#include "drivers/docker/container_spec.h"

#include <gmock/gmock.h>

#include "base/error.h"

namespace belljar::docker {
namespace {

ContainerWishes wishes() {
  ContainerWishes wishes;
  wishes.image = "sha256:1";
  wishes.agent_program = "/usr/libexec/belljar/belljar-agent";
  wishes.host_directory = "/var/lib/belljar/docker/7";
  wishes.seccomp = "{}";
  wishes.limits = {
      .memory = 512u << 20, .cpus = 1.5, .pids = 256, .disk = 256u << 20, .inodes = 65536};
  wishes.labels = {{"belljar.run", "7"}, {"belljar.owner", "a"}};
  return wishes;
}

// Attack DK01: what a container is made with, all of it.
constexpr const char* kGolden = R"({
  "Image": "sha256:1", "User": "1000:1000", "WorkingDir": "/workspace", "Hostname": "belljar",
  "Entrypoint": ["/.belljar/agent"], "Cmd": [], "Tty": false, "OpenStdin": false, "StdinOnce": false,
  "AttachStdin": false, "AttachStdout": false, "AttachStderr": false, "NetworkDisabled": false,
  "StopSignal": "SIGKILL", "StopTimeout": 0, "Healthcheck": {"Test": ["NONE"]},
  "Labels": {"belljar.owner": "a", "belljar.run": "7"},
  "HostConfig": {
    "Privileged": false, "CapAdd": [], "CapDrop": ["ALL"],
    "SecurityOpt": ["no-new-privileges", "seccomp={}"], "ReadonlyRootfs": true,
    "NetworkMode": "none", "PidMode": "", "IpcMode": "none", "UTSMode": "", "UsernsMode": "",
    "CgroupnsMode": "private", "CgroupParent": "",
    "Sysctls": {"net.ipv6.conf.all.disable_ipv6": "0"}, "Devices": [], "DeviceCgroupRules": [],
    "GroupAdd": [], "PublishAllPorts": false, "Memory": 536870912, "MemorySwap": 536870912,
    "OomKillDisable": false, "NanoCpus": 1500000000, "PidsLimit": 256,
    "Ulimits": [
      {"Name": "core", "Soft": 1, "Hard": 1}, {"Name": "nofile", "Soft": 4096, "Hard": 4096},
      {"Name": "fsize", "Soft": 268435456, "Hard": 268435456},
      {"Name": "memlock", "Soft": 65536, "Hard": 65536},
      {"Name": "stack", "Soft": 8388608, "Hard": 8388608},
      {"Name": "msgqueue", "Soft": 0, "Hard": 0}, {"Name": "rtprio", "Soft": 0, "Hard": 0},
      {"Name": "nice", "Soft": 0, "Hard": 0}, {"Name": "locks", "Soft": 1024, "Hard": 1024}],
    "Binds": [],
    "Mounts": [
      {"Type": "bind", "Source": "/usr/libexec/belljar/belljar-agent", "Target": "/.belljar/agent",
       "ReadOnly": true, "BindOptions": {"Propagation": "rprivate"}},
      {"Type": "bind", "Source": "/var/lib/belljar/docker/7", "Target": "/.belljar/host",
       "ReadOnly": true, "BindOptions": {"Propagation": "rprivate"}}],
    "Tmpfs": {
      "/workspace": "rw,exec,nosuid,nodev,size=167772160,mode=0755,nr_inodes=40960,uid=1000,gid=1000",
      "/tmp": "rw,exec,nosuid,nodev,size=67108864,mode=1777,nr_inodes=16384,uid=1000,gid=1000",
      "/home/node": "rw,exec,nosuid,nodev,size=33554432,mode=0755,nr_inodes=8192,uid=1000,gid=1000"},
    "LogConfig": {"Type": "none", "Config": {}},
    "RestartPolicy": {"Name": "no", "MaximumRetryCount": 0}, "AutoRemove": false, "Init": false
  }})";

TEST(ContainerSpec, IsAsTheGoldenOne) {
  EXPECT_EQ(json::value(container_spec(wishes())), json::parse(kGolden));
}

TEST(ContainerSpec, HasTheAuthorityOfSecretsToRead) {
  ContainerWishes with_secrets = wishes();
  with_secrets.authority = "/var/lib/belljar/docker/authority.pem";
  const json::object spec = container_spec(with_secrets);
  const json::value& mount = spec.at("HostConfig").at("Mounts").as_array().at(2);
  EXPECT_EQ(mount.at("Source"), "/var/lib/belljar/docker/authority.pem");
  EXPECT_EQ(mount.at("Target"), "/etc/ssl/belljar.pem");
  EXPECT_EQ(mount.at("ReadOnly"), true);
}

TEST(ContainerSpec, MountsFilesToBeWritten) {
  ContainerWishes with_files = wishes();
  with_files.files = "/home/me/files";
  with_files.uid = 1234;
  with_files.gid = 1235;
  const json::object spec = container_spec(with_files);
  EXPECT_EQ(spec.at("User"), "1234:1235");
  EXPECT_EQ(spec.at("HostConfig").at("Mounts").at(2), json::parse(R"({
    "Type": "bind", "Source": "/home/me/files", "Target": "/workspace/files", "ReadOnly": false,
    "BindOptions": {"Propagation": "rprivate"}})"));
}

TEST(ContainerSpec, NamesARuntimeOnlyIfOneIsWanted) {
  ContainerWishes other = wishes();
  other.runtime = "runsc";
  EXPECT_EQ(container_spec(other).at("HostConfig").at("Runtime"), "runsc");
  EXPECT_FALSE(container_spec(wishes()).at("HostConfig").as_object().contains("Runtime"));
}

TEST(ContainerSpec, HasAStreamAndAVolumeWhereTheKernelIsItsOwn) {
  ContainerWishes own = wishes();
  own.runtime = "runsc";
  own.has_own_kernel = true;
  const json::object spec = container_spec(own);
  EXPECT_EQ(spec.at("Cmd"), json::parse(R"(["--carried"])"));
  EXPECT_TRUE(spec.at("OpenStdin").as_bool() && spec.at("StdinOnce").as_bool());
  EXPECT_TRUE(spec.at("AttachStdin").as_bool() && spec.at("AttachStdout").as_bool());
  const json::object& host = spec.at("HostConfig").as_object();
  EXPECT_EQ(host.at("Mounts").at(2), json::parse(R"({
    "Type": "volume", "Target": "/workspace", "ReadOnly": false, "VolumeOptions": {"NoCopy": true,
      "DriverConfig": {"Name": "local", "Options": {"type": "tmpfs", "device": "tmpfs",
        "o": "nosuid,nodev,size=167772160,mode=0755,nr_inodes=40960,uid=1000,gid=1000"}}}})"));
  EXPECT_FALSE(host.at("Tmpfs").as_object().contains("/workspace"));
  EXPECT_EQ(host.at("Memory"), (512 + 64) << 20);
  EXPECT_EQ(host.at("PidsLimit"), 64 + 10 * 256);
}

uint64_t size_in(const json::value& options) {
  const std::string text{options.as_string()};
  return std::stoull(text.substr(text.find("size=") + 5));
}

TEST(ContainerSpec, CoversVolumesOfTheImageWithinTheLimit) {
  ContainerWishes with_volumes = wishes();
  with_volumes.volumes = {"/data", "/var/lib/x", "/tmp", "/home/node"};
  const json::object spec = container_spec(with_volumes);
  const json::object& tmpfs = spec.at("HostConfig").at("Tmpfs").as_object();
  EXPECT_EQ(tmpfs.size(), 5u);
  uint64_t sum = 0;
  for (const auto& one : tmpfs) sum += size_in(one.value());
  EXPECT_LE(sum, with_volumes.limits.disk);
  EXPECT_GT(sum, with_volumes.limits.disk - 4096);
}

TEST(ContainerSpec, SaysScratchPlacesAsPodmanKnowsThem) {
  ContainerWishes podman = wishes();
  podman.for_podman = true;
  EXPECT_EQ(container_spec(podman).at("HostConfig").at("Tmpfs"), json::parse(R"({
    "/workspace": "rw,exec,nosuid,nodev,size=167772160,mode=0755,U,notmpcopyup",
    "/tmp": "rw,exec,nosuid,nodev,size=67108864,mode=1777,U,notmpcopyup",
    "/home/node": "rw,exec,nosuid,nodev,size=11184810,mode=0755,U,notmpcopyup",
    "/run": "rw,exec,nosuid,nodev,size=11184810,mode=0755,U,notmpcopyup",
    "/var/tmp": "rw,exec,nosuid,nodev,size=11184810,mode=0755,U,notmpcopyup"})"));
}

TEST(ContainerSpec, RefusesVolumesThatWouldCoverOurs) {
  for (const char* path : {"/workspace", "/workspace/files", "/.belljar/host", "/proc/self", "/dev",
                           "data", "/", "/a/../b", "/a//b", "/a/", "/a,b", "/a:b", "/a b", ""}) {
    ContainerWishes bad = wishes();
    bad.volumes = {path};
    EXPECT_THROW(container_spec(bad), Error) << path;
  }
  ContainerWishes many = wishes();
  for (int i = 0; i < 20; ++i) many.volumes.push_back("/data" + std::to_string(i));
  EXPECT_THROW(container_spec(many), Error);
}

}  // namespace
}  // namespace belljar::docker
