#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

// What this library uses of Node.js, declared here instead of taken from its headers, so that one
// library serves every version: Node-API, which is a stable ABI, and a handful of C++ symbols that
// the binary exports. Those are looked up by name; where one is missing there is no zygote.
extern "C" {
struct NapiEnv;
struct NapiValue;
struct NapiCallbackInfo;
struct NapiRef;
struct NapiHandleScope;
struct uv_loop_s;
struct uv_timer_s;
using napi_env = NapiEnv*;
using napi_value = NapiValue*;
using napi_callback_info = NapiCallbackInfo*;
using napi_ref = NapiRef*;
using napi_handle_scope = NapiHandleScope*;
using napi_callback = napi_value (*)(napi_env, napi_callback_info);

int napi_get_cb_info(napi_env, napi_callback_info, size_t* count, napi_value* arguments,
                     napi_value* self, void** data);
int napi_create_function(napi_env, const char* name, size_t length, napi_callback, void* data,
                         napi_value*);
int napi_set_named_property(napi_env, napi_value object, const char* name, napi_value);
int napi_create_array_with_length(napi_env, size_t, napi_value*);
int napi_set_element(napi_env, napi_value array, uint32_t, napi_value);
int napi_create_string_utf8(napi_env, const char*, size_t, napi_value*);
int napi_create_double(napi_env, double, napi_value*);
int napi_get_boolean(napi_env, bool, napi_value*);
int napi_get_value_int32(napi_env, napi_value, int32_t*);
int napi_get_value_double(napi_env, napi_value, double*);
int napi_create_reference(napi_env, napi_value, uint32_t count, napi_ref*);
int napi_get_reference_value(napi_env, napi_ref, napi_value*);
int napi_get_undefined(napi_env, napi_value*);
int napi_get_global(napi_env, napi_value*);
int napi_call_function(napi_env, napi_value self, napi_value function, size_t count,
                       const napi_value* arguments, napi_value* result);
int napi_open_handle_scope(napi_env, napi_handle_scope*);
int napi_close_handle_scope(napi_env, napi_handle_scope);
int napi_get_uv_event_loop(napi_env, uv_loop_s**);
int napi_add_env_cleanup_hook(napi_env, void (*)(void*), void*);

int uv_loop_fork(uv_loop_s*);
int uv_backend_fd(const uv_loop_s*);
size_t uv_handle_size(int type);
int uv_timer_init(uv_loop_s*, uv_timer_s*);
int uv_timer_start(uv_timer_s*, void (*)(uv_timer_s*), uint64_t timeout, uint64_t repeat);
void uv_close(uv_timer_s*, void (*)(uv_timer_s*));
uint64_t uv_hrtime();
uint64_t uv_metrics_idle_time(uv_loop_s*);
void uv_disable_stdio_inheritance();
}

namespace belljar::zygote {

// The beginning of the virtual table of v8::Task.
class Task {
 public:
  virtual ~Task() = default;
  virtual void Run() = 0;
};

// How node::MakeCallback takes the ids of async_hooks.
struct AsyncContext {
  double id;
  double trigger;
};

// Exported C++ functions. A v8::Local is a pointer, and a napi_value is the same pointer.
struct NodeSymbols {
  void* (*isolate_current)();
  void* (*isolate_context)(void* isolate);
  void (*collect_garbage)(void* isolate, int type);  // with --expose-gc; 1: what is young
  void* (*environment_of)(void* context);
  void (*set_exit_handler)(void* environment, std::function<void(void*, int)>&& handler);
  void* (*make_callback)(void* isolate, napi_value self, napi_value function, int count,
                         napi_value* arguments, AsyncContext);
  bool (*flush_foreground_tasks)(void* platform, void* isolate);
  void* platform_table;  // the virtual table of node::NodePlatform
  void* drain_tasks;
  void* post_task;
  void* post_delayed_task;
  uint64_t* start_time;  // of process.uptime()
};

// False if this Node.js lacks one.
bool find_symbols(NodeSymbols& symbols);

}  // namespace belljar::zygote
