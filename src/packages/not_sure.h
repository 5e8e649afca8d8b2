#pragma once

#include <fmt/format.h>

#include "base/error.h"

namespace belljar::packages {

// Thrown within the resolver where it cannot be certain to do what npm does. Never leaves it.
class NotSure : public Error {
 public:
  explicit NotSure(const std::string& reason) : Error{Code::internal, reason} {}
};

template <class... Args>
[[noreturn]] void be_unsure(fmt::format_string<Args...> format, Args&&... args) {
  throw NotSure{fmt::format(format, std::forward<Args>(args)...)};
}

}  // namespace belljar::packages
