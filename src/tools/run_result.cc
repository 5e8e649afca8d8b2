#include "tools/run_result.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "tools/network_access.h"
#include "tools/run_packages.h"
#include "tools/schema.h"

namespace belljar::tools {

namespace {

using Kind = Outcome::Kind;

int64_t in_ms(std::chrono::microseconds time) {
  return (time.count() + 500) / 1000;
}

double precise_ms(std::chrono::microseconds time) {
  return static_cast<double>(time.count()) / 1000;
}

std::string telemetry(const RunReport& report) {
  const auto install_time = report.install ? report.install->time : milliseconds{0};
  const std::string install_output =
      report.install ? report.install->output : "Skipped npm install (no dependencies)";
  // By hand, because Boost.JSON writes 27.4 as 2.74E1.
  return fmt::format(
      "Telemetry:\n{{\"installTimeMs\":{},\"installOutput\":{},\"runTimeMs\":{:.1f},"
      "\"imageTimeMs\":{:.1f},\"createTimeMs\":{:.1f},\"startTimeMs\":{:.1f},\"filesTimeMs\":{:.1f}"
      ","
      "\"cpuTimeMs\":{:.1f},\"maxRssBytes\":{},\"start\":\"{}\"}}",
      install_time.count(), json::serialize(json::value(install_output)),
      precise_ms(report.result.duration), precise_ms(report.image_time),
      precise_ms(report.create_time), precise_ms(report.result.start_time),
      precise_ms(report.files_time), precise_ms(report.result.outcome.usage.cpu),
      report.result.outcome.usage.max_rss, name_of(report.result.outcome.start));
}

std::string lint_text(const std::vector<std::string>& lines) {
  std::string text = "Linting issues found in the program:";
  for (const std::string& line : lines) text += "\n" + line;
  return text;
}

json::object fields_of(const std::optional<InstallReport>& install) {
  json::object fields;
  fields["ms"] = install ? install->time.count() : 0;
  fields["cached"] = install && install->cached;
  fields["packages"] = install ? install->packages : 0;
  if (install && !install->lockfile.empty()) {
    fields["lockfile"] = json::object{{"type", "resource_link"},
                                      {"uri", uri_of_lockfile(install->lockfile)},
                                      {"name", "package-lock.json"},
                                      {"mimeType", "application/json"}};
  }
  return fields;
}

std::string started_text(const BackgroundInfo& background) {
  std::string text = fmt::format(
      "Server started in background; logs at sandbox_logs with container_id {} and process {}. "
      "Its port {} is published at {} until the sandbox is stopped.",
      background.sandbox, background.process, background.port, background.url);
  if (!background.preview.empty()) {
    text += fmt::format(" People can look at it with a browser at {}", background.preview);
  }
  return text;
}

json::object fields_of(const BackgroundInfo& background) {
  json::object fields;
  fields["process"] = background.process;
  fields["port"] = background.port;
  fields["url"] = background.url;
  if (!background.preview.empty()) fields["preview"] = background.preview;
  return fields;
}

}  // namespace

json::value signal_of(const Outcome& outcome) {
  switch (outcome.kind) {
    case Kind::exited: return nullptr;
    case Kind::signaled: return json::value(signal_name(outcome.code));
    case Kind::timed_out:
    case Kind::out_of_memory:
    case Kind::cancelled: break;
  }
  return json::value("SIGKILL");
}

json::value exit_code_of(const Outcome& outcome) {
  return outcome.kind == Kind::exited ? json::value(outcome.code) : json::value();
}

std::string failure_reason(const RunReport& report, std::string_view subject) {
  const Outcome& outcome = report.result.outcome;
  if (!report.failure.empty()) return report.failure;
  switch (outcome.kind) {
    case Kind::exited:
      return outcome.code == 0 ? "" : fmt::format("{} exited with code {}", subject, outcome.code);
    case Kind::signaled:
      return fmt::format("{} was killed by {}", subject, signal_name(outcome.code));
    case Kind::timed_out:
      return fmt::format("ETIMEDOUT: {} did not end within {} ms and was killed", subject,
                         report.timeout.count());
    case Kind::out_of_memory:
      return fmt::format("{} ran out of memory and was killed: the sandbox may use {}", subject,
                         format_bytes(report.limits.memory));
    case Kind::cancelled: break;
  }
  const std::string& why = report.result.stop_reason;
  return fmt::format("{} was cancelled: {}", subject, why.empty() ? "the run was called off" : why);
}

std::string failure_text(std::string_view reason, std::string_view out, std::string_view err) {
  std::string text = fmt::format("Error during execution: {}", reason);
  for (const auto& [name, content] : {std::pair{"stdout", out}, std::pair{"stderr", err}}) {
    if (!content.empty()) text += fmt::format("\n{}:\n{}", name, content);
  }
  return text;
}

json::object outcome_fields(const RunResult& result) {
  const Outcome& outcome = result.outcome;
  json::object fields;
  fields["stdout"] = result.out.text;
  fields["stderr"] = result.err.text;
  fields["exitCode"] = exit_code_of(outcome);
  fields["signal"] = signal_of(outcome);
  fields["timedOut"] = outcome.kind == Kind::timed_out;
  fields["oomKilled"] = outcome.kind == Kind::out_of_memory;
  fields["truncated"] = result.out.truncated || result.err.truncated;
  fields["durationMs"] = in_ms(result.duration);
  return fields;
}

json::object outcome_properties() {
  json::object properties;
  properties["stdout"] = of_type("string");
  properties["stderr"] = of_type("string");
  properties["exitCode"] = nullable("integer");
  properties["signal"] = nullable("string");
  properties["timedOut"] = of_type("boolean");
  properties["oomKilled"] = of_type("boolean");
  properties["truncated"] = of_type("boolean");
  properties["durationMs"] = of_type("integer");
  return properties;
}

json::object isolation_fields(const Isolation& isolation) {
  json::object fields;
  fields["grade"] = name_of(isolation.grade);
  fields["weaker"] = json::array(isolation.weaker.begin(), isolation.weaker.end());
  fields["boundary"] = isolation.boundary;
  return fields;
}

json::object isolation_schema() {
  json::object properties;
  properties["grade"] = of_type("string");
  properties["weaker"] = array_of(of_type("string"));
  properties["boundary"] = of_type("string");
  return all_required(std::move(properties));
}

json::object run_output_schema() {
  json::object install;
  install["ms"] = of_type("integer");
  install["cached"] = of_type("boolean");
  install["packages"] = of_type("integer");
  json::object link;
  for (const char* name : {"type", "uri", "name", "mimeType"}) link[name] = of_type("string");
  json::object install_schema = all_required(std::move(install));
  install_schema["properties"].as_object()["lockfile"] = all_required(std::move(link));
  json::object usage;
  usage["cpuMs"] = of_type("integer");
  usage["maxRssBytes"] = of_type("integer");

  json::object properties = outcome_properties();
  properties["install"] = std::move(install_schema);
  json::object file;
  file["path"] = of_type("string");
  file["change"] = of_type("string");
  file["size"] = of_type("integer");
  file["mimeType"] = nullable("string");
  file["uri"] = of_type("string");
  properties["files"] = array_of(all_required(std::move(file)));
  properties["usage"] = all_required(std::move(usage));
  properties["lint"] = array_of(of_type("string"));
  properties["network"] = network_schema();
  properties["isolation"] = isolation_schema();
  return all_required(std::move(properties));
}

bool has_failed(const RunReport& report) {
  return !report.failure.empty() || (!report.background && !report.result.outcome.ok());
}

mcp::ToolResult run_tool_result(RunReport report) {
  const RunResult& result = report.result;
  mcp::ToolResult answer;
  answer.is_error = has_failed(report);
  if (!report.lint.empty()) answer.content.emplace_back(mcp::text_block(lint_text(report.lint)));
  answer.content.emplace_back(mcp::text_block(
      answer.is_error
          ? failure_text(failure_reason(report, "the program"), result.out.text, result.err.text)
      : report.background ? started_text(*report.background)
                          : "Node.js process output:\n" + result.out.text));
  for (json::value& block : report.files.blocks) answer.content.emplace_back(std::move(block));
  answer.content.emplace_back(mcp::text_block(telemetry(report)));

  json::object usage;
  usage["cpuMs"] = in_ms(result.outcome.usage.cpu);
  usage["maxRssBytes"] = result.outcome.usage.max_rss;

  json::object structured = outcome_fields(result);
  structured["install"] = fields_of(report.install);
  structured["files"] = std::move(report.files.fields);
  structured["usage"] = std::move(usage);
  structured["lint"] = json::array(report.lint.begin(), report.lint.end());
  structured["network"] = network_fields(report.network);
  structured["isolation"] = isolation_fields(report.isolation);
  if (report.background) structured["background"] = fields_of(*report.background);
  answer.structured = std::move(structured);
  return answer;
}

}  // namespace belljar::tools
