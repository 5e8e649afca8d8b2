#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/task_group.h"
#include "mcp/call_task.h"
#include "mcp/message.h"

namespace belljar::mcp {

class Server;

struct TaskOptions {
  milliseconds answer_within{5'000};  // a call that is over by then is answered with its result
  milliseconds ttl{3'600'000};        // a task is kept that long after it has last changed
  milliseconds poll_interval{1'000};  // how often clients are advised to ask
  size_t max_per_owner = 64;          // tasks, ended ones included; more calls are plain requests
  size_t max_kept = 64u << 20;        // bytes of results that are kept for an owner
};

// The tasks extension of the modern era: calls that go on after their requests, whatever happens to
// the connections, for as long as this process lives. They belong to the owner of the call: nobody
// else can tell that they exist. Results that their client has seen make room for others; a task
// whose result still does not fit has failed, and says so.
//
//   CallTasks tasks{executor, clock};
//   server.use(tasks);
//   … serve …
//   co_await tasks.stop();  // when no connection is left, and before the server is destroyed
class CallTasks {
 public:
  CallTasks(const asio::any_io_executor& executor, Clock& clock, TaskOptions options = {});

  // Serves tools/call of a client that knows tasks: the result if there soon is one, else the task.
  // If the tool asks the client soon, the question is left in `call`. Cancelling this
  // cancels the call.
  Task<Reply> perform(const Server& server, json::object params, ActiveCall& call);

  // Answers tasks/get, tasks/update and tasks/cancel; nothing for other methods.
  std::optional<Reply> answer(std::string_view method, const json::object& params,
                              const std::string& owner);

  // Cancels everything, forgets it and waits until it has ended.
  Task<> stop();

  size_t size() const { return tasks_.size(); }

 private:
  struct Kept {
    std::shared_ptr<CallTask> task;
    TaskGroup::Id run = 0;
    TaskGroup::Id keeper = 0;  // once it is over: who forgets it
  };
  class Attached;

  Task<> run(const Server& server, std::shared_ptr<CallTask> task, json::object params, bool asks);
  Task<> keep(std::string id);
  void finish(CallTask& task, Reply reply);
  bool make_room(const std::string& owner, size_t bytes);
  void ended(const CallTask& task);
  Kept* find_task(const json::object& params, const std::string& owner);
  size_t count(const std::string& owner) const;

  asio::any_io_executor executor_;
  Clock& clock_;
  TaskOptions options_;
  std::map<std::string, Kept> tasks_;  // detached ones, by id
  bool stopping_ = false;
  TaskGroup group_;
};

// True if the client said, in these capabilities, that it knows the extension.
bool knows_tasks(const json::object& capabilities);

// The capabilities of a client that knows it, as far as that needs any.
json::object tasks_capability();

}  // namespace belljar::mcp
