#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>

namespace belljar {

// What kind of fault an Error is, so that one table per boundary (JSON-RPC, exit status, later
// HTTP) can say what to do with it.
enum class Code {
  invalid,      // the caller asked for something that cannot be
  not_found,    // it does not exist, or not for this caller
  denied,       // it exists but may not be done
  exhausted,    // a limit is reached
  unavailable,  // this host, network or service cannot do it now
  cancelled,    // somebody called it off
  internal,     // our own mistake
};

// The one exception of the project. The message names the step and the object and is written for
// the person or the model that reads it. Thrown only through fail() and sys().
class Error : public std::runtime_error {
 public:
  Error(Code code, const std::string& message) : std::runtime_error{message}, code_{code} {}
  Code code() const { return code_; }

 private:
  Code code_;
};

[[noreturn]] void fail_with(Code code, const std::string& message);
[[noreturn]] void fail_errno(int error, const std::string& what);

template <class... Args>
[[noreturn]] void fail(Code code, fmt::format_string<Args...> format, Args&&... args) {
  fail_with(code, fmt::format(format, std::forward<Args>(args)...));
}

// Checks the result of a system call: sys(::open(…), "open {}", path) returns the result, or throws
// "open /nope: No such file or directory" with a code that fits the errno.
template <class Result, class... Args>
Result sys(Result result, fmt::format_string<Args...> format, Args&&... args) {
  if (result == static_cast<Result>(-1)) {
    const int error = errno;
    fail_errno(error, fmt::format(format, std::forward<Args>(args)...));
  }
  return result;
}

}  // namespace belljar
