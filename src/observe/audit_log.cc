#include "observe/audit_log.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "base/error.h"
#include "base/log.h"
#include "base/request_context.h"

namespace belljar::observe {

namespace {

std::string now() {
  const auto time =
      std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(time),
                     time.time_since_epoch().count() % 1000);
}

}  // namespace

void AuditLog::add(json::object fields) {
  if (!file_) return;
  json::object line{{"time", now()}};
  if (const auto& request = current_request()) {
    line["request"] = request->id;
    if (!request->traceparent.empty()) line["traceparent"] = request->traceparent;
  }
  for (auto& field : fields) line.emplace(field.key(), std::move(field.value()));
  const std::string text = json::serialize(line) + "\n";
  const ssize_t written = ::write(file_.get(), text.data(), text.size());
  if (written == static_cast<ssize_t>(text.size())) return;
  log::error("the audit log lost a line: {}",
             written < 0 ? std::generic_category().message(errno) : "the disk is full");
}

Fd open_audit_log(const std::string& path) {
  // Not through a link: who may write into the directory must not choose what belljar writes to.
  Fd file{::open(path.c_str(),
                 O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK,
                 0600)};
  struct stat info {};
  if (!file || ::fstat(file.get(), &info) != 0) {
    const int error = errno;
    fail(Code::invalid, "the audit log (audit-log) is \"{}\", which cannot be written: {}", path,
         std::generic_category().message(error));
  }
  if (!S_ISREG(info.st_mode)) {
    fail(Code::invalid, "the audit log (audit-log) is \"{}\", which is not an ordinary file", path);
  }
  return file;
}

}  // namespace belljar::observe
