#pragma once

#include <cstddef>
#include <cstdint>

// What belljar and the agent of a container say to each other: fixed structures over a
// SOCK_SEQPACKET connection, one message per packet, descriptors as SCM_RIGHTS. Into a container
// with a kernel of its own they are carried (frame.h). The agent runs
// among hostile programs under their own user id, so belljar treats all it says as hostile. There
// is no text in what it says but the path of node.
namespace belljar::agent {

constexpr uint32_t kVersion = 1;

// Where the agent finds things in its container, unless its arguments say otherwise.
constexpr const char* kHostDirectory = "/.belljar/host";
constexpr const char* kWorkspace = "/workspace";
constexpr const char* kSocketName = "agent.sock";  // in the host directory
// Of packages with a number, in the host directory: packages/<number>/node_modules.
constexpr const char* kPackages = "packages";
constexpr const char* kNodeModules = "node_modules";

constexpr const char* kCarried = "--carried";  // its argument where frame.h is spoken

// What commands of belljar's call Node.js. Where an image has it elsewhere, that is what is meant.
constexpr const char* kNode = "/usr/local/bin/node";

constexpr size_t kMaxStringBytes = 128 << 10;  // argv, environment, the source's path
constexpr uint32_t kMaxStrings = 4096;
constexpr uint64_t kMaxSource = 64 << 20;
constexpr size_t kMaxFds = 4;

// How the agent ends, if it does: the container ends with it.
enum ExitStatus : int {
  kEnded = 0,         // its connection has ended
  kNotConnected = 3,  // there is nobody to speak to: it is started by belljar only
  kNotSetUp = 4,      // its container is not as belljar makes them
};

// The first message, from the agent. fds: the workspace, O_PATH.
struct Hello {
  uint32_t version;
  uint32_t is_musl;       // 1 if that is the C library of its node
  uint64_t files_device;  // of <workspace>/files; both 0 if there is no such directory
  uint64_t files_inode;
  char node[256];  // where the image has node, by its PATH; ends with NUL; "" if it has none
};

enum class RequestType : uint32_t {
  start = 1,  // a program. fds: stdin, stdout, stderr, its Package
  kill,       // it and everything it started. There is no answer
  connect,    // to port `number` of the loopback addresses, IPv4 or IPv6. The answer has one fd
  listen,     // at the loopback address, IPv4, and a free port. The answer has one fd
  link,       // <workspace>/node_modules leads to the packages of `number`
};

struct Request {
  RequestType type;
  uint32_t serial;  // echoed in the answer
  uint64_t program;
  uint32_t number;  // connect, link
  uint32_t reserved;
};

// How the file begins that describes a program; it is sealed, so that nobody changes it while it is
// read. Then follow argc + envc strings, and the source's path if `has_source`, each with its NUL,
// `string_bytes` together; then the source's text to the end.
struct Package {
  uint32_t argc;
  uint32_t envc;
  uint32_t string_bytes;
  uint32_t has_source;
  uint64_t source_bytes;
};

enum class ReplyType : uint32_t {
  done = 1,  // the request with this serial succeeded
  failed,    // it did not: `step` and `error` say where and why
  ended,     // a program has (no serial)
};

enum class Step : uint32_t {
  none,
  read_command,
  make_process,
  arrange_descriptors,
  start_session,
  limit_core,
  enter_workspace,
  write_source,
  find_node,
  execute,
  make_socket,
  connect,
  link_packages,
  use_place,  // of the link, where something is that is not ours
};
constexpr Step kLastStep = Step::use_place;

struct Reply {
  ReplyType type;
  uint32_t serial;
  uint64_t program;
  Step step;
  int32_t error;           // errno
  int32_t status;          // as from wait(2)
  uint32_t out_of_memory;  // 1: the kernel's OOM killer struck in the container while it ran
  uint64_t cpu_micros;
  uint64_t max_rss;  // bytes
};

}  // namespace belljar::agent
