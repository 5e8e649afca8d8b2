#include "mcp/call_tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "base/bytes.h"
#include "base/request_context.h"
#include "mcp/input_rounds.h"
#include "mcp/methods.h"
#include "mcp/protocol.h"
#include "mcp/server.h"

namespace belljar::mcp {

namespace {

size_t size_of(const Reply& reply) {
  const auto* result = std::get_if<json::object>(&reply);
  return result != nullptr ? json::serialize(*result).size() : 0;
}

}  // namespace

// A call while its request is open. Unless it has been detached, the call ends with the request.
class CallTasks::Attached {
 public:
  Attached(CallTasks& owner, std::shared_ptr<CallTask> task)
      : owner_{owner}, task_{std::move(task)} {}
  Attached(const Attached&) = delete;
  Attached& operator=(const Attached&) = delete;
  ~Attached() {
    if (!task_->is_attached()) return;
    task_->detach();
    if (task_->is_settled()) return;
    task_->cancel("");
    owner_.group_.cancel(run);
  }

  TaskGroup::Id run = 0;

 private:
  CallTasks& owner_;
  std::shared_ptr<CallTask> task_;
};

CallTasks::CallTasks(const asio::any_io_executor& executor, Clock& clock, TaskOptions options)
    : executor_{executor}, clock_{clock}, options_{options}, group_{executor} {}

Task<Reply> CallTasks::perform(const Server& server, json::object params, ActiveCall& call) {
  const bool asks = may_ask(server, "tools/call", params);
  const auto task = std::make_shared<CallTask>(executor_, clock_, call);
  Attached attached{*this, task};
  Task<> work = run(server, task, std::move(params), asks);
  if (current_request()) work = in_request(current_request(), std::move(work));
  attached.run = group_.spawn("a call that may become a task", std::move(work));
  const Clock::Time soon = clock_.now() + options_.answer_within;
  if (!task->is_settled() && clock_.now() < soon) co_await task->wait_until_settled(soon);
  // An owner with too many tasks gets no more of them, but the results of its calls all the same.
  if (!task->is_settled() && count(call.owner()) >= options_.max_per_owner) {
    co_await task->wait_until_settled();
  }
  if (task->is_settled()) {
    if (task->is_over()) co_return task->take_reply();
    call.ask(std::move(*task->round().question));
    co_return json::object{};
  }
  task->detach();
  tasks_.emplace(task->id(), Kept{task, attached.run});
  json::object result{{"resultType", "task"}};
  for (auto& member : task->describe(options_.ttl, options_.poll_interval)) {
    result.emplace(member.key(), std::move(member.value()));
  }
  co_return result;
}

Task<> CallTasks::run(const Server& server, std::shared_ptr<CallTask> task, json::object params,
                      bool asks) {
  const std::string version{kModern};
  for (;;) {
    // Only who asks needs its parameters again.
    json::object these = asks ? params : std::exchange(params, {});
    Reply reply = co_await mcp::perform(server, "tools/call", std::move(these), version, *task);
    if (task->is_over()) co_return;  // cancelled
    InputRound& round = task->round();
    if (!round.question || !asks) {
      finish(*task, std::move(reply));
      break;
    }
    if (task->is_attached()) co_return task->settle();  // the request is answered with the question
    auto question = *std::exchange(round.question, std::nullopt);
    json::object missing = missing_capabilities(question, task->client_capabilities());
    if (!missing.empty()) {
      task->finish(missing_capability(std::move(missing)));
      break;
    }
    const Clock::Time until = clock_.now() + options_.ttl;
    const bool answered = co_await task->wait_for_answers(std::move(question), until);
    if (answered) continue;
    task->cancel("nobody answered");
    tasks_.erase(task->id());  // its time is over
    co_return;
  }
  ended(*task);
}

// The result of a request is sent at once; that of a task takes memory until it is asked for.
void CallTasks::finish(CallTask& task, Reply reply) {
  const size_t bytes = task.is_attached() ? 0 : size_of(reply);
  if (make_room(task.owner(), bytes)) return task.finish(std::move(reply), bytes);
  const std::string message = fmt::format(
      "The call is over, but its result of {} is not kept: results of your tasks may have {}, and "
      "there are others that you have not asked for. Ask for them with tasks/get, and call again",
      format_bytes(bytes), format_bytes(options_.max_kept));
  task.finish(RpcError{kInternalError, message}, 0);
}

bool CallTasks::make_room(const std::string& owner, size_t bytes) {
  const auto is_theirs = [&owner](const auto& entry) {
    return entry.second.task->owner() == owner;
  };
  size_t kept = bytes;
  for (const auto& entry : tasks_ | std::views::filter(is_theirs))
    kept += entry.second.task->kept_bytes();
  while (kept > options_.max_kept) {
    auto oldest = tasks_.end();
    for (auto at = tasks_.begin(); at != tasks_.end(); ++at) {
      if (!is_theirs(*at) || !at->second.task->is_seen()) continue;
      if (oldest == tasks_.end() || at->second.task->changed() < oldest->second.task->changed())
        oldest = at;
    }
    if (oldest == tasks_.end()) return false;
    kept -= oldest->second.task->kept_bytes();
    group_.cancel(oldest->second.keeper);
    tasks_.erase(oldest);
  }
  return true;
}

// A task that is over is kept for a while.
void CallTasks::ended(const CallTask& task) {
  const auto at = tasks_.find(task.id());
  if (stopping_ || at == tasks_.end()) return;
  at->second.keeper = group_.spawn("keep a task", keep(task.id()));
}

Task<> CallTasks::keep(std::string id) {
  co_await clock_.sleep_until(clock_.now() + options_.ttl);
  tasks_.erase(id);
}

size_t CallTasks::count(const std::string& owner) const {
  const auto is_of_owner = [&owner](const auto& entry) {
    return entry.second.task->owner() == owner;
  };
  return static_cast<size_t>(std::ranges::count_if(tasks_, is_of_owner));
}

CallTasks::Kept* CallTasks::find_task(const json::object& params, const std::string& owner) {
  const json::string* id = find_string(params, "taskId");
  const auto at = id != nullptr ? tasks_.find(std::string{*id}) : tasks_.end();
  if (at == tasks_.end() || at->second.task->owner() != owner) return nullptr;
  return &at->second;
}

std::optional<Reply> CallTasks::answer(std::string_view method, const json::object& params,
                                       const std::string& owner) {
  const bool get = method == "tasks/get";
  const bool update = method == "tasks/update";
  if (!get && !update && method != "tasks/cancel") return std::nullopt;
  const json::object* meta = find_meta(params);
  const json::object* capabilities =
      meta != nullptr ? find_object(*meta, kMetaCapabilities) : nullptr;
  if (capabilities == nullptr || !knows_tasks(*capabilities)) {
    return missing_capability(tasks_capability());
  }
  Kept* kept = find_task(params, owner);
  if (kept == nullptr) return RpcError{kInvalidParams, "Unknown task"};
  CallTask& task = *kept->task;
  if (get) return task.describe_all(options_.ttl, options_.poll_interval);
  if (update) {
    const json::object* responses = find_object(params, "inputResponses");
    if (responses == nullptr) return RpcError{kInvalidParams, "inputResponses must be an object"};
    task.answer(*responses);
  } else if (!task.is_over()) {
    task.cancel("cancelled by the client");
    ended(task);
    group_.cancel(kept->run);
  }
  return json::object{};
}

Task<> CallTasks::stop() {
  stopping_ = true;
  for (auto& [id, kept] : tasks_) kept.task->cancel("the server ends");
  co_await group_.stop();
  tasks_.clear();
}

bool knows_tasks(const json::object& capabilities) {
  const json::object* extensions = find_object(capabilities, "extensions");
  return extensions != nullptr && find_object(*extensions, kTasksExtension) != nullptr;
}

json::object tasks_capability() {
  json::object extensions;
  extensions.emplace(kTasksExtension, json::object{});
  json::object result;
  result.emplace("extensions", std::move(extensions));
  return result;
}

}  // namespace belljar::mcp
