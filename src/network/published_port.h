#pragma once

#include <boost/asio/ip/address.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstdint>
#include <functional>
#include <string>

#include "base/fd.h"
#include "base/task_group.h"
#include "sandbox/attachment.h"

namespace belljar::network {

constexpr uint16_t kFirstPort = 1024;  // those below are privileged

// A port of the host that nobody else gets as long as this exists.
struct TakenPort {
  Fd listener;
  uint16_t number = 0;
};

// Listens on a port of one of the host's addresses; of all of them for 0.0.0.0, and of both kinds
// for ::. With port 0 on one that is free just now, and that no connection of a former owner still
// knows. Error{invalid} for a privileged port, Error{unavailable} for one that is taken, or if the
// host does not have the address.
TakenPort take_port(const asio::ip::address& address, uint16_t port);

// "http://127.0.0.1:8080/": how a client on this host reaches a port that was taken there.
std::string url_of(const asio::ip::address& address, uint16_t port);

// A port of the host whose connections lead to somewhere inside a sandbox. A connection that leads
// nowhere, or is one too many, is closed at once.
class PublishedPort final : public Attachment {
 public:
  using Connect = std::function<Task<Fd>()>;  // makes the way in; Error if nothing accepts

  // Accepts from now on. What `connect` refers to must live until stop() has ended.
  PublishedPort(const asio::any_io_executor& executor, TakenPort port, Connect connect);

  Task<> stop() override;

 private:
  Task<> accept();
  Task<> serve(Fd client);

  asio::posix::stream_descriptor listener_;
  Connect connect_;
  TaskGroup tasks_;
};

}  // namespace belljar::network
