#include "drivers/linux/zygote/program.h"

#include <dlfcn.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "drivers/linux/launcher/files.h"
#include "drivers/linux/launcher/message.h"
#include "drivers/linux/launcher/report.h"
#include "drivers/linux/zygote/leave.h"
#include "drivers/linux/zygote/state.h"

namespace belljar::zygote {

using namespace launcher;

namespace {

bool can_run_javascript() {
  napi_handle_scope scope = nullptr;
  napi_value function = nullptr;
  napi_value global = nullptr;
  ::napi_open_handle_scope(state->env, &scope);
  ::napi_get_reference_value(state->env, state->nothing, &function);
  ::napi_get_global(state->env, &global);
  const int status = ::napi_call_function(state->env, global, function, 0, nullptr, nullptr);
  ::napi_close_handle_scope(state->env, scope);
  return status == 0;
}

// After the 'exit' event Node.js takes its environment apart, object by object. It begins by
// running the loop until the handles are closed.
void leave_at_natural_end(int poll) {
  if (state == nullptr || state->job < 0 || !state->exit_code.is_exiting()) return;
  if (::gettid() != ::getpid() || poll != ::uv_backend_fd(state->loop)) return;
  if (!can_run_javascript()) leave(state->exit_code.get());
}

int take_standard_streams(std::vector<Fd>& fds) {
  for (int i = 0; i < 3; ++i) {
    const int number = fds[static_cast<size_t>(i)].get();
    if (number <= 2) return EBADF;  // 0, 1 and 2 are open all the time
    if (::dup2(number, i) < 0) return errno;
  }
  return 0;
}

void set_environment(char* const* variables, size_t count) {
  ::clearenv();
  for (size_t i = 0; i < count; ++i) {
    char* const equals = std::strchr(variables[i], '=');
    if (equals == nullptr) continue;
    *equals = '\0';
    ::setenv(variables[i], equals + 1, 1);
  }
}

// Waits for the program and puts everything in place for it; its arguments.
std::vector<std::string> take_job() {
  Message job;
  do {
    if (!receive(state->job, job)) ::_exit(0);  // nobody needs this copy any more
  } while (job.request.type == RequestType{});  // a signal came
  const Request& request = job.request;
  const bool has_source = job.fds.size() == 4;
  const size_t count = size_t{request.argc} + request.envc + (has_source ? 1 : 0);
  const std::vector<char*> strings = split_strings(job.payload, count);
  if (!is_well_formed(request, job.payload, job.fds.size()) || strings.empty())
    report_failure_and_exit(state->status, "understand the program", EBADMSG);
  if (const int error = take_standard_streams(job.fds))
    report_failure_and_exit(state->status, "take stdin, stdout and stderr", error);
  if (has_source) {
    if (const int error = replace_file(strings.back(), job.fds[3].get()))
      report_failure_and_exit(state->status, "write the source file", error);
  }
  std::vector<std::string> arguments{strings.begin(), strings.begin() + request.argc};
  set_environment(strings.data() + request.argc, request.envc);
  ::close(state->job);
  report_begun(state->status);
  ::close(state->status);
  job.fds.clear();
  ::uv_disable_stdio_inheritance();  // as Node.js does when it starts
  return arguments;
}

napi_value to_array(const std::vector<std::string>& strings) {
  napi_value array = nullptr;
  ::napi_create_array_with_length(state->env, strings.size(), &array);
  for (size_t i = 0; i < strings.size(); ++i) {
    napi_value text = nullptr;
    ::napi_create_string_utf8(state->env, strings[i].data(), strings[i].size(), &text);
    ::napi_set_element(state->env, array, static_cast<uint32_t>(i), text);
  }
  return array;
}

}  // namespace

void hook_exits() {
  void* const isolate = state->node.isolate_current();
  void* const environment = state->node.environment_of(state->node.isolate_context(isolate));
  // process.exit(), and the end after an uncaught error.
  state->node.set_exit_handler(environment, [](void*, int code) { leave(code); });
  // The natural end, should leave_at_natural_end() miss it.
  ::napi_add_env_cleanup_hook(
      state->env, [](void*) { leave(state->exit_code.get()); }, nullptr);
}

napi_value call(napi_ref function, size_t count, const napi_value* arguments) {
  napi_value called = nullptr;
  napi_value global = nullptr;
  napi_value result = nullptr;
  ::napi_get_reference_value(state->env, function, &called);
  ::napi_get_global(state->env, &global);
  if (::napi_call_function(state->env, global, called, count, arguments, &result) != 0)
    ::_exit(126);
  return result;
}

void become_program() {
  report_ready(state->status);
  const std::vector<std::string> arguments = take_job();
  // From here on it may be looked at as every program may: by those of its own sandbox.
  ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
  *state->node.start_time = ::uv_hrtime();
  state->times.renew();
  if (!state->random.renew()) ::_exit(126);
  napi_value pid = nullptr;
  ::napi_create_double(state->env, ::getpid(), &pid);
  const napi_value parts[] = {pid, to_array(arguments)};
  call(state->prepare, 2, parts);
  napi_value run = nullptr;
  napi_value global = nullptr;
  ::napi_get_reference_value(state->env, state->run, &run);
  ::napi_get_global(state->env, &global);
  // As Node.js runs a main program: with nothing of JavaScript below it, so that an error in it is
  // an uncaught one, and with the ids that async_hooks show there.
  state->node.make_callback(state->node.isolate_current(), global, run, 0, nullptr, {1, 0});
  state->times.mark_loop_start();
}

}  // namespace belljar::zygote

using namespace belljar::zygote;

extern "C" __attribute__((visibility("default"))) int epoll_pwait(int poll, epoll_event* events,
                                                                  int count, int timeout,
                                                                  const sigset_t* mask) {
  static const auto real =
      reinterpret_cast<decltype(&epoll_pwait)>(::dlsym(RTLD_NEXT, "epoll_pwait"));
  leave_at_natural_end(poll);
  return real(poll, events, count, timeout, mask);
}
