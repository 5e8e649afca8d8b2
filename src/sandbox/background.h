#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/task_group.h"
#include "sandbox/attachment.h"
#include "sandbox/driver.h"
#include "sandbox/lease.h"
#include "sandbox/log_buffer.h"

namespace belljar {

// A program that runs on after the call that started it. Its lease keeps the sandbox from being
// idle and its source file from being used by others, until the program ends.
class BackgroundProcess final : public Attachment, private OutputSink {
 public:
  // Starts the program in the lease's sandbox, which keeps the result among its own. `belonging`
  // is let go of when the program ends.
  static Task<std::shared_ptr<BackgroundProcess>> start(Lease lease, Command command,
                                                        size_t log_limit,
                                                        std::shared_ptr<const void> belonging);

  int number() const { return number_; }  // from 1, in order of start, within the sandbox
  bool running() const { return tasks_.size() > 0; }
  const std::optional<Outcome>& outcome() const { return outcome_; }  // once it has ended
  const LogBuffer& log() const { return log_; }                       // both streams

  // Waits for the end of the program.
  Task<Outcome> wait();

  void kill(Outcome::Kind why);
  Task<> stop() override;

 private:
  BackgroundProcess(const asio::any_io_executor& executor, size_t log_limit);
  void write(Stream stream, std::string_view bytes) override;
  Task<> watch();

  int number_ = 0;
  LogBuffer log_;
  std::optional<Lease> lease_;  // while it runs
  std::shared_ptr<const void> belonging_;
  std::unique_ptr<Process> process_;
  std::optional<Outcome> outcome_;
  TaskGroup tasks_;  // one, while the program runs
};

}  // namespace belljar
