#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"

namespace belljar::app {

// The directory in which the servers of one user leave their sockets, `PID.sock` each: for
// `belljar list` and its siblings. Only its user can enter it. Nothing in it is reached by a path:
// the directory is opened and checked once, so it does not matter who may write to its parent.
class ServerSockets {
 public:
  // Where it is for this process: `belljar-UID` in $XDG_RUNTIME_DIR or in /run/user/UID, whichever
  // is a directory of this user that nobody else can write to, else in /tmp.
  static std::string usual_path();

  // Opens it, and makes it if it is not there. Error{denied} if it is a link, another user's, or
  // open to others.
  static ServerSockets make(const std::string& path);

  // The same, but nothing if it is not there.
  static std::optional<ServerSockets> find(const std::string& path);

  // A listening socket of this name that only this user can connect to. It has its name only once
  // it listens, so that nobody takes it for one that is left over. Error if the name is taken.
  Fd listen(const std::string& name) const;

  struct Server {
    pid_t pid = 0;
    Fd socket;  // connected
  };

  // Every server that runs, by process number. What dead ones have left is removed.
  std::vector<Server> connect() const;

  int directory() const { return directory_.get(); }

  // Removes the name if it is still that of this file.
  void remove(const std::string& name, ino_t inode) const;
  ino_t inode_of(const std::string& name) const;  // 0: there is none

 private:
  explicit ServerSockets(Fd directory) : directory_{std::move(directory)} {}
  Fd connect_to(const std::string& name) const;

  Fd directory_;
};

// The socket of this process, whose name goes when the object goes.
class OwnSocket {
 public:
  explicit OwnSocket(ServerSockets sockets);
  ~OwnSocket();
  OwnSocket(const OwnSocket&) = delete;
  OwnSocket& operator=(const OwnSocket&) = delete;

  // For a process that is about to become somebody else and shall still be able to remove the name.
  void give_to(uid_t uid) const;
  int directory() const { return sockets_.directory(); }

  // The listening socket; to be called once.
  Fd take() { return std::move(listener_); }

 private:
  ServerSockets sockets_;
  std::string name_;
  Fd listener_;
  ino_t inode_ = 0;
};

}  // namespace belljar::app
