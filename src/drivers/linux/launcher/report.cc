#include "drivers/linux/launcher/report.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "drivers/linux/launcher/rights.h"

namespace belljar::launcher {

namespace {

void send(int pipe, const Report& report) {
  // Smaller than PIPE_BUF, so it is written whole or not at all; if the launcher is gone nobody
  // listens.
  while (::write(pipe, &report, sizeof report) < 0 && errno == EINTR) {
  }
}

void send_along(int socket, Report report, const std::vector<int>& fds) {
  iovec part{&report, sizeof report};
  Rights rights;
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  rights.attach(message, fds);
  while (::sendmsg(socket, &message, MSG_NOSIGNAL) < 0 && errno == EINTR) {
  }
}

}  // namespace

void report_pid(int pipe, pid_t pid) {
  send(pipe, {Report::pid, 0, pid, {}});
}

void report_ready(int pipe) {
  send(pipe, {Report::ready, 0, 0, {}});
}

void report_begun(int pipe) {
  send(pipe, {Report::begun, 0, 0, {}});
}

void report_ready(int socket, const std::vector<int>& fds) {
  send_along(socket, {Report::ready, 0, 0, {}}, fds);
}

void report_mapped(int socket, int ids) {
  send_along(socket, {Report::mapped, 0, 0, {}}, {ids});
}

ssize_t receive_report(int socket, Report& report, std::vector<Fd>& fds) {
  iovec part{&report, sizeof report};
  Rights rights;
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  rights.expect(message);
  const ssize_t size = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  if (size > 0) fds = Rights::take(message);
  return size;
}

void report_failure_and_exit(int pipe, const char* step, int error) {
  Report report{Report::failed, error, 0, {}};
  ::strncpy(report.step, step, sizeof report.step - 1);
  send(pipe, report);
  ::_exit(125);
}

}  // namespace belljar::launcher
