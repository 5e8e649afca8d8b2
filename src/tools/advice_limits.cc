#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>

#include "base/bytes.h"
#include "network/budget.h"
#include "tools/advice_rules.h"

namespace belljar::tools::advice {

namespace {

using Kind = Outcome::Kind;

constexpr uint64_t kMebibyte = 1u << 20;
constexpr uint64_t kGibibyte = 1u << 30;

std::string as_argument(uint64_t bytes) {
  return bytes % kGibibyte == 0 ? fmt::format("\"{}g\"", bytes / kGibibyte)
                                : fmt::format("\"{}m\"", bytes / kMebibyte);
}

// "ask for more with …", if there is more to be had; else what to do without. `value` is the
// argument as JSON.
std::string ask_for_more(const Clues& clues, std::string_view name, const std::string& value,
                         bool possible, std::string_view otherwise) {
  if (!possible) return fmt::format("That is the most this server allows: {}.", otherwise);
  return fmt::format("Ask for more with \"limits\": {{\"{}\": {}}}{}, or {}.", name, value,
                     clues.run.session ? " in a new sandbox (sandbox_initialize)" : "", otherwise);
}

std::string more_memory(const Clues& clues) {
  const uint64_t now = clues.run.report.limits.memory;
  const uint64_t most = clues.run.max_limits.memory;
  return ask_for_more(clues, "memory", as_argument(std::min(most, 2 * now)), most > now,
                      "handle the data in parts instead of all at once");
}

// The last line that the program printed, on stdout if there is one.
std::string last_line(const Clues& clues) {
  const RunResult& result = clues.run.report.result;
  std::string_view text = result.out.text.empty() ? result.err.text : result.out.text;
  const size_t end = text.find_last_not_of(" \r\n");
  if (end == std::string_view::npos) return "";
  text = text.substr(0, end + 1);
  return shown(text.substr(text.rfind('\n') + 1));
}

// A line such as "/bin/sh: 1: foo: not found" or "bash: foo: command not found" → "foo".
std::string command_not_found(std::string_view text) {
  const size_t at = std::min(text.find(": not found"), text.find(": command not found"));
  if (at == std::string_view::npos) return "";
  const std::string_view before = text.substr(0, at);
  const std::string_view line = before.substr(before.rfind('\n') + 1);
  return line.find("sh: ") == std::string_view::npos ? ""
                                                     : shown(line.substr(line.rfind(": ") + 2), 40);
}

bool is_loopback(const ErrorReport& error) {
  if (error.has("127.0.0.1") || error.has("localhost")) return true;
  // Many an address ends like the loopback's, and more have it within them.
  return error.has(" ::1:") || error.has("'::1'") || error.has("[::1]");
}

bool may_write(std::string_view path) {
  if (!path.starts_with('/')) return true;
  for (const std::string_view place : {"/workspace", "/tmp", "/home/node"})
    if (path.starts_with(place)) return true;
  return false;
}

}  // namespace

std::string out_of_memory(const Clues& clues) {
  return clues.outcome().kind == Kind::out_of_memory ? more_memory(clues) : "";
}

std::string heap_exhausted(const Clues& clues) {
  const bool worker = clues.error.code == "ERR_WORKER_OUT_OF_MEMORY";
  const bool aborted = clues.outcome().kind == Kind::signaled && clues.outcome().code == SIGABRT;
  const bool heap =
      aborted && clues.err().find("JavaScript heap out of memory") != std::string_view::npos;
  const bool buffer = clues.error.message == "Array buffer allocation failed";
  if (!worker && !heap && !buffer) return "";
  return fmt::format("The JavaScript heap is full; the sandbox has {} of memory. {}",
                     format_bytes(clues.run.report.limits.memory), more_memory(clues));
}

std::string timed_out(const Clues& clues) {
  if (clues.outcome().kind != Kind::timed_out) return "";
  if (!clues.run.published && clues.run.code.find(".listen(") != std::string_view::npos)
    return fmt::format(
        "The program is a server, which does not end: {} run_js with "
        "\"listenOnPort\", which leaves it running.",
        clues.run.session ? "use" : "use sandbox_initialize and");
  const std::string last = last_line(clues);
  std::string text =
      last.empty() ? "It printed nothing." : fmt::format("The last line it printed: {:?}.", last);
  text +=
      " Look for a loop that does not end, a timer or connection that stays open, or input that "
      "it waits for";
  const milliseconds most = clues.run.max_timeout;
  if (clues.run.report.timeout < most)
    text += fmt::format("; if it needs more time, set \"timeoutMs\" (at most {})", most.count());
  return text + ".";
}

std::string disk_full(const Clues& clues) {
  if (clues.error.code != "ENOSPC" && !clues.error.has("No space left on device")) return "";
  const uint64_t now = clues.run.report.limits.disk;
  const uint64_t most = clues.run.max_limits.disk;
  const char* elsewhere =
      clues.run.host_files ? " (for ./files the host's own disk is the limit)" : "";
  return fmt::format("The disk is full: the sandbox may write {}{}. {}", format_bytes(now),
                     elsewhere,
                     ask_for_more(clues, "disk", as_argument(std::min(most, 2 * now)), most > now,
                                  "write less and delete what is no longer needed"));
}

std::string too_many_processes(const Clues& clues) {
  const ErrorReport& error = clues.error;
  const bool spawn = error.code == "EAGAIN" && error.has("spawn");
  const bool thread = error.code == "ERR_WORKER_INIT_FAILED" || error.has("uv_thread_create");
  const bool fork = error.has("Cannot fork") || error.has("fork: Resource temporarily unavailable");
  if (!spawn && !thread && !fork) return "";
  const uint32_t now = clues.run.report.limits.pids;
  const uint32_t most = clues.run.max_limits.pids;
  return fmt::format("Too many processes and threads: the sandbox may have {}. {}", now,
                     ask_for_more(clues, "pids", std::to_string(std::min(most, 2 * now)),
                                  most > now, "start fewer at a time"));
}

std::string nothing_listens(const Clues& clues) {
  if (!clues.error.has("connect ECONNREFUSED") || !is_loopback(clues.error)) return "";
  return "Nothing listens on that port inside the sandbox. There are no databases or other "
         "services: "
         "start the server in the same program, or earlier in the same session with "
         "\"listenOnPort\".";
}

namespace {

// By what the program says of its failure.
bool wanted_network(const ErrorReport& error) {
  if (error.has("fetch failed") || error.has("getaddrinfo ")) return true;
  for (const char* code : {"EAI_AGAIN", "ENOTFOUND", "ENETUNREACH", "EHOSTUNREACH"}) {
    if (error.code == code || error.has(std::string{"connect "} + code)) return true;
  }
  return error.has(" ECONNREFUSED ") && error.has("syscall: 'query");
}

std::string place_of(const Traffic& entry) {
  const bool is_ipv6 = entry.host.find(':') != std::string::npos;
  const std::string host = is_ipv6 ? "[" + entry.host + "]" : entry.host;
  return entry.port == 0 ? host : fmt::format("{}:{}", host, entry.port);
}

}  // namespace

std::string too_many_connections(const Clues& clues) {
  const auto& traffic = clues.run.report.network;
  const auto at = std::find_if(traffic.rbegin(), traffic.rend(), [](const Traffic& entry) {
    return entry.over_own_limit + entry.over_shared_limit > 0;
  });
  if (at == traffic.rend()) return "";
  const std::string why =
      at->over_own_limit > 0
          ? fmt::format("the limit of {} connections at a time was reached", network::kMostAtATime)
          : "all sandboxes together have as many connections as this server may have";
  return fmt::format(
      "refused: {}; {}. Open fewer at a time, close those that are done, and try what was refused "
      "again.",
      place_of(*at), why);
}

// The last that was refused is what the program failed of.
std::string network_refused(const Clues& clues) {
  const auto& traffic = clues.run.report.network;
  const auto at = std::find_if(traffic.rbegin(), traffic.rend(), [](const Traffic& entry) {
    return entry.verdict == Traffic::Verdict::blocked;
  });
  if (at == traffic.rend()) return "";
  const std::string place = place_of(*at);
  const std::string rule = "allow:" + place;
  bool may_ask = false;
  try {
    may_ask = network::Policy::parse(rule).is_within(clues.run.max_network);
  } catch (const Error&) {
    return fmt::format("blocked: {}, which is no host name that a policy could allow.", place);
  }
  if (may_ask && !clues.run.session)
    return fmt::format("blocked: {}; this call may ask for it with \"network\": \"{}\".", place,
                       rule);
  if (may_ask)
    return fmt::format("blocked: {}; a sandbox that is made with \"network\": \"{}\" can reach it.",
                       place, rule);
  return fmt::format("blocked: {}; the operator can allow it with max-network = \"{}\".", place,
                     rule);
}

std::string network_blocked(const Clues& clues) {
  if (!wanted_network(clues.error)) return "";
  if (clues.run.network != Network::none && clues.run.by_proxy)
    return "Programs in this container reach the network by its proxy only, which HTTPS_PROXY "
           "names: "
           "fetch, node:http and node:https use it from Node.js 22.21 and 24.5 on, and so do most "
           "tools. Other connections, UDP and DNS lead nowhere.";
  if (clues.run.network != Network::none) return "";
  return "This sandbox has no network. npm packages come by \"dependencies\"; other data must be "
         "part of the program or be given as \"stdin\" or as files.";
}

std::string port_refused(const Clues& clues) {
  if (clues.error.has("listen EADDRINUSE"))
    return "That port is taken inside this sandbox, by this program or one that still runs: listen "
           "on another port, or on port 0 for any that is free.";
  if (clues.error.has("listen EACCES"))
    return "Ports below 1024 are not for programs here: listen on a higher one, such as 8080.";
  return "";
}

std::string not_writable(const Clues& clues) {
  const std::string& code = clues.error.code;
  if (code != "EACCES" && code != "EROFS" && code != "EPERM") return "";
  const std::string path = clues.error.between("path: '", "'");
  if (path.empty() || may_write(path) || clues.error.has("syscall: 'spawn")) return "";
  return fmt::format(
      "No permission for {}: the program can write beneath /workspace and /tmp only.", shown(path));
}

std::string no_such_command(const Clues& clues) {
  const bool of_shell = clues.run.code.empty() && clues.outcome().kind == Kind::exited;
  if (of_shell && clues.outcome().code == 126)
    return "That file cannot be executed: start it by its interpreter, as in node FILE or sh FILE.";
  std::string name = shown(clues.error.between("Error: spawn ", " ENOENT"), 40);
  if (name.empty()) name = shown(clues.error.between("Error: spawnSync ", " ENOENT"), 40);
  if (name.empty()) name = command_not_found(clues.error.text);
  if (name.empty()) return "";
  return fmt::format(
      "There is no command {:?} in the sandbox: it has node, npm, npx, sh and the usual "
      "command-line "
      "tools. Use a module of Node.js or an npm package instead.",
      name);
}

std::string no_such_file(const Clues& clues) {
  if (clues.error.code != "ENOENT") return "";
  const std::string path = shown(clues.error.between("path: '", "'"));
  if (path.empty()) return "";
  if (clues.error.has("syscall: 'mkdir'"))
    return fmt::format("A directory above {} is missing: use mkdir with {{ recursive: true }}.",
                       path);
  return fmt::format(
      "There is no file or directory {} (the working directory is /workspace). {}", path,
      clues.run.session ? "Write it first, with sandbox_write_files or by a program."
                        : "run_js_ephemeral begins with no files: give data as \"stdin\" or in the "
                          "program, or use a session, where files persist.");
}

}  // namespace belljar::tools::advice
