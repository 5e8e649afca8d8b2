#pragma once

#include "base/fd.h"
#include "base/task_group.h"
#include "mcp/server.h"
#include "mcp/stdio_transport.h"

namespace belljar::mcp {

struct SocketOptions {
  size_t max_clients = 16;  // connected at once; more are turned away
  StdioOptions lines;       // of each connection; its descriptors are not used
  uid_t trusted_peer = 0;   // served besides our own user
};

// Serves everybody of this user who connects to a UNIX socket, each as StdioTransport serves one
// client: one message per line, as the same owner. A peer of another user (but the trusted one) is
// hung up on before a byte of it is read, whatever the permissions of the socket's file say.
class SocketTransport {
 public:
  // `listener` is bound and listening. `server` must outlive this.
  SocketTransport(const asio::any_io_executor& executor, Server& server, Fd listener,
                  SocketOptions options = {});

  // Accepts clients until it is cancelled; then ends their connections, and its own task when they
  // have ended. To be called once.
  Task<> run();

  size_t clients() const { return clients_.size(); }

 private:
  Task<> accept_all();
  void take(Fd client);
  Task<> serve(Fd client);

  Server& server_;
  SocketOptions options_;
  asio::posix::stream_descriptor listener_;
  TaskGroup clients_;
};

// True if the process at the other end of this UNIX socket belongs to our user or to that one.
bool is_trusted_peer(int socket, uid_t trusted);

}  // namespace belljar::mcp
