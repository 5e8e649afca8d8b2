#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>

#include "app/commands.h"
#include "app/sessions.h"
#include "app/wiring.h"

namespace belljar::app {

namespace {

constexpr milliseconds kFollowInterval{250};
constexpr int64_t kLogPart = 1 << 20;  // bytes asked for at once

std::vector<ServerSockets::Server> running_servers() {
  const auto sockets = ServerSockets::find(ServerSockets::usual_path());
  return sockets ? sockets->connect() : std::vector<ServerSockets::Server>{};
}

int64_t number(const json::object& object, std::string_view key) {
  const json::value* value = find(object, key);
  return value != nullptr && value->is_int64() ? value->get_int64() : 0;
}

std::string_view text(const json::object& object, std::string_view key) {
  const json::string* value = find_string(object, key);
  return value != nullptr ? std::string_view{*value} : "";
}

bool is_true(const json::object& object, std::string_view key) {
  const json::value* value = find(object, key);
  return value != nullptr && value->is_bool() && value->get_bool();
}

// 45 → "45 s", 750 → "12 min", 9000 → "2 h 30 min".
std::string short_time(int64_t seconds) {
  if (seconds < 60) return fmt::format("{} s", seconds);
  if (seconds < 3600) return fmt::format("{} min", seconds / 60);
  return fmt::format("{} h {} min", seconds / 3600, seconds % 3600 / 60);
}

// [8080, 9000] → "8080,9000"; "-" for none, so that every row has as many words.
std::string ports_of(const json::object& session) {
  const json::value* ports = find(session, "ports");
  if (ports == nullptr || !ports->is_array() || ports->get_array().empty()) return "-";
  std::string list;
  for (const json::value& port : ports->get_array())
    list += (list.empty() ? "" : ",") + json::serialize(port);
  return list;
}

void write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    bytes.remove_prefix(static_cast<size_t>(sys(written, "write output")));
  }
}

Task<int> list(Sessions& sessions, bool json) {
  const std::vector<Session> all = co_await sessions.list();
  if (json) {
    json::array entries;
    for (const Session& session : all) {
      json::object entry = session.fields;
      entry["server"] = session.server;
      entries.emplace_back(std::move(entry));
    }
    fmt::print("{}\n", json::serialize(entries));
    co_return 0;
  }
  if (all.empty()) {
    fmt::print("No live sandboxes.\n");
    co_return 0;
  }
  // Only a server with several owners says whose a sandbox is.
  const bool has_owners = std::ranges::any_of(
      all, [](const Session& session) { return session.fields.contains("owner"); });
  constexpr auto kRow = "{:<44} {:<16} {:>12} {:>12} {:>8} {:>8}  {}{}\n";
  const auto owner_column = [has_owners](std::string_view owner) {
    return has_owners ? fmt::format("{:<16} ", owner.empty() ? "-" : owner) : "";
  };
  fmt::print(kRow, "ID", "IMAGE", "AGE", "IDLE", "RUNNING", "SERVER", owner_column("OWNER"),
             "PORTS");
  for (const Session& session : all) {
    const json::object& fields = session.fields;
    fmt::print(kRow, session.id, text(fields, "image"), short_time(number(fields, "ageSeconds")),
               short_time(number(fields, "idleSeconds")), number(fields, "running"), session.server,
               owner_column(text(fields, "owner")), ports_of(fields));
  }
  co_return 0;
}

// One word is a line for the shell; several are a command and its arguments.
std::string shell_line(const std::vector<std::string>& words) {
  if (words.size() == 1) return words.front();
  std::string line;
  for (const std::string& word : words) {
    line += line.empty() ? "'" : " '";
    for (const char c : word) line += c == '\'' ? std::string{"'\\''"} : std::string{c};
    line += "'";
  }
  return line;
}

int signal_number(std::string_view name) {
  for (int signal = 1; signal < NSIG; ++signal) {
    const char* abbreviation = ::sigabbrev_np(signal);
    if (abbreviation != nullptr && name == fmt::format("SIG{}", abbreviation)) return signal;
  }
  return SIGKILL;
}

