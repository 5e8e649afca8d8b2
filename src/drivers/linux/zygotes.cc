#include "drivers/linux/zygotes.h"

#include <fmt/format.h>

#include "base/log.h"

namespace belljar::linux_driver {

namespace {

// Variables that Node.js, the C library or OpenSSL read once, when they start.
constexpr std::string_view kReadAtStart[] = {"NODE_",  "LD_",    "UV_",    "OPENSSL_",
                                             "SSL_",   "ICU_",   "LC_",    "LANG",
                                             "MALLOC", "GLIBC_", "GCONV_", "LOCPATH"};

}  // namespace

bool can_be_copy(const Command& command) {
  const auto& argv = command.argv;
  if (!command.source || argv.size() < 2 || argv[1] != command.source->path) return false;
  if (argv[0] != "/usr/local/bin/node") return false;
  for (const auto& [name, value] : command.env) {
    for (const std::string_view prefix : kReadAtStart) {
      if (name.starts_with(prefix)) return false;
    }
  }
  return true;
}

struct Zygotes::Zygote {
  Zygote(const asio::any_io_executor& executor, const NodeKind& of, Clock::Time now)
      : kind{of}, used{now}, born{now}, settled{executor} {}
  NodeKind kind;
  uint64_t number = 0;  // 0: not ready
  uint64_t copies = 0;
  Clock::Time used;
  Clock::Time born;       // of the one that is ready
  bool renewing = false;  // its successor starts
  Clock::Time next_try{};
  Event settled;  // the first one is ready, or there will be none
};

Zygotes::Zygotes(asio::any_io_executor executor, std::shared_ptr<LauncherClient> client,
                 Clock& clock, NodeStart way, uint64_t most_copies, Check check)
    : executor_{executor},
      client_{std::move(client)},
      clock_{clock},
      way_{way},
      most_copies_{most_copies},
      check_{std::move(check)},
      tasks_{std::move(executor)} {
  client_->on_zygote_death([this](uint64_t number) { died(number); });
}

Zygotes::~Zygotes() {
  client_->on_zygote_death(nullptr);  // sandboxes may outlive us, and keep the client
}

std::string Zygotes::key_of(const NodeKind& kind) {
  const launcher::SandboxLimits& limits = kind.limits;
  return fmt::format("{} {} {} {} {} {}", kind.image, limits.memory, limits.disk, limits.inodes,
                     limits.cpu_millis, limits.pids);
}

uint64_t Zygotes::current(const NodeKind& kind) const {
  const auto at = zygotes_.find(key_of(kind));
  return at == zygotes_.end() ? 0 : at->second->number;
}

bool Zygotes::must_execute(const NodeKind& kind) const {
  if (way_ == NodeStart::parked_exec) return true;
  const auto at = zygotes_.find(key_of(kind));
  return may_park() && at != zygotes_.end() && at->second->settled.is_set() &&
         at->second->number == 0;
}

void Zygotes::want(const NodeKind& kind) {
  if (way_ == NodeStart::exec || way_ == NodeStart::parked_exec) return;
  const auto [at, is_new] = zygotes_.try_emplace(key_of(kind));
  if (!is_new) {
    at->second->used = clock_.now();
    return renew_if_due(at->second);
  }
  const auto zygote = std::make_shared<Zygote>(executor_, kind, clock_.now());
  at->second = zygote;
  make_room();
  tasks_.spawn("start a zygote", start(zygote));
  if (!std::exchange(tending_, true)) tasks_.spawn("tend the zygotes", tend());
}

void Zygotes::make_room() {
  if (zygotes_.size() <= kMostKinds) return;
  auto oldest = zygotes_.end();
  for (auto at = zygotes_.begin(); at != zygotes_.end(); ++at) {
    if (!at->second->settled.is_set() || at->second->renewing) continue;
    if (oldest == zygotes_.end() || at->second->used < oldest->second->used) oldest = at;
  }
  if (oldest != zygotes_.end()) retire(oldest->first);
}

Task<uint64_t> Zygotes::ask_for_one(NodeKind kind, uint32_t flags) {
  launcher::Request request{};
  request.type = launcher::RequestType::zygote;
  request.image = kind.image;
  request.limits = kind.limits;
  request.flags = flags;
  std::vector<int> no_fds;
  const auto answer =
      co_await client_->ask(request, std::string{}, std::move(no_fds), "start a zygote");
  co_return answer.reply.sandbox;
}

Task<> Zygotes::start(std::shared_ptr<Zygote> zygote) {
  try {
    if (co_await check_(zygote->kind)) {
      zygote->number = co_await ask_for_one(zygote->kind, 0);
      zygote->born = clock_.now();
      log::debug("zygote {} is ready", zygote->number);
    }
  } catch (const Error& e) {
    log::warning("programs start by executing Node.js: {}", e.what());
  }
  zygote->settled.set();
  if (zygote->number != 0 && on_ready_) on_ready_();
}

Task<> Zygotes::renew(std::shared_ptr<Zygote> zygote) {
  const auto age = std::chrono::duration_cast<std::chrono::seconds>(clock_.now() - zygote->born);
  try {
    const uint64_t number = co_await ask_for_one(zygote->kind, launcher::kRenew);
    log::debug("zygote {} takes the place of {}, which made {} copies and was {} s old", number,
               zygote->number, zygote->copies, age.count());
    zygote->number = number;
    zygote->born = clock_.now();
    zygote->copies = 0;
  } catch (const Error& e) {
    log::warning("a zygote was not renewed, and serves on: {}", e.what());
    zygote->next_try = clock_.now() + kPause;
  }
  zygote->renewing = false;
  if (on_ready_) on_ready_();
}

void Zygotes::renew_if_due(const std::shared_ptr<Zygote>& zygote) {
  const Clock::Time now = clock_.now();
  if (zygote->number == 0 || zygote->renewing || now < zygote->next_try) return;
  if (zygote->copies < most_copies_ && now < zygote->born + kMostAge) return;
  zygote->renewing = true;
  tasks_.spawn("renew a zygote", renew(zygote));
}

void Zygotes::count_copy(const NodeKind& kind) {
  const auto at = zygotes_.find(key_of(kind));
  if (at == zygotes_.end()) return;
  ++at->second->copies;
  renew_if_due(at->second);
}

// Sleeps until the first of them may be due: there is nothing to do as long as there are none.
Task<> Zygotes::tend() {
  while (!zygotes_.empty()) {
    const Clock::Time now = clock_.now();
    Clock::Time next = now + kMostIdle;
    for (auto at = zygotes_.begin(); at != zygotes_.end();) {
      const auto [key, zygote] = *at++;
      if (now >= zygote->used + kMostIdle && zygote->settled.is_set() && !zygote->renewing) {
        retire(key);
        continue;
      }
      // One that nobody may want again is not worth a successor.
      if (now < zygote->used + kMostIdle / 2) renew_if_due(zygote);
      for (const Clock::Time due : {zygote->used + kMostIdle, zygote->born + kMostAge}) {
        if (due > now && due < next) next = due;
      }
    }
    if (zygotes_.empty()) break;
    co_await clock_.sleep_until(std::max(next, now + std::chrono::seconds{1}));
  }
  tending_ = false;
}

void Zygotes::retire(const std::string& key) {
  const auto zygote = zygotes_.at(key);
  zygotes_.erase(key);
  if (zygote->number == 0) return;
  log::debug("zygote {} is not needed any more; it made {} copies", zygote->number, zygote->copies);
  launcher::Request request{};
  request.type = launcher::RequestType::zygote;
  request.image = zygote->kind.image;
  request.limits = zygote->kind.limits;
  request.flags = launcher::kRetire;
  client_->tell(request);
}

void Zygotes::died(uint64_t number) {
  for (const auto& [key, zygote] : zygotes_) {
    if (zygote->number != number) continue;
    log::debug("zygote {} died", number);
    zygotes_.erase(key);
    return;
  }
}

Task<> Zygotes::settle(NodeKind kind) {
  if (way_ != NodeStart::fork && way_ != NodeStart::parked) co_return;
  const auto at = zygotes_.find(key_of(kind));
  if (at == zygotes_.end()) co_return;
  const auto zygote = at->second;
  co_await zygote->settled.wait();
}

Task<> Zygotes::stop() {
  co_await tasks_.stop();
}

}  // namespace belljar::linux_driver
