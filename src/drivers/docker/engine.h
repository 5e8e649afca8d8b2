#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/task.h"
#include "drivers/docker/engine_answers.h"
#include "drivers/docker/engine_http.h"
#include "drivers/docker/pull_progress.h"

namespace belljar::docker {

// A container engine's API (Docker Engine 20.10 or newer, Podman's of the same form), as typed
// calls. Belongs to the loop; any number of calls may run at once, and each must have ended before
// it is destroyed. connect() comes first, and once is enough: there is no connection to lose, and
// an engine that was restarted is the same to us.
//
//   Engine engine{parse_engine_address("unix:///run/docker.sock")};
//   const EngineVersion version = co_await engine.connect();
//   const std::string id = co_await engine.create("belljar-1", container_spec(wishes));
//   co_await engine.start(id);
//
// What the engine answers is read as hostile: it repeats what images and registries say. Names and
// ids are checked against a grammar before they are part of a request (Error{invalid}). An engine
// that refuses throws the code that fits and its own words; one that does not answer, or not what
// it should, Error{unavailable}.
class Engine {
 public:
  // `credentials` may be null: nobody's.
  explicit Engine(std::unique_ptr<EngineHttp> http,
                  std::shared_ptr<const RegistryCredentials> credentials = nullptr);
  explicit Engine(EngineAddress address,
                  std::shared_ptr<const RegistryCredentials> credentials = nullptr)
      : Engine{std::make_unique<EngineHttp>(std::move(address)), std::move(credentials)} {}

  // Agrees on a version of the API, and says who is there. Error{unavailable} in one sentence that
  // says what to start or which version to install.
  Task<EngineVersion> connect();

  Task<EngineInfo> info();

  // Nothing if the engine does not have it. A name as images have them, or "sha256:…".
  Task<std::optional<ImageDetails>> inspect_image(std::string reference);

  // Fetches an image from its registry, as whoever the credentials say (which this registry gets
  // and no other, and no other call), and tells `progress` (may be empty) in words how far it
  // is. Without a tag and digest "latest" is meant. One that is over the limits is given up as soon
  // as that is known (Error{exhausted}), and not kept; one that is nowhere is Error{not_found}; one
  // that the registry keeps from us is Error{denied}. Returns what was pulled: its name may mean
  // something else a moment later.
  Task<ImageDetails> pull(std::string reference, PullLimits limits,
                          std::function<void(std::string_view)> progress);

  // Makes a container, which does not run yet, and returns its id. An image that the engine does
  // not have is Error{not_found}. An engine that would drop one of the limits is refused. Whoever
  // cancels this, or does not get an answer, may call remove(name).
  Task<std::string> create(std::string name, json::object spec);
  Task<> start(std::string id);

  // The stdin and stdout of a container that has not started yet, as one stream that does not
  // block: what is written goes to its stdin, which ends with it; what is read has the heads of
  // agent/stream_reader.h.
  Task<Fd> attach(std::string id);

  Task<ContainerState> inspect(std::string id);      // Error{not_found}
  Task<json::object> inspect_whole(std::string id);  // as the engine says it

  // Whether memory has run out in the container during the last seconds, or does in the next one:
  // takes so long.
  Task<bool> saw_out_of_memory(std::string id);

  // All that have this label ("belljar.run" or "belljar.run=7"), also those that do not run.
  Task<std::vector<ContainerSummary>> list(std::string label);

  // Kills what runs in it, and removes it with its anonymous volumes. `id` may be its name.
  // Harmless if it is gone or going.
  Task<> remove(std::string id);

 private:
  std::string versioned(std::string_view target) const;
  Task<json::object> get(std::string target, std::string what);
  Task<> forget_image(std::string reference);

  std::unique_ptr<EngineHttp> http_;
  std::shared_ptr<const RegistryCredentials> credentials_;
  std::string api_;  // "1.41"
};

}  // namespace belljar::docker
