#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "drivers/docker/agent/protocol.h"
#include "sandbox/command.h"
#include "sandbox/driver.h"
#include "sandbox/running_program.h"

// What passes between belljar and an agent, made and examined without any state. All that comes
// from an agent is hostile input.
namespace belljar::docker {

// How an agent is spoken to: by a socket that it shares with belljar, or through a stream of bytes
// (agent/frame.h), where belljar's own end makes the descriptors that come.
enum class Way { shared, carried };

// What an agent says first.
struct AgentHello {
  Way way = Way::shared;
  Fd workspace;      // a directory, O_PATH; empty if it is carried and belljar may not open it
  std::string node;  // its path in the image; "": the image has none
  CLibrary c_library = CLibrary::glibc;
  uint64_t files_device = 0;
  uint64_t files_inode = 0;
  int pid = 0;  // of the agent, as this host numbers it
};

// One of these from the bytes of a packet, of which nothing was cut off, and what came along.
// Nothing if it is not exactly what an agent may say. A hello's pid is left to the caller.
std::optional<AgentHello> parse_hello(std::string_view bytes, std::span<Fd> fds,
                                      Way way = Way::shared);
std::optional<agent::Reply> parse_reply(std::string_view bytes, size_t fds);

// True if it is a TCP socket which is what was asked for: listening, or connected.
bool is_tcp_socket(int fd, bool listening);

// The same of those that belljar's own end of a stream makes.
bool is_carried_socket(int fd, bool listening);

// The command's argv, env and source as an agent reads them: a sealed file in memory.
// Error{invalid} if they are more than it reads.
Fd pack_command(const Command& command);

// Throws the Error that a failed answer means. `what` begins its message.
[[noreturn]] void fail_as(const agent::Reply& reply, const std::string& what);

}  // namespace belljar::docker
