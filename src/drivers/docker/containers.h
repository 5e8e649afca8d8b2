#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/task_group.h"
#include "drivers/docker/agent_client.h"
#include "drivers/docker/carried_agent.h"
#include "drivers/docker/engine.h"
#include "drivers/docker/run_directory.h"
#include "sandbox/spec.h"

namespace belljar::docker {

// A container that runs, and our program in it.
struct Container {
  std::string name;
  RunDirectory::Place place;
  std::unique_ptr<CarriedAgent> carried = nullptr;  // if it has a kernel of its own
  std::shared_ptr<AgentClient> agent = nullptr;
};

// A user and a group, by the numbers that the host has for them.
struct Ids {
  uid_t user = 0;
  gid_t group = 0;
};

// What the operator says about containers, and what containers must know of belljar.
struct ContainerSettings {
  std::string agent_program;     // its path on the host
  std::string data_directory;    // files that containers see are kept beneath it
  std::string engine_directory;  // the same, as the engine calls it
  Ids belljar;                   // who it is
  std::string runtime;           // the OCI runtime; "": the engine's own choice
  std::string authority = {};    // PEM: whom programs trust because of secrets; "": nobody
};

// Makes and removes the containers of this process. Each has a name of this run before it exists,
// so that whatever happens it can be removed.
class Containers {
 public:
  Containers(const asio::any_io_executor& executor, Engine& engine, ContainerSettings settings);
  ~Containers();

  // To be told before the first one is made.
  void know_engine(const EngineVersion& version, bool has_own_kernel);

  // What an image is. An id means the same for ever, unlike a name, so this need not be looked up
  // again for each container.
  void know_image(const ImageDetails& image);

  // The id of the image that has this name now. Error{not_found} if there is none.
  Task<std::string> find_image(std::string name);

  // Of an image that is given by its id. Within a limit of time. Throws Error in words for the
  // caller.
  Task<std::unique_ptr<Container>> make(SandboxSpec spec);

  // Ends all of it; returns when the engine has removed it.
  Task<> remove(std::unique_ptr<Container> container);

  // The same in the background.
  void remove_soon(std::unique_ptr<Container> container);

  // Removes the containers of processes of this data directory that are not alive any more.
  Task<> remove_orphans();

  // Removes everything that is left of this process. To be awaited before destruction.
  Task<> stop();

 private:
  std::map<std::string, std::string> labels() const;
  Task<> create(Container& container, const SandboxSpec& spec);
  Task<std::vector<std::string>> volumes_of(Image image);
  Task<> make_of_image(const Container& container, const Image& image, json::object spec);
  Task<> remove_surely(std::string name);
  Task<std::vector<ContainerSummary>> list(std::string label);
  using Accept = std::function<Task<std::unique_ptr<AgentClient>>()>;
  Task<> start(Container& container);
  Task<> start_carried(Container& container);
  Task<> wait_for_agent(Container& container, const Accept& accept);
  Task<Fd> find_workspace(std::string name);
  Task<> tell_end(std::string name, std::weak_ptr<AgentClient> agent);

  Engine& engine_;
  ContainerSettings settings_;
  std::string seccomp_;
  std::string authority_;                                    // where the engine finds it
  std::map<std::string, std::vector<std::string>> volumes_;  // of images, by their ids
  bool is_podman_ = false;
  bool has_own_kernel_ = false;  // of its runtime
  RunDirectory directory_;
  uint64_t next_ = 1;
  TaskGroup tasks_;
};

}  // namespace belljar::docker
