#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/task_group.h"

namespace belljar::packages {

// What is being done right now, for whoever waits.
using InstallProgress = std::function<void(std::string_view message)>;

// Work that several tasks may want at once and that is done once. Belongs to the loop.
class SharedWork {
 public:
  using Work = std::function<Task<>(const InstallProgress& progress)>;

  explicit SharedWork(asio::any_io_executor executor);
  ~SharedWork();
  SharedWork(const SharedWork&) = delete;
  SharedWork& operator=(const SharedWork&) = delete;

  // Does the work, unless a work of that name is under way: then waits for its end. Everybody who
  // waits gets its progress and its exception. Whoever is cancelled stops waiting; the last one to
  // do so cancels the work, without waiting for its end.
  Task<> join(std::string name, Work work, InstallProgress progress);

  // To be awaited before the destructor.
  Task<> stop();

 private:
  struct Flight;
  class Waiter;
  Task<> run(std::shared_ptr<Flight> flight, std::string name, Work work);
  void forget(const std::string& name, const Flight& flight);

  asio::any_io_executor executor_;
  std::map<std::string, std::shared_ptr<Flight>> flights_;
  TaskGroup group_;
};

}  // namespace belljar::packages
