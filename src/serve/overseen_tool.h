#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "mcp/tool.h"
#include "observe/audit_log.h"
#include "observe/metrics.h"
#include "serve/activity.h"
#include "serve/run_budget.h"
#include "serve/run_queue.h"

namespace belljar::serve {

// What watches over the calls of all owners. Must outlive the tools.
struct Oversight {
  RunQueue& queue;
  RunBudget& budget;
  observe::Metrics& metrics;
  observe::AuditLog& audit;
  Activity& calls;
  const Clock& clock;
  std::string network;  // what programs may reach when a call does not say less
};

// The families that overseen tools feed.
void describe_calls(observe::Metrics& metrics);

// The same tool under oversight. Calls that run programs wait for their turn and are refused, as a
// result that says when to try again, if their owner has used up its budget or waits for too much
// already. Every call is counted, timed and audited however it ends. `name` is the owner's, for
// people.
std::unique_ptr<mcp::Tool> oversee(std::unique_ptr<mcp::Tool> tool, std::string name,
                                   const Oversight& oversight);

}  // namespace belljar::serve
