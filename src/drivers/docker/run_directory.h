#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/fd.h"

namespace belljar::docker {

// Where this process keeps what containers see of the host, beneath belljar's data directory:
// docker/RUN/NUMBER for each sandbox. Who holds docker/RUN/lock is alive; everything of others is
// left over. What is in docker/ is nobody else's to reach: a container sees its own directory only.
class RunDirectory {
 public:
  // A sandbox's own directory, removed with this object. Blocks then.
  class Place {
   public:
    Place(std::string path, std::string engine_path, Fd handle)
        : path_{std::move(path)},
          engine_path_{std::move(engine_path)},
          handle_{std::move(handle)} {}
    Place(Place&& other) noexcept = default;
    Place& operator=(Place&&) = delete;
    ~Place();

    const std::string& path() const { return path_; }
    const std::string& engine_path() const { return engine_path_; }  // what the engine calls it
    int handle() const { return handle_.get(); }

   private:
    std::string path_;
    std::string engine_path_;
    Fd handle_;
  };

  // `engine_directory` is what the engine calls the data directory, if belljar has another path to
  // it.
  RunDirectory(const std::string& data_directory, const std::string& engine_directory);
  explicit RunDirectory(const std::string& data_directory)
      : RunDirectory{data_directory, data_directory} {}
  ~RunDirectory();
  RunDirectory(const RunDirectory&) = delete;
  RunDirectory& operator=(const RunDirectory&) = delete;

  // DATA/docker/RUN: for what belongs to no single sandbox.
  std::string path() const { return root_ + "/" + run_; }
  std::string engine_path() const { return engine_root_ + "/" + run_; }

  // Of this process; goes into the labels of its containers.
  const std::string& run() const { return run_; }

  // Tells containers of this data directory from those of another.
  const std::string& data_label() const { return data_label_; }

  Place make_place();

  // True if a living process has the directory of that run.
  bool is_alive(const std::string& run) const;

  // Removes the directories of runs that are not alive. Blocks.
  void remove_dead();

 private:
  std::string root_;  // DATA/docker
  std::string engine_root_;
  std::string run_;
  std::string data_label_;
  Fd lock_;
  uint64_t next_ = 1;
};

}  // namespace belljar::docker
