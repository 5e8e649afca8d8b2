#include "drivers/linux/copy_checks.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/log.h"
#include "base/sha256.h"

namespace belljar::linux_driver {

namespace {

// Of a program that takes 0.1 s, on a host that may have much else to do.
constexpr milliseconds kTimeLimit{60'000};
constexpr size_t kOutputLimit = 1u << 20;
constexpr size_t kPiece = 4u << 20;  // hashed at a time: 10 ms, after which it can be cancelled

Fd open_node(const std::string& prefix) {
  const std::string path = prefix + "/bin/node";
  return Fd{sys(::open(path.c_str(), O_RDONLY | O_CLOEXEC), "open {}", path)};
}

// "26.10.0" of the directory in which it is installed.
std::string name_of_node(const std::string& prefix) {
  return std::filesystem::path{prefix}.filename().string();
}

// Room for the battery, however little the programs of others have.
Limits at_least_needed(Limits limits) {
  const Limits needed{256ull << 20, 0.5, 64, 64ull << 20, 4096};
  limits.memory = std::max(limits.memory, needed.memory);
  limits.cpus = std::max(limits.cpus, needed.cpus);
  limits.pids = std::max(limits.pids, needed.pids);
  limits.disk = std::max(limits.disk, needed.disk);
  limits.inodes = std::max(limits.inodes, needed.inodes);
  return limits;
}

// What is in the battery, and how belljar makes copies.
std::string identity_of(const std::string& launcher, const std::string& library) {
  Sha256 hash;
  hash.add(launcher);
  hash.add(library);
  for (const CopyProgram& program : copy_programs()) {
    hash.add(program.file);
    hash.add(program.text);
  }
  return hash.finish();
}

}  // namespace

// One check at a time.
struct CopyChecks::Turn {
  explicit Turn(std::shared_ptr<Event>& place) : busy{place} {}
  ~Turn() {
    busy->set();
    busy.reset();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  std::shared_ptr<Event>& busy;
};

CopyChecks::CopyChecks(asio::any_io_executor executor, std::shared_ptr<LauncherClient> client,
                       LauncherFiles own, Make make, std::string data_directory, milliseconds pause)
    : executor_{std::move(executor)},
      client_{std::move(client)},
      own_{std::move(own)},
      make_{std::move(make)},
      record_path_{data_directory.empty() ? "" : std::move(data_directory) + "/copies.json"},
      pause_{pause} {}

Task<bool> CopyChecks::passed(SandboxSpec spec) {
  const std::string prefix = spec.image.prefix;
  CopyVerdict verdict = known(prefix);
  if (verdict.state == CopyVerdict::State::unknown) {
    if (pause_.count() > 0) co_await sleep_for(pause_);
    const auto turn = co_await take_turn();
    verdict = known(prefix);  // whoever had the turn before may have tried the same
    if (verdict.state == CopyVerdict::State::unknown) verdict = co_await try_out(std::move(spec));
  }
  if (verdict.state == CopyVerdict::State::differs && told_.insert(prefix).second) {
    log::warning(
        "programs start by executing Node.js {}: copies of it are not the same on this machine, "
        "{}: {}",
        name_of_node(prefix), verdict.program, verdict.reason);
  }
  co_return verdict.state == CopyVerdict::State::works;
}

CopyVerdict CopyChecks::known(const std::string& prefix) const {
  const CopyRecord kept = read_copy_record(record_path_);
  const Fd node{::open((prefix + "/bin/node").c_str(), O_RDONLY | O_CLOEXEC)};
  CopyVerdict verdict;
  const std::string launcher = known_hash(own_.program, kept);
  const std::string library = known_hash(own_.library, kept);
  CopyKey key{known_hash(node, kept), "", ""};
  if (launcher.empty() || library.empty() || key.node.empty()) return verdict;
  key.belljar = identity_of(launcher, library);
  key.machine = this_machine();
  if (const auto found = found_.find(key)) return *found;
  return kept.find(key).value_or(verdict);
}

Task<CopyVerdict> CopyChecks::check(SandboxSpec spec) {
  CopyVerdict verdict;
  try {
    const auto turn = co_await take_turn();
    verdict = co_await try_out(std::move(spec));
  } catch (const Error& e) {
    verdict.reason = e.what();
  }
  co_return verdict;
}

Task<std::unique_ptr<CopyChecks::Turn>> CopyChecks::take_turn() {
  while (busy_) {
    const auto other = busy_;
    co_await other->wait();
  }
  busy_ = std::make_shared<Event>(executor_);
  co_return std::make_unique<Turn>(busy_);
}

Task<CopyVerdict> CopyChecks::try_out(SandboxSpec spec) {
  const Fd node = open_node(spec.image.prefix);
  const std::string name = name_of_node(spec.image.prefix);
  CopyKey key = co_await key_of(node);
  spec.limits = at_least_needed(spec.limits);
  const auto begin = std::chrono::steady_clock::now();
  RunCopyProgram run = [this, &spec](const CopyProgram& program, StartWay way) {
    return run_apart(spec, program, way);
  };
  const auto difference = co_await compare_copies(copy_programs(), std::move(run));
  CopyVerdict verdict;
  verdict.state = difference ? CopyVerdict::State::differs : CopyVerdict::State::works;
  if (difference) verdict.program = difference->program;
  if (difference) verdict.reason = difference->reason;
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  verdict.checked = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now));
  const auto took = std::chrono::steady_clock::now() - begin;
  log::info("copies of Node.js {}: {}, in {} ms", name, linux_driver::name_of(verdict.state),
            std::chrono::duration_cast<milliseconds>(took).count());
  co_await remember(std::move(key), verdict);
  co_return verdict;
}

Task<RunResult> CopyChecks::run_apart(SandboxSpec spec, const CopyProgram& program, StartWay way) {
  const auto sandbox = co_await make_(std::move(spec));
  if (way == StartWay::fork) co_await want_zygote(sandbox->kind());
  sandbox->only(way);
  RunLimits limits;
  limits.timeout = kTimeLimit;
  limits.output_limit = kOutputLimit;
  RunResult result = co_await run_program(*sandbox, command_of(program), limits, nullptr);
  co_await sandbox->destroy();
  co_return result;
}

// The launcher answers at once if there is one.
Task<> CopyChecks::want_zygote(NodeKind kind) {
  launcher::Request request{};
  request.type = launcher::RequestType::zygote;
  request.image = kind.image;
  request.limits = kind.limits;
  std::vector<int> no_fds;
  auto answer = client_->ask(request, std::string{}, std::move(no_fds), "start a zygote");
  const auto in_time = co_await with_timeout(kTimeLimit, std::move(answer));
  if (!in_time) fail(Code::unavailable, "start a zygote: it does not get ready");
}

std::string CopyChecks::known_hash(const Fd& file, const CopyRecord& kept) const {
  if (!file) return "";
  const std::string stamp = stamp_of(file.get());
  const std::string found = found_.hash_of(stamp);
  return found.empty() ? kept.hash_of(stamp) : found;
}

Task<std::string> CopyChecks::hash_of(const Fd& file) {
  if (!file) fail(Code::not_found, "belljar's own files cannot be read: not beside the launcher");
  const CopyRecord kept = read_copy_record(record_path_);
  std::string known = known_hash(file, kept);
  if (!known.empty()) co_return known;
  const std::string stamp = stamp_of(file.get());
  Sha256 hash;
  std::vector<char> buffer(kPiece);
  off_t offset = 0;
  auto add_piece = [&] {
    const ssize_t size = sys(::pread(file.get(), buffer.data(), buffer.size(), offset), "read it");
    hash.add({buffer.data(), static_cast<size_t>(size)});
    return size;
  };
  for (ssize_t size = 1; size > 0; offset += size) size = co_await run_blocking(add_piece);
  std::string result = hash.finish();
  if (stamp_of(file.get()) == stamp) found_.add(stamp, result);
  co_return result;
}

Task<CopyKey> CopyChecks::key_of(const Fd& node) {
  const std::string launcher = co_await hash_of(own_.program);
  const std::string library = co_await hash_of(own_.library);
  CopyKey key;
  key.node = co_await hash_of(node);
  key.belljar = identity_of(launcher, library);
  key.machine = this_machine();
  co_return key;
}

Task<> CopyChecks::remember(CopyKey key, CopyVerdict verdict) {
  found_.add(key, verdict);
  if (record_path_.empty()) co_return;
  CopyRecord record = read_copy_record(record_path_);  // others may have added to it
  for (const auto& [stamp, hash] : found_.hashes) record.add(stamp, hash);
  record.add(key, verdict);
  auto write = [this, &record] { write_copy_record(record_path_, record); };
  co_await run_blocking(write);
}

}  // namespace belljar::linux_driver
