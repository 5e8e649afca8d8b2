// belljar-agent: the first process of every container that belljar makes. Not for use by hand.
//
//   belljar-agent [--carried] [HOST_DIRECTORY [WORKSPACE]]
//
// Carried: it speaks to belljar through its stdin and stdout (frame.h).
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <string_view>

#include "drivers/docker/agent/agent.h"
#include "drivers/docker/agent/c_library.h"
#include "drivers/docker/agent/filter.h"
#include "drivers/docker/agent/packet.h"
#include "drivers/docker/agent/posture.h"
#include "drivers/docker/agent/sockets.h"

namespace belljar::agent {
namespace {

// The container ends with it.
[[noreturn]] void end_without_memory() {
  ::_exit(kNotSetUp);
}

// Its stdin and stdout, before they are closed.
struct Stream {
  Fd input;
  Fd output;
};

Fd keep(int fd) {
  Fd kept{::fcntl(fd, F_DUPFD_CLOEXEC, 3)};
  if (kept) ::fcntl(kept.get(), F_SETFL, ::fcntl(kept.get(), F_GETFL) | O_NONBLOCK);
  return kept;
}

// Whatever this process was started with is nothing that programs should inherit.
bool close_inherited(Stream* kept) {
  if (::close_range(3, kLastFd, 0) != 0) return false;
  if (kept != nullptr) *kept = {keep(0), keep(1)};
  if (::close_range(0, 2, 0) != 0) return false;
  for (int expected = 0; expected <= 2; ++expected) {
    if (::open("/dev/null", O_RDWR | O_CLOEXEC) != expected) return false;
  }
  return true;
}

// All signals wait: those that end a process do not reach it,
// and SIGCHLD is read from the descriptor.
Fd block_signals() {
  sigset_t all;
  sigset_t children;
  sigfillset(&all);
  sigemptyset(&children);
  sigaddset(&children, SIGCHLD);
  if (::sigprocmask(SIG_SETMASK, &all, nullptr) != 0) return Fd{};
  ::signal(SIGCHLD, SIG_DFL);  // if it was ignored, nobody's end could be seen
  return Fd{::signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK)};
}

bool is_program(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

// By the image's PATH, before any program has had the chance to change anything.
std::string find_node() {
  const char* value = ::getenv("PATH");
  std::string_view rest = value != nullptr ? value : "/usr/local/bin:/usr/bin:/bin";
  while (!rest.empty()) {
    const size_t end = rest.find(':');
    const std::string path = std::string{rest.substr(0, end)} + "/node";
    if (path.front() == '/' && path.size() < sizeof Hello::node && is_program(path)) return path;
    rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
  }
  return {};
}

// What programs find there in every sandbox: as far as it is not the host's directory.
bool furnish(int workspace) {
  constexpr std::string_view kPackage = "{\"type\":\"module\"}\n";
  ::mkdirat(workspace, "files", 0755);
  const Fd file{::openat(workspace, "package.json", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644)};
  if (!file) return errno == EEXIST;
  return ::write(file.get(), kPackage.data(), kPackage.size()) == ssize_t{kPackage.size()};
}

bool say_hello(int socket, int workspace, const std::string& node) {
  Hello hello{};
  hello.version = kVersion;
  std::strncpy(hello.node, node.c_str(), sizeof hello.node - 1);
  hello.is_musl = is_for_musl(node.c_str()) ? 1 : 0;
  struct stat files {};
  if (::fstatat(workspace, "files", &files, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(files.st_mode)) {
    hello.files_device = files.st_dev;
    hello.files_inode = files.st_ino;
  }
  const int fds[] = {workspace};
  return send_packet(socket, &hello, sizeof hello, fds) == 0;
}

Agent::Connection connect_by(Stream stream) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) return {};
  Carrier::Ends carried{std::move(stream.input), std::move(stream.output), Fd{ends[1]}};
  return {Fd{ends[0]}, std::make_unique<Carrier>(Carrier::in_container(std::move(carried)))};
}

int run(const std::string& host_directory, const char* workspace_path, bool is_carried) {
  Stream stream;
  if (!close_inherited(is_carried ? &stream : nullptr)) return kNotSetUp;
  OomScore score;
  // Programs will have this process's user id: nothing of theirs may look into it.
  if (::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return kNotSetUp;
  Fd signals = block_signals();
  Fd workspace{::open(workspace_path, O_PATH | O_DIRECTORY | O_CLOEXEC)};
  if (!signals || !workspace || !furnish(workspace.get())) return kNotSetUp;
  Agent::Connection connection;
  if (is_carried) {
    connection = connect_by(std::move(stream));
  } else {
    connection.socket = connect_to((host_directory + "/" + kSocketName).c_str());
  }
  const std::string node = find_node();
  if (!connection.socket || !say_hello(connection.socket.get(), workspace.get(), node))
    return kNotConnected;
  Agent agent{std::move(connection), std::move(workspace), std::move(signals),
              std::move(score),      host_directory,       node};
  agent.run();
  return kEnded;
}

}  // namespace
}  // namespace belljar::agent

int main(int argc, char** argv) {
  using namespace belljar::agent;
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  // As the first process is anyway: what loses its parents becomes this one's.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  std::set_new_handler(end_without_memory);
  const bool is_carried = argc > 1 && std::strcmp(argv[1], kCarried) == 0;
  if (is_carried) --argc, ++argv;
  // A kernel of the container's own may have been told of no filter. The host's always is.
  if (is_carried && !is_filtered() && refuse_calls() != 0) ::_exit(kNotSetUp);
  // Tests say where it is to look, and run it in no container.
  if (argc == 1 && !is_confined()) ::_exit(kNotSetUp);
  // At once: the container ends with it.
  ::_exit(run(argc > 1 ? argv[1] : kHostDirectory, argc > 2 ? argv[2] : kWorkspace, is_carried));
}
