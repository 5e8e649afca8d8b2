#include "drivers/linux/driver.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <thread>

#include "base/posix.h"
#include "drivers/linux/feature_table.h"
#include "drivers/linux/probe.h"
#include "drivers/linux/sandbox.h"
#include "drivers/linux/seal.h"

namespace belljar::linux_driver {

// A template that the launcher has made, or is making.
struct LinuxDriver::PreparedImage {
  explicit PreparedImage(const asio::any_io_executor& executor) : done{executor} {}
  uint32_t number = 0;
  Event done;
  bool ok = false;
};

namespace {

// What a spare sandbox takes, measured (docs/nodes.md): alone, and with a parked copy in it.
constexpr uint64_t kEmptySpare = 1 << 20;
constexpr uint64_t kSpareWithNode = 4 << 20;

// Before a check that nobody waits for: longer than most programs take.
constexpr milliseconds kPauseBeforeCheck{1000};

Spares::Bounds bounds_of(const LinuxDriver::Ahead& ahead) {
  const bool parks = ahead.node_start != NodeStart::exec && ahead.node_start != NodeStart::fork;
  return {ahead.spares, ahead.spare_memory, parks ? kSpareWithNode : kEmptySpare,
          std::max(1u, std::thread::hardware_concurrency())};
}

}  // namespace

LinuxDriver::LinuxDriver(const asio::any_io_executor& executor, LauncherProcess launcher)
    : LinuxDriver(executor, std::move(launcher), Ahead{}, "", "") {}

LinuxDriver::LinuxDriver(const asio::any_io_executor& executor, LauncherProcess launcher,
                         const Ahead& ahead, std::string certificates, std::string data_directory)
    : executor_{executor},
      launcher_files_{std::move(launcher.files)},
      client_{std::make_shared<LauncherClient>(executor, std::move(launcher))},
      certificates_{std::move(certificates)},
      copy_checks_{executor,
                   client_,
                   std::move(launcher_files_),
                   [this](SandboxSpec spec) {
                     return make_without_copies(std::move(spec), launcher::kInBackground);
                   },
                   std::move(data_directory),
                   ahead.node_start == NodeStart::automatic ? kPauseBeforeCheck : milliseconds{0}},
      zygotes_{executor,
               client_,
               clock_,
               ahead.node_start,
               ahead.zygote_copies,
               [this](NodeKind kind) { return may_copy(kind); }},
      parking_{executor, client_},
      spares_{executor, clock_, bounds_of(ahead),
              [this](SandboxSpec spec, Spares::Content content) {
                return make(std::move(spec), launcher::kInBackground, content);
              },
              [](const LinuxSandbox& sandbox) { return sandbox.is_stale(); }} {
  zygotes_.on_ready([this] {
    spares_.look_again();
    parking_.clear();  // copies of the one before
  });
}

Task<std::shared_ptr<LinuxDriver::PreparedImage>> LinuxDriver::prepare(std::string prefix) {
  for (;;) {
    const auto at = images_.find(prefix);
    if (at == images_.end()) break;
    const auto image = at->second;
    co_await image->done.wait();
    if (image->ok) co_return image;  // else the one who tried has the error; try again ourselves
  }
  auto image = std::make_shared<PreparedImage>(executor_);
  image->number = next_image_++;
  images_[prefix] = image;
  std::exception_ptr error;
  try {
    launcher::Request request{};
    request.type = launcher::RequestType::prepare;
    request.image = image->number;
    std::vector<int> fds;
    Fd directory;
    if (!prefix.empty()) {
      directory = open_directory(prefix);
      fds.push_back(directory.get());
    }
    auto answer =
        client_->ask(request, certificates_, std::move(fds), "prepare the sandbox template");
    facts_ = (co_await std::move(answer)).reply;
    image->ok = true;
  } catch (...) {
    error = std::current_exception();
  }
  if (!image->ok) images_.erase(prefix);
  image->done.set();
  if (error) std::rethrow_exception(error);
  co_return image;
}

namespace {

launcher::SandboxLimits to_launcher(const Limits& limits) {
  launcher::SandboxLimits result{};
  result.memory = limits.memory;
  result.disk = limits.disk;
  result.inodes = limits.inodes;
  result.cpu_millis = static_cast<uint32_t>(std::lround(limits.cpus * 1000));
  result.pids = limits.pids;
  return result;
}

Limits from_launcher(const launcher::SandboxLimits& limits) {
  return {limits.memory, limits.cpu_millis / 1000.0, limits.pids, limits.disk, limits.inodes};
}

// Throws something better than what the launcher said, if there is something better to say.
void explain_failure(const SandboxSpec& spec, const Error& error) {
  const std::string what = error.what();
  if (spec.files && what.find(launcher::kMapOwnerStep) != std::string::npos)
    fail_to_share(spec.files->get());
  if (what.find(launcher::kTakeIdsStep) != std::string::npos) {
    fail(Code::exhausted,
         "no user ids are left for another sandbox: run by an ordinary user, belljar has them for "
         "{} at a time, spare ones included; stop one that is not needed, or have the operator set "
         "max-sandboxes below that",
         launcher::kMostSandboxesOfUser);
  }
}

}  // namespace

Task<std::unique_ptr<Sandbox>> LinuxDriver::create(SandboxSpec spec) {
  const auto use = spares_.begin_use();
  auto sandbox = spares_.take(spec);
  if (!sandbox) sandbox = co_await make_or_explain(spec);
  sandbox->give(use);
  spares_.refill(spec);
  co_return sandbox;
}

// Until one was made, a failure is likely to be the host's; and one without a network does not show
// that the host can give one.
Task<std::unique_ptr<LinuxSandbox>> LinuxDriver::make_or_explain(SandboxSpec spec) {
  const bool is_tried = works_ && spec.network == Network::none;
  try {
    co_return co_await make(std::move(spec), 0, Spares::Content::empty);
  } catch (const Error& e) {
    if (is_tried) throw;
    fail_with(e.code(), with_fix(e.what(), client_->facts()));
  }
}

// Some facts are known only once a sandbox was made.
void LinuxDriver::learn_from(const launcher::Reply& reply) {
  if (works_ && facts_.facts == reply.facts) return;
  works_ = true;
  facts_ = reply;
  isolation_ = std::make_shared<const Isolation>(isolation_of_facts(reply));
}

Task<std::unique_ptr<LinuxSandbox>> LinuxDriver::make(SandboxSpec spec, uint32_t flags,
                                                      Spares::Content content) {
  auto sandbox = co_await make_without_copies(std::move(spec), flags);
  sandbox->set_copies(&zygotes_, &parking_, sandbox->kind());
  // Otherwise the first program that could be a copy wants it; not every sandbox runs one.
  if (zygotes_.are_required()) zygotes_.want(sandbox->kind());
  co_await zygotes_.settle(sandbox->kind());
  if (content == Spares::Content::node || zygotes_.are_required()) co_await sandbox->park();
  co_return sandbox;
}

Task<bool> LinuxDriver::may_copy(NodeKind kind) {
  SandboxSpec spec;
  for (const auto& [prefix, image] : images_) {
    if (image->number == kind.image) spec.image.prefix = prefix;
  }
  if (spec.image.prefix.empty()) co_return false;  // the host's /usr: its programs are no copies
  spec.limits = from_launcher(kind.limits);
  co_return co_await copy_checks_.passed(std::move(spec));
}

Task<std::unique_ptr<LinuxSandbox>> LinuxDriver::make_without_copies(SandboxSpec spec,
                                                                     uint32_t flags) {
  const auto image = co_await prepare(spec.image.prefix);
  launcher::Request request{};
  request.type = launcher::RequestType::create;
  request.image = image->number;
  request.sandbox = next_sandbox_++;
  request.limits = to_launcher(spec.limits);
  request.flags = flags;
  if (spec.network == Network::gated) request.flags |= launcher::kGated;
  // Exists before the sandbox does: if the caller is cancelled from here on, it removes what may
  // have been made.
  auto sandbox = std::make_unique<LinuxSandbox>(client_, request.sandbox);
  sandbox->set_copies(nullptr, nullptr, {image->number, request.limits});
  std::vector<int> fds;
  if (spec.files) fds.push_back(spec.files->get());
  try {
    auto answer = co_await client_->ask(request, std::string{}, std::move(fds), "create a sandbox");
    learn_from(answer.reply);
    sandbox->set_isolation(isolation_);
    sandbox->set_workspace(std::move(answer.fds[0]));
    sandbox->set_gate({std::move(answer.fds[1]), std::move(answer.fds[2])});
  } catch (const Error& e) {
    explain_failure(spec, e);
    throw;
  }
  co_return sandbox;
}

Task<Capabilities> LinuxDriver::probe() {
  std::optional<std::string> failure;
  SandboxSpec spec;
  try {
    const auto sandbox = co_await make(std::move(spec), 0, Spares::Content::empty);
    co_await try_a_program(*sandbox);
    co_await sandbox->destroy();
  } catch (const Error& e) {
    failure = e.what();
  }
  launcher::Request request{};
  request.type = launcher::RequestType::examine;
  std::vector<int> none;
  auto answer = client_->ask(request, std::string{}, std::move(none), "try what this host has");
  launcher::Reply found = (co_await std::move(answer)).reply;
  if (works_) found.facts |= facts_.facts;  // before, they are not all known
  found.landlock_abi = facts_.landlock_abi;
  co_return describe_host(found, failure);
}

Task<> LinuxDriver::recover() {
  // The launcher removes what crashed ones left behind when it sets itself up.
  co_await prepare(std::string{});
}

Task<> LinuxDriver::shut_down() {
  co_await spares_.stop();
  co_await parking_.stop();
  co_await zygotes_.stop();
  co_await client_->shut_down(milliseconds{900});
}

}  // namespace belljar::linux_driver
