#include "drivers/docker/agent_message.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/posix.h"

namespace belljar::docker {

using agent::Hello;
using agent::Reply;
using agent::ReplyType;
using agent::Step;

namespace {

constexpr int kMostErrno = 4095;

template <class Message>
std::optional<Message> copy_of(std::string_view bytes) {
  if (bytes.size() != sizeof(Message)) return std::nullopt;
  Message message;
  bytes.copy(reinterpret_cast<char*>(&message), sizeof message);
  return message;
}

bool is_directory_handle(int fd) {
  struct stat info {};
  const int flags = ::fcntl(fd, F_GETFL);
  return flags >= 0 && (flags & O_PATH) != 0 && ::fstat(fd, &info) == 0 && S_ISDIR(info.st_mode);
}

bool is_printable(char c) {
  return c > ' ' && c < 0x7f;
}

// An absolute path that may be shown to anybody, or nothing at all.
bool is_node_path(std::string_view path) {
  return path.empty() ||
         (path.front() == '/' && std::all_of(path.begin(), path.end(), is_printable));
}

bool is_end(const Reply& reply) {
  constexpr uint64_t kMost = 1ull << 60;  // sums of such numbers do not overflow
  const bool has_ended = WIFEXITED(reply.status) || WIFSIGNALED(reply.status);
  return reply.serial == 0 && reply.error == 0 && reply.step == Step::none &&
         (reply.status & ~0xffff) == 0 && has_ended && reply.out_of_memory <= 1 &&
         reply.cpu_micros <= kMost && reply.max_rss <= kMost;
}

bool is_failure(const Reply& reply) {
  return reply.serial != 0 && reply.error > 0 && reply.error <= kMostErrno &&
         reply.step > Step::none && reply.step <= agent::kLastStep;
}

int option_of(int socket, int name) {
  int value = -1;
  socklen_t size = sizeof value;
  return ::getsockopt(socket, SOL_SOCKET, name, &value, &size) == 0 ? value : -1;
}

bool is_connected(int socket) {
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  return ::getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &size) == 0;
}

}  // namespace

std::optional<AgentHello> parse_hello(std::string_view bytes, std::span<Fd> fds, Way way) {
  const auto message = copy_of<Hello>(bytes);
  if (!message || message->version != agent::kVersion) return std::nullopt;
  const size_t length = ::strnlen(message->node, sizeof message->node);
  const std::string_view node{message->node, length};
  if (length == sizeof message->node || !is_node_path(node)) return std::nullopt;
  const bool has_workspace = fds.size() == 1 && is_directory_handle(fds[0].get());
  const bool lacks_it = fds.empty() && way == Way::carried;
  if (message->is_musl > 1 || (!has_workspace && !lacks_it)) return std::nullopt;
  AgentHello hello;
  hello.way = way;
  if (has_workspace) hello.workspace = std::move(fds[0]);
  hello.node = node;
  hello.c_library = message->is_musl == 1 ? CLibrary::musl : CLibrary::glibc;
  hello.files_device = message->files_device;
  hello.files_inode = message->files_inode;
  return hello;
}

std::optional<Reply> parse_reply(std::string_view bytes, size_t fds) {
  const auto reply = copy_of<Reply>(bytes);
  if (!reply) return std::nullopt;
  switch (reply->type) {
    case ReplyType::done: return reply->serial != 0 && fds <= 1 ? reply : std::nullopt;
    case ReplyType::failed: return fds == 0 && is_failure(*reply) ? reply : std::nullopt;
    case ReplyType::ended: return fds == 0 && is_end(*reply) ? reply : std::nullopt;
  }
  return std::nullopt;
}

bool is_tcp_socket(int fd, bool listening) {
  const int family = option_of(fd, SO_DOMAIN);
  return (family == AF_INET || family == AF_INET6) && option_of(fd, SO_TYPE) == SOCK_STREAM &&
         option_of(fd, SO_PROTOCOL) == IPPROTO_TCP &&
         (listening ? option_of(fd, SO_ACCEPTCONN) == 1 : is_connected(fd));
}

bool is_carried_socket(int fd, bool listening) {
  return option_of(fd, SO_DOMAIN) == AF_UNIX && option_of(fd, SO_TYPE) == SOCK_STREAM &&
         option_of(fd, SO_ACCEPTCONN) == (listening ? 1 : 0);
}

namespace {

void add_string(std::string& strings, const std::string& text) {
  if (text.find('\0') != std::string::npos)
    fail(Code::invalid, "a command or variable contains a NUL byte");
  strings.append(text.c_str(), text.size() + 1);
}

}  // namespace

Fd pack_command(const Command& command) {
  if (command.argv.empty()) fail(Code::invalid, "there is no command to start");
  std::string strings;
  for (const std::string& argument : command.argv) add_string(strings, argument);
  for (const auto& [name, value] : command.env) add_string(strings, name + "=" + value);
  if (command.source) add_string(strings, command.source->path);
  const size_t count = command.argv.size() + command.env.size();
  if (strings.size() > agent::kMaxStringBytes || count >= agent::kMaxStrings)
    fail(Code::invalid,
         "the command and its environment are {} strings of {} bytes; the limits are {} and {}",
         count, strings.size(), agent::kMaxStrings, agent::kMaxStringBytes);
  const std::string_view source = command.source ? command.source->content : std::string_view{};
  if (source.size() > agent::kMaxSource)
    fail(Code::invalid, "the program has {} bytes; the limit is {}: put data into files",
         source.size(), agent::kMaxSource);
  agent::Package package{};
  package.argc = static_cast<uint32_t>(command.argv.size());
  package.envc = static_cast<uint32_t>(command.env.size());
  package.string_bytes = static_cast<uint32_t>(strings.size());
  package.has_source = command.source ? 1 : 0;
  package.source_bytes = source.size();
  std::string file(reinterpret_cast<const char*>(&package), sizeof package);
  file.reserve(file.size() + strings.size() + source.size());
  return make_memory_file("command", file.append(strings).append(source));
}

namespace {

const char* words_for(Step step) {
  switch (step) {
    case Step::none: break;
    case Step::read_command: return "read the command";
    case Step::make_process: return "make a process";
    case Step::arrange_descriptors: return "arrange descriptors";
    case Step::start_session: return "start a session";
    case Step::limit_core: return "forbid core files";
    case Step::enter_workspace: return "go to /workspace";
    case Step::write_source: return "write the source file";
    case Step::find_node: return "find Node.js";
    case Step::execute: return "execute";
    case Step::make_socket: return "make a socket";
    case Step::connect: return "connect";
    case Step::link_packages: return "link /workspace/node_modules";
    case Step::use_place: return "use /workspace/node_modules";
  }
  return "do it";
}

}  // namespace

void fail_as(const Reply& reply, const std::string& what) {
  if (reply.step == Step::find_node)
    fail(Code::not_found,
         "{}: the image has no Node.js (looked for {} and in the PATH of the image); use an image "
         "with Node.js, or start programs that it has",
         what, agent::kNode);
  if (reply.step == Step::use_place)
    fail(Code::invalid,
         "packages cannot be put at /workspace/node_modules: a program of this sandbox has made "
         "something of that name; remove or rename it, or use a new sandbox");
  if (reply.step == Step::connect)
    fail(Code::unavailable, "nothing accepts connections on {}", what);
  if (reply.step == Step::make_process && reply.error == EAGAIN)
    fail(Code::exhausted,
         "{}: the sandbox has as many processes as it may; stop some, or use another sandbox",
         what);
  fail_errno(reply.error, what + ": " + words_for(reply.step));
}

}  // namespace belljar::docker
