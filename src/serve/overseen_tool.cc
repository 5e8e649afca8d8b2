#include "serve/overseen_tool.h"

#include <algorithm>
#include <array>

#include "base/json.h"
#include "base/log.h"
#include "serve/call_record.h"

namespace belljar::serve {

namespace {

using std::chrono::duration_cast;
using Seconds = std::chrono::duration<double>;

constexpr std::string_view kRuns[] = {"run_js", "run_js_ephemeral", "sandbox_exec"};
constexpr std::string_view kKills[] = {"timed_out", "out_of_memory", "killed", "cancelled"};

template <class Range>
bool contains(const Range& range, std::string_view word) {
  return std::find(std::begin(range), std::end(range), word) != std::end(range);
}

void add_to(json::object& fields, const json::object& more) {
  for (const auto& field : more) fields[field.key()] = field.value();
}

std::string in_seconds(std::chrono::milliseconds time) {
  return fmt::format("{:.1f} s", Seconds(time).count());
}

class OverseenTool final : public mcp::Tool {
 public:
  OverseenTool(std::unique_ptr<mcp::Tool> tool, std::string name, const Oversight& oversight)
      : tool_{std::move(tool)},
        name_{std::move(name)},
        with_{oversight},
        is_run_{contains(kRuns, tool_->info().name)} {}

  const mcp::ToolInfo& info() const override { return tool_->info(); }

  Task<mcp::ToolResult> call(json::object arguments, mcp::Call& call) override {
    const Activity::Hold hold{with_.calls};
    Record record{with_.clock.now(), {}, {}, code_bytes(arguments)};
    if (with_.audit) record.audit = audit_arguments(arguments, with_.network);
    auto settled = co_await settle(perform(std::move(arguments), call, record));
    if (settled.error) {
      finish(record, outcome_of(settled.error));
      std::rethrow_exception(settled.error);
    }
    mcp::ToolResult& result = *settled.value;
    if (with_.audit) add_to(record.audit, audit_result(result));
    if (is_run_) with_.metrics.count("belljar_output_bytes_total", {}, output_bytes(result));
    finish(record, record.is_refused ? "refused" : outcome_of(result));
    co_return std::move(result);
  }

 private:
  struct Record {
    Clock::Time asked;
    Clock::Time begun;
    json::object audit;
    size_t code_bytes = 0;
    bool is_refused = false;
  };

  Task<mcp::ToolResult> perform(json::object arguments, mcp::Call& call, Record& record) {
    record.begun = record.asked;
    if (!is_run_) co_return co_await tool_->call(std::move(arguments), call);
    const std::string owner = call.owner();
    if (const auto wait = with_.budget.wait_of(owner); wait.count() > 0) {
      record.is_refused = true;
      co_return refuse(wait);
    }
    const RunQueue::Turn turn = co_await with_.queue.wait(owner);
    record.begun = with_.clock.now();
    const Charge charge{with_, owner, record.begun};
    co_return co_await tool_->call(std::move(arguments), call);
  }

  // Whatever ends the run, the time it took is its owner's.
  struct Charge {
    const Oversight& with;
    const std::string& owner;
    Clock::Time begun;
    ~Charge() { with.budget.charge(owner, with.clock.now() - begun); }
  };

  mcp::ToolResult refuse(std::chrono::milliseconds wait) const {
    mcp::ToolResult result;
    result.is_error = true;
    result.content.emplace_back(mcp::text_block(
        fmt::format("your programs may run for {} s per minute, and have; try again in {}",
                    with_.budget.per_minute().count(), in_seconds(wait))));
    result.meta["belljar/retryAfterMs"] = wait.count();
    return result;
  }

  void finish(Record& record, const std::string& outcome) {
    const auto now = with_.clock.now();
    const std::string& tool = info().name;
    with_.metrics.count("belljar_calls_total", {{"tool", tool}, {"outcome", outcome}});
    with_.metrics.observe("belljar_call_seconds", {{"tool", tool}},
                          Seconds(now - record.begun).count());
    if (is_run_) {
      with_.metrics.observe("belljar_queue_seconds", {},
                            Seconds(record.begun - record.asked).count());
      with_.metrics.count("belljar_code_bytes_total", {}, record.code_bytes);
      if (contains(kKills, outcome))
        with_.metrics.count("belljar_kills_total", {{"reason", outcome}});
    }
    log::info("{} for {}: {}", tool, name_, outcome);
    if (!with_.audit) return;
    json::object line{{"event", "call"}, {"owner", name_}, {"tool", tool}, {"outcome", outcome}};
    line["waitedMs"] =
        duration_cast<std::chrono::milliseconds>(record.begun - record.asked).count();
    line["durationMs"] = duration_cast<std::chrono::milliseconds>(now - record.begun).count();
    for (auto& field : record.audit) line[field.key()] = std::move(field.value());
    with_.audit.add(std::move(line));
  }

  std::unique_ptr<mcp::Tool> tool_;
  std::string name_;
  const Oversight& with_;
  bool is_run_;
};

}  // namespace

void describe_calls(observe::Metrics& metrics) {
  using Kind = observe::Metrics::Kind;
  const std::vector<double> times{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5,
                                  1,     2.5,  5,     10,   30,  60,   300};
  metrics.describe("belljar_calls_total", Kind::counter, "Calls of tools, by how they ended.");
  metrics.describe_histogram("belljar_call_seconds", times,
                             "How long calls took, without waiting for their turn.");
  metrics.describe_histogram("belljar_queue_seconds", times,
                             "How long runs of programs waited for their turn.");
  metrics.describe("belljar_kills_total", Kind::counter, "Programs that were killed, by reason.");
  metrics.describe("belljar_code_bytes_total", Kind::counter, "Bytes of programs that were run.");
  metrics.describe("belljar_output_bytes_total", Kind::counter, "Bytes that programs printed.");
}

std::unique_ptr<mcp::Tool> oversee(std::unique_ptr<mcp::Tool> tool, std::string name,
                                   const Oversight& oversight) {
  return std::make_unique<OverseenTool>(std::move(tool), std::move(name), oversight);
}

}  // namespace belljar::serve
