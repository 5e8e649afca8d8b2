#include "sandbox/background.h"

namespace belljar {

BackgroundProcess::BackgroundProcess(const asio::any_io_executor& executor, size_t log_limit)
    : log_{log_limit}, tasks_{executor} {}

Task<std::shared_ptr<BackgroundProcess>> BackgroundProcess::start(
    Lease lease, Command command, size_t log_limit, std::shared_ptr<const void> belonging) {
  const auto executor = co_await asio::this_coro::executor;
  const std::shared_ptr<BackgroundProcess> made{new BackgroundProcess{executor, log_limit}};
  OutputSink& sink = *made;
  const auto& environment = lease.environment();
  command.env.insert(environment.begin(), environment.end());
  made->process_ = co_await lease.sandbox().start(std::move(command), sink);
  made->number_ = lease.keep(made);
  made->lease_.emplace(std::move(lease));
  made->belonging_ = std::move(belonging);
  made->tasks_.spawn("watch a background program", made->watch());
  co_return made;
}

void BackgroundProcess::write(Stream, std::string_view bytes) {
  log_.write(bytes);
}

Task<> BackgroundProcess::watch() {
  outcome_ = co_await process_->wait();
  lease_.reset();
  belonging_.reset();
}

Task<Outcome> BackgroundProcess::wait() {
  co_await tasks_.finish();
  Outcome unknown;
  unknown.kind = Outcome::Kind::cancelled;
  co_return outcome_.value_or(unknown);
}

void BackgroundProcess::kill(Outcome::Kind why) {
  process_->kill(why);
}

Task<> BackgroundProcess::stop() {
  if (!outcome_) outcome_.emplace().kind = Outcome::Kind::cancelled;
  co_await tasks_.stop();
  process_.reset();  // kills it
  lease_.reset();
  belonging_.reset();
}

}  // namespace belljar
