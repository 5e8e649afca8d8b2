#include "base/error.h"

#include <cerrno>
#include <cstring>

namespace belljar {

void fail_with(Code code, const std::string& message) {
  throw Error{code, message};
}

void fail_errno(int error, const std::string& what) {
  Code code = Code::unavailable;
  switch (error) {
    case ENOENT: code = Code::not_found; break;
    case EACCES:
    case EPERM: code = Code::denied; break;
    case EINVAL:
    case EBADF: code = Code::internal; break;
    case ENOSPC:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case EDQUOT: code = Code::exhausted; break;
    default: break;
  }
  char buffer[128];
  throw Error{code, what + ": " + ::strerror_r(error, buffer, sizeof buffer)};
}

}  // namespace belljar
