#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/task.h"

namespace belljar {

// Which request of a client the work of this moment is for. Log lines name it.
struct RequestContext {
  std::string id;           // 128 random bits in hexadecimal
  std::string traceparent;  // of W3C Trace Context, as the client sent it; "" without
};

// nullptr: the work is for nobody's request.
const std::shared_ptr<const RequestContext>& current_request();

// Makes it the current one of this thread as long as the object lives.
class RequestScope {
 public:
  explicit RequestScope(std::shared_ptr<const RequestContext> request);
  ~RequestScope();
  RequestScope(const RequestScope&) = delete;
  RequestScope& operator=(const RequestScope&) = delete;

 private:
  std::shared_ptr<const RequestContext> previous_;
};

// Does a task with `request` as the current one, however often it waits. What runs on other threads
// meanwhile, and what is spawned into a TaskGroup, is not part of it.
Task<> in_request(std::shared_ptr<const RequestContext> request, Task<> task);

// True for what W3C Trace Context calls valid: "00-<32 hex>-<16 hex>-<2 hex>", neither id all zero,
// or a later version that begins like that.
bool is_traceparent(std::string_view text);

}  // namespace belljar
