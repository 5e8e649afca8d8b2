#include "drivers/docker/containers.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/log.h"
#include "base/posix.h"
#include "drivers/docker/agent/protocol.h"
#include "drivers/docker/agent_listener.h"
#include "drivers/docker/container_spec.h"
#include "drivers/docker/seccomp_profile.h"

namespace belljar::docker {

namespace {

using std::chrono::seconds;

constexpr seconds kCreation{120};  // pulling is not part of it
constexpr seconds kLookAgain{1};   // whether a container whose agent is silent still runs
constexpr milliseconds kBetweenLooks{50};
constexpr int kLooksAtEnd = 40;  // until the engine has noticed
constexpr seconds kRemoval{60};
constexpr int kRemovals = 5;
constexpr size_t kMostImages = 256;
constexpr milliseconds kRemovalPause{200};

// Who programs are: whoever runs belljar, so that it can read what they write; never root.
Ids user_of_programs(const Ids& belljar) {
  constexpr uid_t kUser = 1000;
  return belljar.user != 0 ? belljar : Ids{kUser, kUser};
}

struct Files {
  std::string path;
  Ids owner;
  uint64_t device = 0;
  uint64_t inode = 0;
};

// A belljar that gave up its rights is in a user namespace, where the only one whom it knows by the
// host's number is itself.
Ids owner_of(const struct stat& info, const Ids& belljar, const std::string& path) {
  if (belljar.user == ::geteuid()) return {info.st_uid, info.st_gid};
  if (info.st_uid != ::geteuid()) {
    fail(Code::invalid,
         "the files directory {} belongs to somebody else, whom programs in containers cannot be: "
         "give it to the user who runs belljar",
         path);
  }
  return belljar;
}

Files look_at_files(const std::shared_ptr<const Fd>& handle, const Ids& belljar) {
  Files files;
  files.owner = user_of_programs(belljar);
  if (!handle) return files;
  struct stat info {};
  sys(::fstat(handle->get(), &info), "look at the files directory");
  files.path =
      std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", handle->get())).string();
  files.device = info.st_dev;
  files.inode = info.st_ino;
  files.owner = owner_of(info, belljar, files.path);
  if (files.owner.user == 0) {
    fail(Code::invalid,
         "the files directory {} belongs to root, and programs in containers are never root: give "
         "it to an ordinary user (chown 1000:1000 {})",
         files.path, files.path);
  }
  return files;
}

std::string run_label(const std::string& run) {
  return "belljar.run=" + run;
}

}  // namespace

Containers::Containers(const asio::any_io_executor& executor, Engine& engine,
                       ContainerSettings settings)
    : engine_{engine},
      settings_{std::move(settings)},
      directory_{settings_.data_directory, settings_.engine_directory},
      tasks_{executor} {
  if (settings_.authority.empty()) return;
  constexpr const char* kName = "/authority.pem";
  write_file_atomically(directory_.path() + kName, settings_.authority);
  authority_ = directory_.engine_path() + kName;
}

Containers::~Containers() = default;

void Containers::know_engine(const EngineVersion& version, bool has_own_kernel) {
  has_own_kernel_ = has_own_kernel;
  // Podman takes the profile from a file.
  is_podman_ = version.product == "Podman";
  seccomp_ = seccomp_profile();
  if (!is_podman_) return;
  constexpr const char* kName = "/seccomp.json";
  write_file_atomically(directory_.path() + kName, seccomp_);
  seccomp_ = directory_.engine_path() + kName;
}

Task<std::unique_ptr<Container>> Containers::make(SandboxSpec spec) {
  const std::string name = fmt::format("belljar-{}-{}", directory_.run(), next_++);
  auto container = std::make_unique<Container>(Container{name, directory_.make_place()});
  std::exception_ptr failure;
  try {
    const bool in_time = co_await with_timeout(kCreation, create(*container, spec));
    if (!in_time) {
      fail(Code::unavailable, "the engine did not make a container of {} within {} seconds",
           spec.image.name, kCreation.count());
    }
  } catch (...) {
    failure = std::current_exception();
  }
  if (failure) {
    remove_soon(std::move(container));
    std::rethrow_exception(failure);
  }
  co_return container;
}

std::map<std::string, std::string> Containers::labels() const {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now).count();
  return {{"belljar.run", directory_.run()},
          {"belljar.data", directory_.data_label()},
          {"belljar.owner", std::to_string(settings_.belljar.user)},
          {"belljar.created", std::to_string(seconds)}};
}

void Containers::know_image(const ImageDetails& image) {
  if (volumes_.size() >= kMostImages) volumes_.clear();
  volumes_[image.id] = image.volumes;
}

