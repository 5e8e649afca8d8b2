// The zygote itself: a Node.js that has booted and warmed up hands control to serve(), which makes
// copies of the process for as long as the launcher lives and returns in a copy only.
#include <fcntl.h>
#include <malloc.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>

#include "drivers/linux/launcher/rights.h"
#include "drivers/linux/zygote/fork_beside.h"
#include "drivers/linux/zygote/ghosts.h"
#include "drivers/linux/zygote/program.h"
#include "drivers/linux/zygote/shown_command.h"
#include "drivers/linux/zygote/state.h"
#include "drivers/linux/zygote/thread_id.h"
#include "drivers/linux/zygote/worker_tasks.h"

namespace belljar::zygote {

using namespace launcher;

State* state = nullptr;

namespace {

[[noreturn]] void give_up(int status) {
  ::_exit(status);
}

void reply(const ForkReply& answer) {
  while (::send(kZygoteControlFd, &answer, sizeof answer, MSG_NOSIGNAL) < 0) {
    if (errno != EINTR) give_up(1);
  }
}

bool receive_filters() {
  std::vector<char> packet(256 << 10);
  const ssize_t size = ::recv(kZygoteControlFd, packet.data(), packet.size(), 0);
  ZygoteSetup setup{};
  if (size < static_cast<ssize_t>(sizeof setup)) return false;
  std::memcpy(&setup, packet.data(), sizeof setup);
  const size_t total = (size_t{setup.arguments} + setup.names) * sizeof(sock_filter);
  if (static_cast<size_t>(size) != sizeof setup + total) return false;
  const auto* const first = reinterpret_cast<const sock_filter*>(packet.data() + sizeof setup);
  state->filters.arguments.assign(first, first + setup.arguments);
  state->filters.names.assign(first + setup.arguments, first + setup.arguments + setup.names);
  return true;
}

// One request, with its descriptors; nothing if the packet is not one. The launcher's end is ours.
std::optional<ForkRequest> receive_request(std::vector<Fd>& fds) {
  ForkRequest request{};
  iovec part{&request, sizeof request};
  Rights rights;
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  rights.expect(header);
  ssize_t size = 0;
  do size = ::recvmsg(kZygoteControlFd, &header, MSG_CMSG_CLOEXEC);
  while (size < 0 && errno == EINTR);
  if (size <= 0) give_up(0);
  fds = Rights::take(header);
  const size_t wanted = kForkFds + (request.has_group != 0 ? 1u : 0u) + request.tasks;
  if (size != sizeof request || fds.size() != wanted) return std::nullopt;
  return request;
}

// In a copy that has entered its sandbox.
void settle(const EnterContext& context) {
  ::uv_loop_fork(state->loop);
  close_placeholders(context);
  hook_exits();
  state->status = context.status;
  state->job = context.job;
  if (context.request.is_awaited != 0) return become_program();
  // Nobody waits for it yet: it touches the memory that its program will need, which makes it the
  // copy's own.
  call(state->rehearse, 0, nullptr);
}

void serve_until_copied() {
  const pid_t own_id = ::gettid();
  for (;;) {
    std::vector<Fd> fds;
    const std::optional<ForkRequest> request = receive_request(fds);
    if (!request) give_up(1);
    ForkReply answer{request->sandbox, request->process, -1, 0};
    const int group = request->has_group != 0 ? fds[kForkFds].get() : -1;
    // Children are born there. There is no way back, and none is needed: this thread starts no
    // other, and every request names a namespace.
    if (::setns(fds[kForkPid].get(), CLONE_NEWPID) != 0) {
      answer.error = errno;
      reply(answer);
      continue;
    }
    const pid_t child = fork_beside(group);
    if (child == 0) {
      lay_ghosts();
      renew_thread_id(own_id);
      std::vector<int> numbers;
      numbers.reserve(fds.size());
      for (Fd& fd : fds) numbers.push_back(fd.release());
      EnterContext context{*request, state->filters,       state->own_fds,
                           numbers,  numbers[kForkStatus], numbers[kForkJob]};
      enter_sandbox(context);
      return settle(context);
    }
    answer.pid = child;
    answer.error = child < 0 ? errno : 0;
    reply(answer);
  }
}

// In the next turn of the event loop, with nothing of JavaScript on the stack.
void call_soon(void (*function)()) {
  constexpr int kTimer = 13;  // UV_TIMER
  static constinit void (*next)() = nullptr;
  next = function;
  auto* const timer = static_cast<uv_timer_s*>(std::calloc(1, ::uv_handle_size(kTimer)));
  const auto on_time = [](uv_timer_s* self) {
    ::uv_close(self, nullptr);
    napi_handle_scope scope = nullptr;
    ::napi_open_handle_scope(state->env, &scope);
    next();
    ::napi_close_handle_scope(state->env, scope);
  };
  ::uv_timer_init(state->loop, timer);
  ::uv_timer_start(timer, on_time, 0, 0);
}

void serve() {
  rest_worker_threads();
  if (!receive_filters() || !threads_are_known() || !thread_id_is_known() || !state->random.find())
    give_up(1);
  show_command_of_program();
  // What the zygote has is nobody's business but its copies'.
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  state->own_fds = list_own_fds();
  ::malloc_trim(0);  // puts free memory in order, which each copy would do again
  reply({});
  serve_until_copied();
}

// setUp(rehearse, prepare, run, nothing)
napi_value set_up(napi_env env, napi_callback_info info) {
  size_t count = 4;
  napi_value functions[4] = {};
  ::napi_get_cb_info(env, info, &count, functions, nullptr, nullptr);
  napi_ref* const places[] = {&state->rehearse, &state->prepare, &state->run, &state->nothing};
  for (size_t i = 0; i < 4; ++i) ::napi_create_reference(env, functions[i], 1, places[i]);
  return nullptr;
}

// becomeZygote(): before there is work for the platform's threads.
napi_value become_zygote(napi_env, napi_callback_info) {
  if (!take_over_worker_tasks(state->node)) give_up(2);
  state->has_own_workers = true;
  return nullptr;
}

// becomeParked(): this process itself is to be a program.
napi_value become_parked(napi_env, napi_callback_info) {
  state->job = kParkedJobFd;
  state->status = kParkedStatusFd;
  for (const int fd : {kParkedJobFd, kParkedStatusFd}) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  ::close(kParkedLibraryFd);
  show_command_of_program();
  return nullptr;
}

napi_value serve_soon(napi_env, napi_callback_info) {
  call_soon(serve);
  return nullptr;
}

// wait(): for the program.
napi_value wait_soon(napi_env, napi_callback_info) {
  call_soon([] {
    if (state->has_own_workers) keep_one_worker_thread();
    become_program();
  });
  return nullptr;
}

int32_t integer_argument(napi_env env, napi_callback_info info) {
  size_t count = 1;
  napi_value value = nullptr;
  int32_t number = 0;
  ::napi_get_cb_info(env, info, &count, &value, nullptr, nullptr);
  ::napi_get_value_int32(env, value, &number);
  return number;
}

napi_value look_for_exit_code(napi_env env, napi_callback_info info) {
  state->exit_code.look_for(integer_argument(env, info));
  return nullptr;
}

napi_value confirm_exit_code(napi_env env, napi_callback_info info) {
  napi_value result = nullptr;
  ::napi_get_boolean(env, state->exit_code.confirm(integer_argument(env, info)), &result);
  return result;
}

// findStartTimes(environment, nodeStart, v8Start, bootstrapComplete)
napi_value find_start_times(napi_env env, napi_callback_info info) {
  size_t count = 4;
  napi_value values[4] = {};
  double times[4] = {};
  napi_value result = nullptr;
  ::napi_get_cb_info(env, info, &count, values, nullptr, nullptr);
  for (size_t i = 0; i < 4; ++i) ::napi_get_value_double(env, values[i], &times[i]);
  const bool found = state->times.find({times[0], times[1], times[2], times[3]}, state->loop);
  ::napi_get_boolean(env, found, &result);
  return result;
}

napi_value collect_young(napi_env, napi_callback_info) {
  constexpr int kMinor = 1;
  state->node.collect_garbage(state->node.isolate_current(), kMinor);
  return nullptr;
}

napi_value make_pipe(napi_env env, napi_callback_info) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) give_up(1);
  napi_value array = nullptr;
  ::napi_create_array_with_length(env, 2, &array);
  for (uint32_t i = 0; i < 2; ++i) {
    napi_value number = nullptr;
    ::napi_create_double(env, ends[i], &number);
    ::napi_set_element(env, array, i, number);
  }
  return array;
}

}  // namespace

}  // namespace belljar::zygote

using namespace belljar::zygote;

extern "C" __attribute__((visibility("default"))) napi_value napi_register_module_v1(
    napi_env env, napi_value exports) {
  state = new State;
  state->env = env;
  ::napi_get_uv_event_loop(env, &state->loop);
  if (!find_symbols(state->node)) give_up(2);
  struct {
    const char* name;
    napi_callback function;
  } const functions[] = {
      {"setUp", set_up},
      {"becomeZygote", become_zygote},
      {"becomeParked", become_parked},
      {"serve", serve_soon},
      {"wait", wait_soon},
      {"lookForExitCode", look_for_exit_code},
      {"confirmExitCode", confirm_exit_code},
      {"findStartTimes", find_start_times},
      {"collectYoung", collect_young},
      {"pipe", make_pipe},
  };
  for (const auto& [name, function] : functions) {
    napi_value value = nullptr;
    ::napi_create_function(env, name, std::strlen(name), function, nullptr, &value);
    ::napi_set_named_property(env, exports, name, value);
  }
  return exports;
}