int exit_status(const json::object& outcome) {
  if (is_true(outcome, "timedOut")) return 124;  // as timeout(1)
  const json::value* code = find(outcome, "exitCode");
  if (code != nullptr && code->is_int64()) return static_cast<int>(code->get_int64());
  return 128 + signal_number(text(outcome, "signal"));
}

Task<int> exec(Sessions& sessions, ExecOptions options) {
  const Session session = co_await sessions.find(options.id);
  json::object arguments;
  arguments["commands"] = json::array{shell_line(options.command)};
  if (options.timeout_ms > 0) arguments["timeoutMs"] = options.timeout_ms;
  json::object result = co_await call_tool(session, "sandbox_exec", std::move(arguments));
  const std::string words = text_of(result);
  const json::object content = structured(std::move(result));
  const json::value* results = find(content, "results");
  if (results == nullptr || !results->is_array() || results->get_array().empty() ||
      !results->get_array().front().is_object()) {
    fail(Code::unavailable, "{}", words);
  }
  const json::object& outcome = results->get_array().front().get_object();
  write_all(STDOUT_FILENO, text(outcome, "stdout"));
  write_all(STDERR_FILENO, text(outcome, "stderr"));
  const json::value* code = find(outcome, "exitCode");
  if (code == nullptr || code->is_null()) {  // the first line of the text says why
    fmt::print(stderr, "belljar: {}\n", words.substr(0, words.find('\n')));
  }
  co_return exit_status(outcome);
}

Task<int> logs(Sessions& sessions, LogsOptions options) {
  const Session session = co_await sessions.find(options.id);
  json::object arguments{{"maxBytes", kLogPart}};
  if (options.process) arguments["process"] = *options.process;
  while (true) {
    json::object result = co_await call_tool(session, "sandbox_logs", arguments);
    const json::object part = structured(std::move(result));
    if (number(part, "dropped") > 0) {
      fmt::print(stderr, "belljar: {} bytes are no longer kept\n", number(part, "dropped"));
    }
    write_all(STDOUT_FILENO, text(part, "text"));
    const bool at_end = !is_true(part, "more");
    if (at_end && !(options.follow && is_true(part, "running"))) co_return 0;
    arguments["process"] = number(part, "process");
    arguments["cursor"] = number(part, "cursor");
    if (at_end) co_await sleep_for(kFollowInterval);
  }
}

Task<int> stop(Sessions& sessions, std::vector<std::string> ids) {
  int status = 0;
  for (const std::string& id : ids) {
    try {
      const Session session = co_await sessions.find(id);
      json::object none;
      json::object result = co_await call_tool(session, "sandbox_stop", std::move(none));
      structured(result);
      fmt::print("{}\n", text_of(result));
    } catch (const Error& e) {
      fmt::print(stderr, "belljar: {}\n", e.what());
      status = 1;
    }
  }
  co_return status;
}

using Command = std::function<Task<int>(Sessions&)>;

Task<int> with_sessions(asio::any_io_executor executor, Command command) {
  Sessions sessions{executor, running_servers()};
  co_return co_await command(sessions);
}

int run_with_sessions(const Command& command) {
  return run_to_end([&command](const asio::any_io_executor& executor) {
    return with_sessions(executor, command);
  });
}

}  // namespace

int session_list_command(bool json) {
  return run_with_sessions([json](Sessions& sessions) { return list(sessions, json); });
}

int session_exec_command(const ExecOptions& options) {
  if (options.command.empty()) {
    fail(Code::invalid, "there is no command: belljar exec ID -- COMMAND…");
  }
  return run_with_sessions([&options](Sessions& sessions) { return exec(sessions, options); });
}

int session_logs_command(const LogsOptions& options) {
  return run_with_sessions([&options](Sessions& sessions) { return logs(sessions, options); });
}

int session_stop_command(const std::vector<std::string>& ids) {
  return run_with_sessions([&ids](Sessions& sessions) { return stop(sessions, ids); });
}

}  // namespace belljar::app