Task<std::string> Containers::find_image(std::string name) {
  const auto image = co_await engine_.inspect_image(name);
  if (!image) fail(Code::not_found, "the engine does not have the image \"{}\"", name);
  know_image(*image);
  co_return image->id;
}

Task<std::vector<std::string>> Containers::volumes_of(Image image) {
  const auto known = volumes_.find(image.id);
  if (known != volumes_.end()) co_return known->second;
  const auto details = co_await engine_.inspect_image(image.id);
  if (!details)
    fail(Code::not_found, "the engine does not have the image \"{}\" any more", image.name);
  know_image(*details);
  co_return details->volumes;
}

Task<> Containers::make_of_image(const Container& container, const Image& image,
                                 json::object spec) {
  try {
    co_await engine_.create(container.name, std::move(spec));
  } catch (const Error& e) {
    if (e.code() != Code::not_found) throw;
    fail(Code::not_found, "the engine does not have the image \"{}\" any more: {}", image.name,
         e.what());
  }
}

Task<> Containers::create(Container& container, const SandboxSpec& spec) {
  const Files files = look_at_files(spec.files, settings_.belljar);
  ContainerWishes wishes;
  wishes.image = spec.image.id;
  wishes.volumes = co_await volumes_of(spec.image);
  wishes.runtime = settings_.runtime;
  wishes.agent_program = settings_.agent_program;
  wishes.host_directory = container.place.engine_path();
  wishes.files = files.path;
  wishes.authority = authority_;
  wishes.seccomp = seccomp_;
  wishes.for_podman = is_podman_;
  wishes.has_own_kernel = has_own_kernel_;
  wishes.uid = files.owner.user;
  wishes.gid = files.owner.group;
  wishes.limits = spec.limits;
  wishes.labels = labels();
  co_await make_of_image(container, spec.image, container_spec(wishes));
  if (has_own_kernel_) co_return co_await start_carried(container);
  co_await start(container);
  const AgentHello& hello = container.agent->hello();
  const bool same = hello.files_device == files.device && hello.files_inode == files.inode;
  if (spec.files && !same) {
    fail(Code::unavailable,
         "the container sees another directory than {}: the engine must run on this host and see "
         "the same files",
         files.path);
  }
}

namespace {

std::string advice_about_end(int status, const std::string& runtime, bool has_own_kernel) {
  if (has_own_kernel && status == agent::kNotSetUp) {
    return "its system calls are filtered in a way that Node.js does not survive: leave "
           "--oci-seccomp out of the runtime's arguments";
  }
  if (!runtime.empty() && !has_own_kernel) {
    return fmt::format(
        "the runtime {} must run containers on this host's kernel, or have a name from which "
        "belljar knows that it does not: with runsc or kata in it",
        runtime);
  }
  if (status == agent::kNotSetUp) return "it was not confined as it was asked to be";
  return "the engine must run on this host, and the image be one for its processor";
}

}  // namespace

Task<> Containers::start(Container& container) {
  AgentListener listener{co_await asio::this_coro::executor, container.place.handle()};
  co_await engine_.start(container.name);
  const Accept accept = [&listener] { return listener.accept(); };
  co_await wait_for_agent(container, accept);
}

Task<> Containers::start_carried(Container& container) {
  Fd attached = co_await engine_.attach(container.name);
  co_await engine_.start(container.name);
  agent::Carrier::Host host;
  host.workspace = co_await find_workspace(container.name);
  host.sockets = open_directory(container.place.path());
  const auto executor = co_await asio::this_coro::executor;
  container.carried =
      std::make_unique<CarriedAgent>(executor, std::move(attached), std::move(host));
  const Accept accept = [&container] { return container.carried->accept(); };
  co_await wait_for_agent(container, accept);
  // The agent has made something there. If that is not to be seen, what was opened is another
  // directory: the engine's mounts are not belljar's.
  Fd& workspace = container.agent->hello().workspace;
  if (workspace && ::faccessat(workspace.get(), "package.json", F_OK, 0) != 0) workspace.reset();
  const std::weak_ptr<AgentClient> agent = container.agent;
  container.carried->on_end([this, name = container.name, agent] {
    tasks_.spawn("tell how a container has ended", tell_end(name, agent));
  });
}

// Where the volume is on the host. Nothing if belljar may not look there.
Task<Fd> Containers::find_workspace(std::string name) {
  const json::object details = co_await engine_.inspect_whole(name);
  const std::string path = read_mount_source(details, agent::kWorkspace);
  constexpr int kFlags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  co_return Fd{path.empty() ? -1 : ::open(path.c_str(), kFlags)};
}

