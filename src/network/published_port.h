#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstdint>
#include <functional>

#include "base/fd.h"
#include "base/task_group.h"
#include "sandbox/attachment.h"

namespace belljar::network {

// A port of the host, on 127.0.0.1, whose connections lead to somewhere inside a sandbox. A
// connection that leads nowhere is closed at once.
class PublishedPort final : public Attachment {
 public:
  using Connect = std::function<Task<Fd>()>;  // makes the way in; Error if nothing accepts

  // Listens from now on. Error{invalid} for a privileged port, Error{unavailable} for one that is
  // taken. What `connect` refers to must live until stop() has ended.
  PublishedPort(const asio::any_io_executor& executor, uint16_t port, Connect connect);

  Task<> stop() override;

 private:
  Task<> accept();
  Task<> serve(Fd client);

  asio::posix::stream_descriptor listener_;
  Connect connect_;
  TaskGroup tasks_;
};

}  // namespace belljar::network
