#include "network/passage.h"

#include <boost/asio/experimental/awaitable_operators.hpp>

#include "base/log.h"
#include "network/dial.h"
#include "network/relay.h"
#include "network/secret_relay.h"
#include "sandbox/gate.h"

namespace belljar::network {

namespace {

constexpr std::chrono::seconds kDialLimit{60};

}  // namespace

Passage::Way Passage::judge(const Endpoint& to) const {
  const auto names = names_.names_of(to.address, shared_.clock.now());
  Way way{names.empty() ? to.address.to_string() : names.front(), false, to};
  if (to.address == asio::ip::address_v4{kGateHost}) {
    way.open = policy_.kind() == Policy::Kind::host;
    way.to.address = asio::ip::address_v4::loopback();
    return way;
  }
  way.open = policy_.allows(to.address, to.port, names);
  // The host and its neighbours may have public addresses, too. Only somebody who names one means
  // it.
  const bool is_named =
      policy_.kind() == Policy::Kind::host ||
      (policy_.kind() == Policy::Kind::allow && policy_.allows(to.address, to.port, {}));
  if (way.open && !is_named && is_near(to.address)) way.open = false;
  return way;
}

void Passage::block(const std::string& host, uint16_t port) {
  const auto entry = log_.attempt(host, port, Traffic::Verdict::blocked);
  if (entry->attempts > 1) return;  // the log is not the program's to fill
  log::info("blocked: {}{}; network is {}", host, port == 0 ? "" : fmt::format(":{}", port),
            policy_.text());
}

void Passage::refuse(const std::string& host, uint16_t port, Limit reached) {
  const auto entry = log_.attempt(host, port, Traffic::Verdict::failed);
  const bool is_own = reached == Limit::own;
  if (++(is_own ? entry->over_own_limit : entry->over_shared_limit) > 1) return;
  log::info("refused: {}:{}; {}", host, port,
            is_own ? fmt::format("the limit of {} connections at a time was reached", kMostAtATime)
                   : "all sandboxes together have as many connections as belljar may");
}

// ---- connections -------------------------------------------------------------------------------

std::shared_ptr<uint64_t> Passage::note(const Way& way, bool is_host) {
  using Verdict = Traffic::Verdict;
  const auto traffic =
      log_.attempt(way.host, way.to.port, is_host ? Verdict::allowed : Verdict::failed);
  return {traffic, &traffic->bytes};
}

Task<std::optional<Passage::Dialled>> Passage::dial(Way way) {
  std::optional<Fd> socket;
  try {
    socket = co_await with_timeout(kDialLimit, network::dial(way.to));
  } catch (const Error& e) {
    log::debug("{}", e.what());
    note(way, false);
    throw;
  }
  if (!socket) {
    note(way, false);
    co_return std::nullopt;
  }
  const bool may_be_guarded = shared_.secrets != nullptr && shared_.secrets->has_port(way.to.port);
  Dialled dialled{std::move(way), std::move(*socket), nullptr};
  if (!may_be_guarded) dialled.count = note(dialled.way, true);
  co_return dialled;
}

// The host that a program wants to speak with, if there are secrets for it.
Task<std::optional<Secret::Host>> Passage::guarded_host(int inside, int outside, uint16_t port) {
  Secret::Host host{co_await peek_server_name(inside, outside), port};
  // Whoever may reach the address because of another name that it has may not use the secret.
  if (!policy_.allows_name(host.name) || shared_.secrets->of(host).empty()) co_return std::nullopt;
  co_return host;
}

Task<> Passage::join(Fd inside, Dialled outside) {
  const Way way = outside.way;
  try {
    std::optional<Secret::Host> guarded;
    if (!outside.count)
      guarded = co_await guarded_host(inside.get(), outside.socket.get(), way.to.port);
    if (guarded) {
      const HostNote prove = [this, &way](bool is_host) { return note(way, is_host); };
      co_await relay_with_secrets(std::move(inside), std::move(outside.socket), *guarded,
                                  *shared_.secrets, prove);
    } else {
      if (!outside.count) outside.count = note(way, true);
      co_await relay(std::move(inside), std::move(outside.socket), std::move(outside.count));
    }
  } catch (const Error& e) {
    log::debug("a connection to {} ended: {}", way.host, e.what());
  }
}

// ---- names -------------------------------------------------------------------------------------

Task<std::string> Passage::resolve(std::string query, bool over_tcp) {
  const auto parsed = parse_query(query);
  if (!parsed) co_return std::string{};
  if (!policy_.allows_name(parsed->name)) {
    block(parsed->name, 0);
    co_return make_error_answer(query, *parsed, DnsCode::no_such_name);
  }
  std::string answer = co_await shared_.resolver.answer(query, *parsed, over_tcp);
  if (const auto found = parse_answer(answer, *parsed))
    names_.remember(parsed->name, *found, shared_.clock.now());
  co_return answer;
}

Task<std::vector<asio::ip::address>> Passage::look_up(std::string name, uint16_t type) {
  const std::string query = make_question(name, type);
  const std::string answer = co_await resolve(query, true);
  std::vector<asio::ip::address> addresses;
  if (const auto found = parse_answer(answer, parse_query(query).value()))
    for (const auto& [address, seconds] : found->addresses) addresses.push_back(address);
  co_return addresses;
}

Task<std::vector<asio::ip::address>> Passage::look_up(std::string name) {
  using namespace asio::experimental::awaitable_operators;
  auto v4 = look_up(name, DnsQuery::a);
  auto v6 = look_up(name, DnsQuery::aaaa);
  auto [addresses, more] = co_await (std::move(v4) && std::move(v6));
  addresses.insert(addresses.end(), more.begin(), more.end());
  co_return addresses;
}

}  // namespace belljar::network
