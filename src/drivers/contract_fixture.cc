#include "drivers/contract_fixture.h"

#include "base/posix.h"
#include "base/testing.h"
#include "drivers/docker/driver.h"
#ifdef BELLJAR_DRIVER_LINUX
#include "drivers/linux/driver.h"
#include "drivers/linux/launcher_process.h"
#endif

namespace belljar::contract {

namespace {

Task<bool> with_driver(const DriverUnderTest& subject, Task<> (*body)(Bench&)) {
  const auto executor = co_await asio::this_coro::executor;
  const std::unique_ptr<Driver> driver = subject.make(executor);
  if (!driver) co_return false;
  Bench bench{*driver, subject};
  try {
    const bool in_time = co_await with_timeout(std::chrono::seconds{60}, body(bench));
    EXPECT_TRUE(in_time) << "the test did not end";
  } catch (const std::exception& e) {
    ADD_FAILURE() << e.what();
  }
  co_await driver->shut_down();
  co_return true;
}

#ifdef BELLJAR_DRIVER_LINUX
// Needs a Node.js: $BELLJAR_TEST_PREFIX (./test sets it), else the host's /usr/bin/node.
DriverUnderTest native_driver() {
  DriverUnderTest subject;
  subject.name = "native";
  subject.image = {"node:test", "22", environment("BELLJAR_TEST_PREFIX")};
  subject.make = [](const asio::any_io_executor& executor) -> std::unique_ptr<Driver> {
    auto launcher = linux_driver::start_launcher(linux_driver::launcher_path());
    return std::make_unique<linux_driver::LinuxDriver>(executor, std::move(launcher));
  };
  return subject;
}
#endif

// Needs an engine and an image with a Node.js: $BELLJAR_TEST_DOCKER and $BELLJAR_TEST_DOCKER_IMAGE
// (./test docker sets them). `runtime`: which runs containers; "": the engine's own choice.
DriverUnderTest docker_driver(const std::string& runtime) {
  DriverUnderTest subject;
  subject.name = runtime.empty() ? "docker" : runtime;
  subject.image = {environment("BELLJAR_TEST_DOCKER_IMAGE"), "22", "/usr/local"};
  subject.is_container = true;
  subject.has_own_kernel = !runtime.empty();
  subject.moment = milliseconds{3000};
  const auto data = std::make_shared<TemporaryDirectory>("/var/tmp");
  subject.make = [data, runtime](const asio::any_io_executor& executor) {
    docker::DockerSettings settings;
    settings.engine = std::make_unique<docker::EngineHttp>(
        docker::parse_engine_address("unix://" + environment("BELLJAR_TEST_DOCKER")));
    settings.containers = {own_program("belljar-agent"),
                           data->path(),
                           data->path(),
                           {::geteuid(), ::getegid()},
                           runtime};
    return std::make_unique<docker::DockerDriver>(executor, std::move(settings));
  };
  return subject;
}

// Every driver of this build. A new one joins here.
std::vector<DriverUnderTest> drivers_under_test() {
  std::vector<DriverUnderTest> drivers{fake_driver()};
  if (!environment("BELLJAR_TEST_DOCKER").empty()) drivers.push_back(docker_driver(""));
  // With a kernel of its own for each container: set where the engine has such a runtime.
  const std::string own_kernel = environment("BELLJAR_TEST_DOCKER_OWN_KERNEL");
  if (!own_kernel.empty()) drivers.push_back(docker_driver(own_kernel));
#ifdef BELLJAR_DRIVER_LINUX
  drivers.push_back(native_driver());
#endif
  return drivers;
}

std::string name_of(const testing::TestParamInfo<DriverUnderTest>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(Each, DriverContract, testing::ValuesIn(drivers_under_test()), name_of);

}  // namespace

void DriverContract::check(Task<> (*body)(Bench&)) {
  if (!run(with_driver(GetParam(), body))) GTEST_SKIP() << "not available on this machine";
}

}  // namespace belljar::contract
