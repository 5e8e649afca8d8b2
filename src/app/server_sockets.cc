#include "app/server_sockets.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <memory>

#include "app/own_rights.h"
#include "base/error.h"
#include "base/posix.h"

namespace belljar::app {

namespace {

constexpr size_t kMaxServers = 256;  // of one user; more are not looked at
constexpr std::string_view kEnding = ".sock";

// The servers that root starts give up being root, and their sockets with it.
bool is_ours(uid_t owner) {
  return owner == ::geteuid() || (::geteuid() == 0 && owner == kOwnId);
}

bool belongs_to_us_alone(const struct stat& status, mode_t forbidden) {
  return S_ISDIR(status.st_mode) && is_ours(status.st_uid) && (status.st_mode & forbidden) == 0;
}

bool may_hold_sockets(const std::string& path) {
  struct stat status {};
  return path.starts_with('/') && ::stat(path.c_str(), &status) == 0 &&
         belongs_to_us_alone(status, S_IWGRP | S_IWOTH);
}

// `name` in the directory, however long the path to the directory is.
sockaddr_un address_of(int directory, const std::string& name) {
  const std::string path = fmt::format("/proc/self/fd/{}/{}", directory, name);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) fail(Code::internal, "{} is too long", path);
  std::ranges::copy(path, address.sun_path);
  return address;
}

Fd make_socket() {
  constexpr int kType = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;
  return Fd{sys(::socket(AF_UNIX, kType, 0), "make a socket")};
}

// The number in "123.sock"; 0 if it is no such name.
pid_t pid_of(std::string_view name) {
  if (!name.ends_with(kEnding)) return 0;
  name.remove_suffix(kEnding.size());
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(name.begin(), name.end(), pid);
  return error == std::errc{} && end == name.end() && pid > 0 ? pid : 0;
}

std::vector<pid_t> pids_in(int directory) {
  Fd readable{sys(::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), "open sockets")};
  const std::unique_ptr<DIR, int (*)(DIR*)> entries{::fdopendir(readable.get()), ::closedir};
  if (!entries) fail_errno(errno, "read the directory of sockets");
  readable.release();
  std::vector<pid_t> pids;
  while (const dirent* entry = ::readdir(entries.get())) {  // NOLINT(concurrency-mt-unsafe)
    const pid_t pid = pid_of(entry->d_name);
    if (pid > 0 && pids.size() < kMaxServers) pids.push_back(pid);
  }
  std::ranges::sort(pids);
  return pids;
}

std::string name_for(pid_t pid) {
  return fmt::format("{}{}", pid, kEnding);
}

}  // namespace

std::string ServerSockets::usual_path() {
  const uid_t uid = ::geteuid();
  for (const std::string& parent :
       {environment("XDG_RUNTIME_DIR"), fmt::format("/run/user/{}", uid)}) {
    if (may_hold_sockets(parent)) return fmt::format("{}/belljar-{}", parent, uid);
  }
  return fmt::format("/tmp/belljar-{}", uid);
}

std::optional<ServerSockets> ServerSockets::find(const std::string& path) {
  constexpr int kFlags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  Fd directory{::open(path.c_str(), kFlags)};
  if (!directory && errno == ENOENT) return std::nullopt;
  if (!directory && (errno == ENOTDIR || errno == ELOOP)) {
    fail(Code::denied, "{} is not a directory; remove it", path);
  }
  sys(directory.get(), "open {}", path);
  struct stat status {};
  sys(::fstat(directory.get(), &status), "examine {}", path);
  if (!belongs_to_us_alone(status, S_IRWXG | S_IRWXO)) {
    fail(Code::denied, "{} is not a directory of this user alone; remove it", path);
  }
  return ServerSockets{std::move(directory)};
}

ServerSockets ServerSockets::make(const std::string& path) {
  if (::mkdir(path.c_str(), S_IRWXU) != 0 && errno != EEXIST) fail_errno(errno, "create " + path);
  auto found = find(path);
  if (!found) fail(Code::unavailable, "{} has vanished", path);
  return std::move(*found);
}

Fd ServerSockets::listen(const std::string& name) const {
  const int directory = directory_.get();
  const std::string unfinished = name + ".new";
  ::unlinkat(directory, unfinished.c_str(), 0);
  Fd socket = make_socket();
  sys(::fchmod(socket.get(), S_IRUSR | S_IWUSR), "set the mode of a socket");  // of its file, too
  const sockaddr_un address = address_of(directory, unfinished);
  sys(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), "bind {}",
      name);
  const bool ready =
      ::listen(socket.get(), SOMAXCONN) == 0 &&
      ::renameat2(directory, unfinished.c_str(), directory, name.c_str(), RENAME_NOREPLACE) == 0;
  if (ready) return socket;
  const int error = errno;
  ::unlinkat(directory, unfinished.c_str(), 0);
  fail_errno(error, "listen on " + name);
}

std::vector<ServerSockets::Server> ServerSockets::connect() const {
  std::vector<Server> servers;
  for (const pid_t pid : pids_in(directory_.get())) {
    Fd socket = connect_to(name_for(pid));
    if (socket) servers.push_back(Server{pid, std::move(socket)});
  }
  return servers;
}

Fd ServerSockets::connect_to(const std::string& name) const {
  Fd socket = make_socket();
  const sockaddr_un address = address_of(directory_.get(), name);
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  if (::connect(socket.get(), generic, sizeof address) == 0) return socket;
  if (errno == ECONNREFUSED) ::unlinkat(directory_.get(), name.c_str(), 0);  // nobody listens
  return Fd{};
}

ino_t ServerSockets::inode_of(const std::string& name) const {
  struct stat status {};
  if (::fstatat(directory_.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return 0;
  return status.st_ino;
}

void ServerSockets::remove(const std::string& name, ino_t inode) const {
  if (inode_of(name) == inode) ::unlinkat(directory_.get(), name.c_str(), 0);
}

OwnSocket::OwnSocket(ServerSockets sockets)
    : sockets_{std::move(sockets)}, name_{name_for(::getpid())} {
  sockets_.connect();  // which removes what is left over
  listener_ = sockets_.listen(name_);
  inode_ = sockets_.inode_of(name_);
}

void OwnSocket::give_to(uid_t uid) const {
  sys(::fchownat(directory(), "", uid, uid, AT_EMPTY_PATH), "give the directory of sockets away");
}

OwnSocket::~OwnSocket() {
  sockets_.remove(name_, inode_);
}

}  // namespace belljar::app