namespace {

constexpr int kKilled = 128 + 9;

}  // namespace

// Where memory is short, such a kernel is killed with all that runs on it: only the engine has seen
// why.
Task<> Containers::tell_end(std::string name, std::weak_ptr<AgentClient> agent) {
  bool out_of_memory = false;
  try {
    ContainerState state = co_await engine_.inspect(name);
    for (int look = 0; state.running && look < kLooksAtEnd; ++look) {
      co_await sleep_for(kBetweenLooks);
      state = co_await engine_.inspect(name);
    }
    out_of_memory = state.out_of_memory;
    // The engine is told of it beside the end, and forgets what comes after that.
    if (!out_of_memory && state.exit_code == kKilled)
      out_of_memory = co_await engine_.saw_out_of_memory(name);
  } catch (const Error& e) {
    log::debug("it is not known how {} has ended: {}", name, e.what());
  }
  if (const auto told = agent.lock()) told->lose(out_of_memory);
}

// A container whose program cannot even start never connects.
Task<> Containers::wait_for_agent(Container& container, const Accept& accept) {
  for (;;) {
    auto agent = co_await with_timeout(kLookAgain, accept());
    if (agent && *agent) {
      container.agent = std::move(*agent);
      co_return;
    }
    if (agent) co_await sleep_for(kBetweenLooks);  // it is about to end
    const ContainerState state = co_await engine_.inspect(container.name);
    if (state.running) continue;
    fail(Code::unavailable,
         "the container ended before belljar's program in it could answer (status {}{}{}); {}",
         state.exit_code, state.error.empty() ? "" : ": ", state.error,
         advice_about_end(state.exit_code, settings_.runtime, has_own_kernel_));
  }
}

// An engine may refuse to remove what ends by itself at that moment: Podman cannot kill it then.
Task<> Containers::remove_surely(std::string name) {
  for (int attempt = 1;; ++attempt) {
    try {
      co_await engine_.remove(name);
      co_return;
    } catch (const Error&) {
      if (attempt == kRemovals) throw;
    }
    co_await sleep_for(kRemovalPause);
  }
}

Task<> Containers::remove(std::unique_ptr<Container> container) {
  container->agent.reset();  // it ends with its connection, and all that runs there with it
  container->carried.reset();
  const bool in_time = co_await with_timeout(kRemoval, remove_surely(container->name));
  if (!in_time) log::warning("the engine has not removed {} yet", container->name);
  const auto remove_place = [&container] { container.reset(); };
  co_await run_blocking(remove_place);
}

void Containers::remove_soon(std::unique_ptr<Container> container) {
  tasks_.spawn("remove a container", remove(std::move(container)));
}

namespace {

// Podman that creates and removes a container at the same time may forget its files and not its
// name, and lists nothing at all from then on but these words. The id in them; "": other words.
std::string half_removed(std::string_view words) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  constexpr size_t kLength = 64;
  if (words.find("container not known") == words.npos) return "";
  for (size_t start = words.find('"'); start != words.npos; start = words.find('"', start + 1)) {
    const std::string_view id = words.substr(start + 1, kLength);
    if (id.size() == kLength && id.find_first_not_of(kDigits) == id.npos) return std::string{id};
  }
  return "";
}

}  // namespace

Task<std::vector<ContainerSummary>> Containers::list(std::string label) {
  for (int attempt = 1;; ++attempt) {
    std::string id;
    try {
      co_return co_await engine_.list(label);
    } catch (const Error& e) {
      id = half_removed(e.what());
      if (id.empty() || attempt == kRemovals) throw;
    }
    log::info("removing what the engine has forgotten to remove of the container {}", id);
    co_await engine_.remove(id);
  }
}

Task<> Containers::remove_orphans() {
  const auto all = co_await list("belljar.data=" + directory_.data_label());
  for (const ContainerSummary& each : all) {
    const auto run = each.labels.find("belljar.run");
    if (run != each.labels.end() && directory_.is_alive(run->second)) continue;
    log::info("removing the container {} that a killed belljar left", each.id.substr(0, 12));
    co_await remove_surely(each.id);
  }
  const auto remove_dead = [this] { directory_.remove_dead(); };
  co_await run_blocking(remove_dead);
}

Task<> Containers::stop() {
  co_await tasks_.finish();
  const auto left = co_await list(run_label(directory_.run()));
  for (const ContainerSummary& each : left) co_await remove_surely(each.id);
}

}  // namespace belljar::docker
