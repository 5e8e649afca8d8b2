#include "drivers/linux/process.h"

#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <optional>

namespace belljar::linux_driver {

namespace {

// How long the output of a program that has ended may stay open, because a child of it holds it.
constexpr milliseconds kGrace{100};

// What is read of a program's output in a while. More waits in the pipe, and the program with it:
// reading costs this process as much as writing costs the program, which has its limits.
constexpr size_t kMostInAWhile = 1u << 20;
constexpr milliseconds kWhile{5};

}  // namespace

struct LinuxProcess::State : std::enable_shared_from_this<State> {
  State(const asio::any_io_executor& executor, Fd output, Fd errors, OutputSink& where,
        std::shared_ptr<const bool> is_stopped)
      : out{executor, output.release()},
        err{executor, errors.release()},
        sink{&where},
        stopped{std::move(is_stopped)},
        pause_of_out{executor},
        pause_of_err{executor},
        ended{executor},
        drained{executor} {
    out.non_blocking(true);
    err.non_blocking(true);
  }

  void read_when_ready(asio::posix::stream_descriptor& pipe, Stream stream) {
    const auto self = shared_from_this();
    pipe.async_wait(asio::posix::stream_descriptor::wait_read,
                    [self, &pipe, stream](const boost::system::error_code& error) {
                      if (!error && self->sink != nullptr) self->read(pipe, stream);
                    });
  }

  void read(asio::posix::stream_descriptor& pipe, Stream stream) {
    char buffer[65536];
    const ssize_t size = ::read(pipe.native_handle(), buffer, sizeof buffer);
    if (size > 0) {
      sink->write(stream, {buffer, static_cast<size_t>(size)});
      return read_more(pipe, stream, static_cast<size_t>(size));
    }
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return read_when_ready(pipe, stream);
    pipe.close();
    if (!out.is_open() && !err.is_open()) drained.set();
  }

  // What is in the pipes already, at most what they hold: if this process had no time to read it,
  // that is not the program's fault.
  void read_rest() {
    for (const auto& [pipe, stream] :
         {std::pair{&out, Stream::out}, std::pair{&err, Stream::err}}) {
      std::string buffer(kMostInAWhile, '\0');
      if (!pipe->is_open()) continue;
      const ssize_t size = ::read(pipe->native_handle(), buffer.data(), buffer.size());
      if (size > 0) sink->write(stream, {buffer.data(), static_cast<size_t>(size)});
    }
  }

  // Now, or when the while is over in which so much was read.
  void read_more(asio::posix::stream_descriptor& pipe, Stream stream, size_t size) {
    const auto now = std::chrono::steady_clock::now();
    if (now >= end_of_while) {
      end_of_while = now + kWhile;
      read_in_while = 0;
    }
    read_in_while += size;
    if (read_in_while < kMostInAWhile) return read_when_ready(pipe, stream);
    asio::steady_timer& pause = stream == Stream::out ? pause_of_out : pause_of_err;
    pause.expires_at(end_of_while);
    pause.async_wait(
        [self = shared_from_this(), &pipe, stream](const boost::system::error_code& error) {
          if (!error && self->sink != nullptr) self->read_when_ready(pipe, stream);
        });
  }

  void detach() {
    sink = nullptr;
    pause_of_out.cancel();
    pause_of_err.cancel();
    boost::system::error_code ignored;
    out.close(ignored);
    err.close(ignored);
  }

  asio::posix::stream_descriptor out;
  asio::posix::stream_descriptor err;
  OutputSink* sink;
  std::shared_ptr<const bool> stopped;
  asio::steady_timer pause_of_out;
  asio::steady_timer pause_of_err;
  std::chrono::steady_clock::time_point end_of_while;
  size_t read_in_while = 0;
  std::optional<Outcome::Kind> killed_because;
  launcher::Reply exit{};
  std::function<void()> after;
  Event ended;
  Event drained;
};

LinuxProcess::LinuxProcess(LauncherClient& client, uint64_t sandbox, uint64_t id, Fd output,
                           Fd errors, OutputSink& sink, std::shared_ptr<const bool> stopped,
                           const asio::any_io_executor& executor)
    : client_{client},
      sandbox_{sandbox},
      id_{id},
      state_{std::make_shared<State>(executor, std::move(output), std::move(errors), sink,
                                     std::move(stopped))} {
  state_->read_when_ready(state_->out, Stream::out);
  state_->read_when_ready(state_->err, Stream::err);
  const auto state = state_;
  client_.on_exit(sandbox_, id_, [state](const launcher::Reply& reply) {
    state->exit = reply;
    state->ended.set();
    if (state->after) state->after();
  });
}

void LinuxProcess::set_after(std::function<void()> after) {
  state_->after = std::move(after);
}

LinuxProcess::~LinuxProcess() {
  client_.forget_exit(sandbox_, id_);
  if (!state_->ended.is_set())
    client_.tell(request_for(launcher::RequestType::kill, sandbox_, id_));
  state_->detach();
}

Task<Outcome> LinuxProcess::wait() {
  const auto state = state_;
  co_await state->ended.wait();
  if (!state->drained.is_set()) {
    const bool in_time = co_await with_timeout(kGrace, state->drained.wait());
    if (!in_time) state->read_rest();
  }
  co_return outcome();
}

Outcome LinuxProcess::outcome() const {
  const launcher::Reply& exit = state_->exit;
  Outcome outcome;
  outcome.start = start_;
  outcome.usage.cpu = std::chrono::microseconds{exit.cpu_micros};
  outcome.usage.max_rss = exit.max_rss;
  if (WIFEXITED(exit.status)) {
    outcome.code = WEXITSTATUS(exit.status);
    return outcome;
  }
  outcome.kind = Outcome::Kind::signaled;
  outcome.code = WTERMSIG(exit.status);
  if (outcome.code != SIGKILL) return outcome;
  if (state_->killed_because) {
    outcome.kind = *state_->killed_because;
  } else if (exit.out_of_memory != 0) {
    outcome.kind = Outcome::Kind::out_of_memory;
  } else if (*state_->stopped) {
    outcome.kind = Outcome::Kind::cancelled;
  }
  return outcome;
}

void LinuxProcess::kill(Outcome::Kind why) {
  if (!state_->ended.is_set() && !state_->killed_because) state_->killed_because = why;
  client_.tell(request_for(launcher::RequestType::kill, sandbox_, id_));
}

}  // namespace belljar::linux_driver
