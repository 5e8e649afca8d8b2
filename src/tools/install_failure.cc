#include "tools/install_failure.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"

namespace belljar::tools {

namespace {

constexpr std::string_view kPrefixes[] = {"npm error ", "npm ERR! "};  // npm 10 and newer; older

std::string_view trim(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

// The rest of the first line that starts with `start`.
std::string rest_after(const NpmComplaint& complaint, std::string_view start) {
  for (const std::string& line : complaint.lines)
    if (line.starts_with(start))
      return std::string{trim(std::string_view{line}.substr(start.size()))};
  return "";
}

// `peer react@"^19" from react-dom@19.0.0` → "react-dom@19.0.0 needs react@"^19"".
std::string describe_need(std::string need) {
  for (const std::string_view kind : {"peer ", "peerOptional ", "dev ", "optional "})
    if (need.starts_with(kind)) need.erase(0, kind.size());
  const size_t from = need.find(" from ");
  if (from == std::string::npos) return need;
  return fmt::format("{} needs {}", need.substr(from + 6), need.substr(0, from));
}

std::string conflict(const NpmComplaint& complaint) {
  const auto& lines = complaint.lines;
  const auto at = std::find(lines.begin(), lines.end(), "Could not resolve dependency:");
  std::string need = at != lines.end() && at + 1 != lines.end() ? *(at + 1) : "";
  const std::string found = rest_after(complaint, "Found: ");
  if (need.empty() || found.empty()) return "the versions of the packages do not fit together";
  return fmt::format("{}, but {} is what would be installed", describe_need(std::move(need)),
                     found);
}

Error missing_package(const InstallFailure& failure) {
  const std::string& name = failure.trouble->package;
  return {Code::not_found,
          fmt::format("no package \"{}\" in the registry; check its spelling", name)};
}

Error missing_version(const InstallFailure& failure) {
  const std::string spec = failure.complaint.unmatched();
  const std::string name = name_in_spec(spec);
  const std::string range = spec.substr(std::min(spec.size(), name.size() + 1));
  const std::string newest =
      failure.newest.empty() ? "" : fmt::format("; the newest is {}", failure.newest);
  return {Code::not_found, fmt::format("no version of {} fits {}{}", name, range, newest)};
}

Error out_of_time(const InstallFailure& failure) {
  std::string reason;
  if (failure.trouble) {
    reason = "; " + failure.trouble->reason;
  } else if (!failure.waiting_for.empty()) {
    reason = fmt::format("; the registry had not sent {} yet", failure.waiting_for);
  }
  return {Code::exhausted, fmt::format("ETIMEDOUT: the packages were not installed after {} ms{}",
                                       failure.timeout.count(), reason)};
}

// Ends that are not npm's own decision.
std::optional<Error> explain_outcome(const InstallFailure& failure) {
  const Outcome& outcome = failure.run.outcome;
  switch (outcome.kind) {
    case Outcome::Kind::timed_out: return out_of_time(failure);
    case Outcome::Kind::out_of_memory:
      return Error{Code::exhausted,
                   fmt::format("npm needs more than {} of memory for these packages; raise "
                               "limits.memory or install fewer",
                               format_bytes(failure.limits.memory))};
    case Outcome::Kind::cancelled:
      return Error{Code::unavailable, "the installation was stopped: " + failure.run.stop_reason};
    case Outcome::Kind::signaled:
      return Error{Code::unavailable, "npm was ended by " + signal_name(outcome.code)};
    case Outcome::Kind::exited: break;
  }
  return std::nullopt;
}

}  // namespace

std::string name_in_spec(std::string_view spec) {
  const size_t at = spec.find('@', 1);
  return std::string{spec.substr(0, at)};
}

std::string NpmComplaint::unmatched() const {
  std::string spec = rest_after(*this, "notarget No matching version found for ");
  // "lodash@^9." or "lodash@^9 with a date before …"
  spec.erase(std::min(spec.find(" with a date"), spec.size()));
  if (spec.ends_with('.')) spec.pop_back();
  return spec;
}

NpmComplaint read_complaint(std::string_view printed) {
  NpmComplaint complaint;
  while (!printed.empty()) {
    const size_t end = std::min(printed.find('\n'), printed.size());
    std::string_view line = printed.substr(0, end);
    printed.remove_prefix(std::min(end + 1, printed.size()));
    const auto prefix =
        std::find_if(std::begin(kPrefixes), std::end(kPrefixes),
                     [line](std::string_view candidate) { return line.starts_with(candidate); });
    if (prefix == std::end(kPrefixes)) continue;
    line = trim(line.substr(prefix->size()));
    if (line.starts_with("code ") && complaint.code.empty()) {
      complaint.code = line.substr(5);
    } else if (!line.empty()) {
      complaint.lines.emplace_back(line);
    }
  }
  return complaint;
}

Error explain(const InstallFailure& failure) {
  if (auto error = explain_outcome(failure)) return *error;
  const NpmComplaint& complaint = failure.complaint;
  const std::string& code = complaint.code;
  if (code == "ETARGET") return missing_version(failure);
  if (code == "ERESOLVE")
    return {Code::invalid,
            "ERESOLVE: " + conflict(complaint) + "; ask for versions that fit together"};
  if (code == "EBADPLATFORM") return {Code::invalid, rest_after(complaint, "notsup ")};
  if (code == "ENOSPC")
    return {Code::exhausted, fmt::format("the packages need more than {} of disk; raise "
                                         "limits.disk or install fewer",
                                         format_bytes(failure.limits.disk))};
  if (code.starts_with("EALLOW"))
    return {Code::denied,
            fmt::format("{}: a package wants something that is not from the registry, "
                        "which is not allowed{}",
                        code, complaint.lines.empty() ? "" : ": " + complaint.lines[0])};
  if (failure.trouble && failure.trouble->code == Code::not_found) return missing_package(failure);
  if (failure.trouble) return {failure.trouble->code, failure.trouble->reason};
  const std::string reason = complaint.lines.empty() ? "" : ": " + complaint.lines.front();
  return {Code::unavailable,
          fmt::format("npm failed with {}{}",
                      code.empty() ? fmt::format("exit status {}", failure.run.outcome.code) : code,
                      reason)};
}

}  // namespace belljar::tools
