#pragma once

#include <exception>
#include <optional>
#include <type_traits>

#include "base/task.h"

// Helpers for unit tests only.
namespace belljar {

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
