#pragma once

#include <cerrno>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <type_traits>

#include "base/task.h"

// Helpers for unit tests only.
namespace belljar {

// A directory of its own, removed with all that is in it.
class TemporaryDirectory {
 public:
  explicit TemporaryDirectory(const std::string& parent = "/tmp")
      : path_{parent + "/belljar-XXXXXX"} {
    if (::mkdtemp(path_.data()) == nullptr) fail_errno(errno, "make a directory");
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Runs a task on an event loop of its own until it ends; its result or its exception.
template <class T>
T run(Task<T> task) {
  asio::io_context context{1};
  std::exception_ptr error;
  if constexpr (std::is_void_v<T>) {
    asio::co_spawn(context, std::move(task), [&error](const std::exception_ptr& e) { error = e; });
    context.run();
    if (error) std::rethrow_exception(error);
  } else {
    std::optional<T> result;
    asio::co_spawn(context, std::move(task),
                   [&error, &result](const std::exception_ptr& e, T value) {
                     error = e;
                     if (!e) result.emplace(std::move(value));
                   });
    context.run();
    if (error) std::rethrow_exception(error);
    return std::move(*result);
  }
}

}  // namespace belljar
