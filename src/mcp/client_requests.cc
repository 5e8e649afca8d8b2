#include "mcp/client_requests.h"

#include <fmt/format.h>

#include <list>

#include "base/id.h"
#include "mcp/protocol.h"

namespace belljar::mcp {

namespace {

constexpr std::string_view kModeVersion = "2025-11-25";  // the first that has `mode`

json::object adapt(InputRequest request, std::string_view version) {
  json::object params = std::move(request.params);
  if (request.method != "elicitation/create") return params;
  const json::string* mode = find_string(params, "mode");
  const bool by_url = mode != nullptr && *mode == "url";
  if (by_url && !params.contains("elicitationId")) params.emplace("elicitationId", random_uuid());
  if (!by_url && version < kModeVersion) params.erase("mode");
  return params;
}

}  // namespace

struct ClientRequests::Pending {
  Id id;
  std::string name;    // among the requests of its call
  std::string method;  // for errors
  std::optional<Reply> reply;
  Event answered;
};

// The requests of one call. Whatever ends the waiting, they leave the table, and the client learns
// which of them need no answer any more.
class ClientRequests::Asking {
 public:
  explicit Asking(ClientRequests& owner) : owner_{owner} {}
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;
  ~Asking() {
    for (Pending& pending : all_) {
      owner_.pending_.erase(key_of(pending.id));
      if (!pending.reply) owner_.withdraw(pending.id);
    }
  }

  void add(std::string name, InputRequest request, const std::string& version, const Send& send) {
    const Id id(fmt::format("s{}", owner_.next_++));
    Pending& pending = all_.emplace_back(
        Pending{id, std::move(name), request.method, std::nullopt, Event{owner_.executor_}});
    owner_.pending_.emplace(key_of(id), &pending);
    send(make_request(id, pending.method, adapt(std::move(request), version)));
  }

  Task<> wait() {
    for (Pending& pending : all_) co_await pending.answered.wait();
  }

  Reply result() const {
    json::object answers;
    for (const Pending& pending : all_) {
      if (const auto* error = std::get_if<RpcError>(&*pending.reply)) {
        return RpcError{kInternalError, fmt::format("The client answered {} with an error: {}",
                                                    pending.method, error->message)};
      }
      answers.emplace(pending.name, std::get<json::object>(*pending.reply));
    }
    return answers;
  }

 private:
  ClientRequests& owner_;
  std::list<Pending> all_;
};

ClientRequests::ClientRequests(asio::any_io_executor executor, Send send, milliseconds limit)
    : executor_{std::move(executor)}, send_{std::move(send)}, limit_{limit} {}

ClientRequests::~ClientRequests() = default;

Task<Reply> ClientRequests::ask(InputRequired input, std::string version, Send send) {
  Asking asking{*this};
  for (auto& [name, request] : input.requests) {
    asking.add(name, std::move(request), version, send);
  }
  const bool answered = co_await with_timeout(limit_, asking.wait());
  if (answered) co_return asking.result();
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(limit_);
  co_return RpcError{kInternalError,
                     fmt::format("The client did not answer within {} s", seconds.count())};
}

void ClientRequests::answer(Message response) {
  const auto at = pending_.find(key_of(*response.id));
  if (at == pending_.end() || at->second->reply) return;
  at->second->reply = std::move(response.reply);
  at->second->answered.set();
}

void ClientRequests::withdraw(const Id& id) {
  if (muted_) return;
  json::object params;
  params.emplace("requestId", id);
  send_(make_notification("notifications/cancelled", std::move(params)));
}

}  // namespace belljar::mcp
