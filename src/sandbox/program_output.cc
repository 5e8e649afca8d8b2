#include "sandbox/program_output.h"

#include <cerrno>
#include <string>

namespace belljar {

namespace {

// How long the output of a program that has ended may stay open, because a child of it holds it.
constexpr milliseconds kGrace{100};

// What is read of a program's output in a while. More waits in the pipe, and the program with it:
// reading costs this process as much as writing costs the program, which has its limits.
constexpr size_t kMostInAWhile = 1u << 20;
constexpr milliseconds kWhile{5};

}  // namespace

ProgramOutput::ProgramOutput(const asio::any_io_executor& executor, Fd output, Fd errors,
                             OutputSink& sink)
    : out_{executor, output.release()},
      err_{executor, errors.release()},
      sink_{&sink},
      pause_of_out_{executor},
      pause_of_err_{executor},
      drained_{executor} {
  out_.non_blocking(true);
  err_.non_blocking(true);
}

void ProgramOutput::begin() {
  read_when_ready(out_, Stream::out);
  read_when_ready(err_, Stream::err);
}

void ProgramOutput::read_when_ready(Descriptor& pipe, Stream stream) {
  const auto self = shared_from_this();
  pipe.async_wait(Descriptor::wait_read,
                  [self, &pipe, stream](const boost::system::error_code& error) {
                    if (!error && self->sink_ != nullptr) self->read(pipe, stream);
                  });
}

void ProgramOutput::read(Descriptor& pipe, Stream stream) {
  char buffer[65536];
  const ssize_t size = ::read(pipe.native_handle(), buffer, sizeof buffer);
  if (size > 0) {
    sink_->write(stream, {buffer, static_cast<size_t>(size)});
    return read_more(pipe, stream, static_cast<size_t>(size));
  }
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return read_when_ready(pipe, stream);
  pipe.close();
  if (!out_.is_open() && !err_.is_open()) drained_.set();
}

// Now, or when the while is over in which so much was read.
void ProgramOutput::read_more(Descriptor& pipe, Stream stream, size_t size) {
  const auto now = std::chrono::steady_clock::now();
  if (now >= end_of_while_) {
    end_of_while_ = now + kWhile;
    read_in_while_ = 0;
  }
  read_in_while_ += size;
  if (read_in_while_ < kMostInAWhile) return read_when_ready(pipe, stream);
  asio::steady_timer& pause = stream == Stream::out ? pause_of_out_ : pause_of_err_;
  pause.expires_at(end_of_while_);
  pause.async_wait(
      [self = shared_from_this(), &pipe, stream](const boost::system::error_code& error) {
        if (!error && self->sink_ != nullptr) self->read_when_ready(pipe, stream);
      });
}

// What is in the pipes already, at most what they hold: if this process had no time to read it,
// that is not the program's fault.
void ProgramOutput::read_rest() {
  for (const auto& [pipe, stream] :
       {std::pair{&out_, Stream::out}, std::pair{&err_, Stream::err}}) {
    std::string buffer(kMostInAWhile, '\0');
    if (!pipe->is_open()) continue;
    const ssize_t size = ::read(pipe->native_handle(), buffer.data(), buffer.size());
    if (size > 0) sink_->write(stream, {buffer.data(), static_cast<size_t>(size)});
  }
}

Task<> ProgramOutput::finish() {
  if (drained_.is_set()) co_return;
  const bool in_time = co_await with_timeout(kGrace, drained_.wait());
  if (!in_time && sink_ != nullptr) read_rest();
}

void ProgramOutput::detach() {
  sink_ = nullptr;
  pause_of_out_.cancel();
  pause_of_err_.cancel();
  boost::system::error_code ignored;
  out_.close(ignored);
  err_.close(ignored);
}

}  // namespace belljar
