#include "drivers/docker/agent/channel.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace belljar::agent {

namespace {

bool is_passing(int error) {
  return error == EAGAIN || error == EINTR;
}

}  // namespace

ssize_t write_some(int fd, std::string_view bytes) {
  const ssize_t sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (sent >= 0 || errno != ENOTSOCK) return sent;
  return ::write(fd, bytes.data(), bytes.size());
}

Channel::Channel(uint32_t number, bool sends, bool receives)
    : number_{number}, sends_{sends}, receives_{receives} {}

void Channel::refuse(FrameQueue& out) {
  source.reset();
  finish_sending(out);
  if (receives_) out.add(FrameType::gone, number_);
  sink.reset();
}

void Channel::pump(FrameQueue& out) {
  read_source(out);
  write_sink(out);
}

void Channel::read_source(FrameQueue& out) {
  char bytes[kMostData];
  while (can_send() && out.has_room()) {
    const ssize_t count = ::read(source.get(), bytes, std::min(kMostData, may_send_));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && is_passing(errno)) {
      source_is_ready = false;
    } else if (count <= 0) {
      finish_sending(out);
    } else {
      may_send_ -= static_cast<uint32_t>(count);
      out.add(FrameType::data, number_, {bytes, static_cast<size_t>(count)});
    }
  }
}

void Channel::finish_sending(FrameQueue& out) {
  source.reset();
  if (sends_) out.add(FrameType::end, number_);
  sends_ = false;
}

void Channel::write_sink(FrameQueue& out) {
  while (sink && sink_is_ready && !arrived_.empty()) {
    const ssize_t count = write_some(sink.get(), arrived_);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && is_passing(errno)) {
      sink_is_ready = false;
      break;
    }
    if (count < 0) return lose_sink(out);
    arrived_.erase(0, static_cast<size_t>(count));
    taken_ += static_cast<uint32_t>(count);
  }
  if (receives_ && taken_ >= kWindow / 2) {
    out.add_number(FrameType::credit, number_, taken_);
    may_come_ += taken_;
    taken_ = 0;
  }
  if (receives_ || !arrived_.empty() || !sink) return;
  ::shutdown(sink.get(), SHUT_WR);  // of a connection the other direction goes on
  sink.reset();
}

void Channel::lose_sink(FrameQueue& out) {
  if (!sink) return;
  sink.reset();
  arrived_.clear();
  if (receives_) out.add(FrameType::gone, number_);
}

bool Channel::take_data(std::string_view bytes) {
  if (!receives_ || bytes.size() > may_come_) return false;
  may_come_ -= static_cast<uint32_t>(bytes.size());
  if (sink) arrived_ += bytes;
  return true;
}

bool Channel::take_end() {
  const bool is_right = receives_;
  receives_ = false;
  return is_right;
}

bool Channel::take_credit(uint32_t count) {
  if (count > kWindow - may_send_) return false;
  may_send_ += count;
  return true;
}

void Channel::take_gone(FrameQueue& out) {
  finish_sending(out);
}

}  // namespace belljar::agent
