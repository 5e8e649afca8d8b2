#include "drivers/linux/copy_battery.h"

#include <fmt/format.h>

#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "drivers/linux/copy_programs.h"

namespace belljar::linux_driver {

namespace {

constexpr const char* kInput = "first\nsecond\n";
constexpr size_t kShown = 120;  // bytes of a line that differs

std::string name_of(const CopyProgram& program) {
  return std::string{program.file.substr(0, program.file.find('.'))};
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

// Warnings carry the number of the process, which depends on what the sandbox ran before.
std::string without_number(std::string_view text) {
  constexpr std::string_view kBefore = "(node:";
  std::string result;
  for (size_t at = text.find(kBefore); at != std::string_view::npos; at = text.find(kBefore)) {
    result += text.substr(0, at + kBefore.size());
    text.remove_prefix(at + kBefore.size());
    text.remove_prefix(std::min(text.find_first_not_of("0123456789"), text.size()));
  }
  return result += text;
}

std::string shown(std::string_view line) {
  return json::serialize(json::value(line.substr(0, kShown)));
}

std::string end_of(const Outcome& outcome) {
  switch (outcome.kind) {
    case Outcome::Kind::exited: return fmt::format("exit status {}", outcome.code);
    case Outcome::Kind::signaled: return signal_name(outcome.code);
    case Outcome::Kind::timed_out: return "its time being up";
    case Outcome::Kind::out_of_memory: return "its memory being used up";
    case Outcome::Kind::cancelled: return "its sandbox being stopped";
  }
  return "";
}

// "" if they are the same.
std::string difference_of(const char* stream, std::string_view copied, std::string_view executed) {
  if (copied == executed) return "";
  const auto ours = lines_of(copied);
  const auto theirs = lines_of(executed);
  size_t at = 0;
  while (at < ours.size() && at < theirs.size() && ours[at] == theirs[at]) ++at;
  const auto line = [at](const std::vector<std::string_view>& lines) {
    return at < lines.size() ? shown(lines[at]) : "nothing";
  };
  return fmt::format("line {} of {} is {} in a copy, and {} if executed", at + 1, stream,
                     line(ours), line(theirs));
}

std::string difference_of(const RunResult& copied, const RunResult& executed) {
  const Outcome& ours = copied.outcome;
  const Outcome& theirs = executed.outcome;
  if (ours.kind != theirs.kind || ours.code != theirs.code) {
    const std::string error = copied.err.text.empty() ? "" : ": " + shown(copied.err.text);
    return fmt::format("a copy ended by {}{}, an executed one by {}", end_of(ours), error,
                       end_of(theirs));
  }
  std::string difference = difference_of("stdout", copied.out.text, executed.out.text);
  if (!difference.empty()) return difference;
  return difference_of("stderr", without_number(copied.err.text),
                       without_number(executed.err.text));
}

// "" if no line of one copy is also one of the other.
std::string what_is_shared(const RunResult& first, const RunResult& second) {
  if (!first.outcome.ok() || !second.outcome.ok())
    return fmt::format("a copy ended by {}", end_of((first.outcome.ok() ? second : first).outcome));
  const auto ours = lines_of(first.out.text);
  const auto theirs = lines_of(second.out.text);
  if (ours.size() != theirs.size()) return "two copies print different numbers of lines";
  for (size_t at = 0; at < ours.size(); ++at) {
    const bool is_end = at + 1 == ours.size() && ours[at].empty();
    if (ours[at] == theirs[at] && !is_end)
      return fmt::format("line {} is {} in two copies", at + 1, shown(ours[at]));
  }
  return "";
}

}  // namespace

std::span<const CopyProgram> copy_programs() {
  return kCopyPrograms;
}

Command command_of(const CopyProgram& program) {
  const std::string path = program.file.ends_with(".ts") ? "/workspace/index.ts"  //
                                                         : "/workspace/index.js";
  Command command;
  command.argv = {"/usr/local/bin/node", path};
  command.source = SourceFile{path, std::string{program.text}};
  command.input = kInput;
  return command;
}

Task<std::optional<CopyDifference>> compare_copies(std::span<const CopyProgram> programs,
                                                   RunCopyProgram run) {
  for (const CopyProgram& program : programs) {
    const bool is_random = program.file == kRandomProgram;
    const RunResult copied = co_await run(program, StartWay::fork);
    const StartWay way = is_random ? StartWay::fork : StartWay::exec;
    const RunResult other = co_await run(program, way);
    const Outcome::Kind end = other.outcome.kind;
    if (way == StartWay::exec && end != Outcome::Kind::exited && end != Outcome::Kind::signaled) {
      fail(Code::unavailable, "the program {}, executed, ended by {}", name_of(program),
           end_of(other.outcome));
    }
    std::string reason = is_random ? what_is_shared(copied, other) : difference_of(copied, other);
    if (!reason.empty()) co_return CopyDifference{name_of(program), std::move(reason)};
  }
  co_return std::nullopt;
}

}  // namespace belljar::linux_driver
