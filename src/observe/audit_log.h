#pragma once

#include <string>

#include "base/fd.h"
#include "base/json.h"

namespace belljar::observe {

// What was done for whom: one JSON object per line, added to the end of a file with one write(2)
// each, so that lines of several servers do not mix and none is ever changed. A file that is
// rotated by copying and truncating goes on at its new end.
class AuditLog {
 public:
  AuditLog() = default;  // keeps nothing
  explicit AuditLog(Fd file) : file_{std::move(file)} {}

  explicit operator bool() const { return static_cast<bool>(file_); }

  // `fields` after "time" and whatever request is the current one. A line that cannot be written is
  // reported in the log: work goes on.
  void add(json::object fields);

 private:
  Fd file_;
};

// Makes the file if there is none, for its owner only (0600). Error{invalid} names it.
Fd open_audit_log(const std::string& path);

}  // namespace belljar::observe
