#include "drivers/linux/parking.h"

#include "base/log.h"

namespace belljar::linux_driver {

namespace {

// Each has a few megabytes of its own.
constexpr size_t kMostSessions = 8;

// Who has got a sandbox to run a program in it has begun by then.
constexpr milliseconds kMoment{1000};

}  // namespace

Parking::Parking(asio::any_io_executor executor, std::shared_ptr<LauncherClient> client)
    : client_{std::move(client)}, tasks_{std::move(executor)} {}

Task<> Parking::park(uint64_t sandbox, uint64_t process, Place place, uint32_t flags) {
  launcher::Request request = request_for(launcher::RequestType::park, sandbox, process);
  request.flags = flags;
  std::vector<int> no_fds;
  const auto died = std::make_shared<bool>(false);
  client_->on_exit(sandbox, process, [place, process, died](const launcher::Reply&) {
    *died = true;
    if (*place == process) *place = 0;
  });
  try {
    co_await client_->ask(request, std::string{}, std::move(no_fds), "park a Node.js");
    if (!*died) *place = process;
  } catch (const Error& e) {
    log::debug("no parked Node.js: {}", e.what());
    client_->forget_exit(sandbox, process);
  }
}

void Parking::park_later(uint64_t sandbox, uint64_t process, Place place) {
  tasks_.spawn("park a Node.js", park_in_session({sandbox, process, std::move(place)}));
}

Task<> Parking::park_in_session(Waiting waiting) {
  if (*waiting.place != 0) co_return;
  co_await park(waiting.sandbox, waiting.process, waiting.place);
  if (*waiting.place != waiting.process) co_return;
  forget_used(sessions_);
  sessions_.push_back(waiting);
  if (sessions_.size() <= kMostSessions) co_return;
  end(sessions_.front());
  sessions_.pop_front();
}

void Parking::forget_used(std::list<Waiting>& list) {
  std::erase_if(list, [](const Waiting& one) { return *one.place != one.process; });
}

void Parking::given_away(uint64_t sandbox, Place place) {
  if (*place == 0) return;
  forget_used(given_);
  const uint64_t process = *place;
  given_.push_back({sandbox, process, std::move(place)});
  const auto just_now = std::chrono::steady_clock::now() - kMoment;
  while (given_.size() > kMostSessions && given_.front().since < just_now) {
    end(given_.front());
    given_.pop_front();
  }
}

void Parking::end(const Waiting& waiting) {
  if (*waiting.place != waiting.process) return;  // it has become a program
  *waiting.place = 0;
  client_->tell(request_for(launcher::RequestType::kill, waiting.sandbox, waiting.process));
}

void Parking::clear() {
  for (const Waiting& waiting : sessions_) end(waiting);
  sessions_.clear();
}

Task<> Parking::stop() {
  co_await tasks_.stop();
}

}  // namespace belljar::linux_driver
