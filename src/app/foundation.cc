#include "app/foundation.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "app/own_rights.h"
#include "app/secret_settings.h"
#include "base/log.h"
#include "base/posix.h"
#include "drivers/linux/seal.h"

namespace belljar::app {

namespace {

using docker::Dial;

// Root in a container may be an ordinary user outside: then the id that belljar would become does
// not exist here. "0 0 4294967295" is the host's own map.
bool is_host_root() {
  if (::geteuid() != 0) return false;
  uid_t inside = 0;
  uid_t outside = 0;
  uid_t count = 0;
  const std::string map = read_file("/proc/self/uid_map");
  return std::sscanf(map.c_str(), "%u %u %u", &inside, &outside, &count) == 3 && inside == 0 &&
         outside == 0 && count > kOwnId;
}

Foundation start(const Config& config) {
  Foundation foundation;
  if (config.driver != DriverName::native) {
    // First of all: it has everything that belljar has at its start.
    const Dial dial = config.driver == DriverName::both ? Dial::by_process : Dial::by_itself;
    foundation.engine = std::make_unique<docker::EngineHttp>(
        docker::parse_engine_address(config.docker.host, config.docker.certificates), dial);
    foundation.agent = own_program("belljar-agent");
  }
  if (config.driver != DriverName::docker) {
    foundation.launcher = linux_driver::start_launcher(linux_driver::launcher_path());
    foundation.was_root = is_host_root();
  }
  foundation.own_user = foundation.was_root ? kOwnId : ::geteuid();
  foundation.own_group = foundation.was_root ? kOwnId : ::getegid();
  foundation.data_dir = config.data_dir;
  foundation.data_path = std::filesystem::absolute(config.data_dir).string();
  foundation.registry =
      std::make_unique<packages::Registry>(packages::Surroundings::of_this_process());
  foundation.registry_credentials = docker::read_registry_credentials(config.docker.config_file);
  return foundation;
}

// The socket for `belljar list` and its siblings. Everything else works without it.
std::unique_ptr<OwnSocket> open_socket() {
  try {
    return std::make_unique<OwnSocket>(ServerSockets::make(ServerSockets::usual_path()));
  } catch (const Error& e) {
    log::info("`belljar list` will not find this server: {}", e.what());
    return nullptr;
  }
}

// The directory and what is directly in it, without following a link: enough to add to it. Another
// belljar may have done it already, or do it now.
void give_away(int directory) {
  const std::unique_ptr<DIR, int (*)(DIR*)> entries{
      ::fdopendir(::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)), ::closedir};
  if (!entries) return;
  sys(::fchown(::dirfd(entries.get()), kOwnId, kOwnId), "give the data directory away");
  while (const dirent* entry = ::readdir(entries.get())) {  // NOLINT(concurrency-mt-unsafe)
    if (std::string_view{entry->d_name} == "..") continue;
    const int result = ::fchownat(directory, entry->d_name, kOwnId, kOwnId, AT_SYMLINK_NOFOLLOW);
    if (result != 0 && errno != ENOENT) fail_errno(errno, "give the data directory away");
  }
}

// belljar may add to the directory later, when it is nobody's friend: it is reached by a handle
// then, because the way to it may lead through somebody's home.
void keep_data_directory(Foundation& foundation) {
  make_directories(foundation.data_dir + "/runtimes");
  make_directories(foundation.data_dir + "/downloads", 0700);
  foundation.data = open_directory(foundation.data_dir);
  if (!is_host_root()) return;
  const Fd runtimes = open_directory(foundation.data_dir + "/runtimes");
  give_away(foundation.data.get());
  give_away(runtimes.get());
  if (!foundation.was_root) return;
  foundation.data_dir = fmt::format("/proc/self/fd/{}", foundation.data.get());
}

struct OwnDirectory {
  std::string owner;  // "": everybody's
  std::string path;
  Fd handle;
};

std::vector<OwnDirectory> open_files(const Config& config, const FoundationWishes& wishes) {
  std::vector<OwnDirectory> files;
  const auto add = [&files](const std::string& owner, const std::string& path) {
    files.push_back(OwnDirectory{owner, path, tools::open_files_directory(path)});
  };
  if (!config.tools.files_dir.empty()) add("", config.tools.files_dir);
  for (const auto& [owner, path] : wishes.files_of_owners) add(owner, path);
  if (files.size() > linux_driver::kMostFiles) {
    fail(Code::invalid, "there are {} files directories; there may be {}", files.size(),
         linux_driver::kMostFiles);
  }
  return files;
}

std::vector<int> handles_of(const std::vector<OwnDirectory>& files) {
  std::vector<int> handles;
  handles.reserve(files.size());
  for (const OwnDirectory& directory : files) handles.push_back(directory.handle.get());
  return handles;
}

void keep_files(Foundation& foundation, OwnDirectory files, int view) {
  auto directory =
      std::make_unique<tools::FilesDirectory>(files.path, std::move(files.handle), view);
  if (files.owner.empty()) {
    foundation.files = std::move(directory);
  } else {
    foundation.files_of_owners[files.owner] = std::move(directory);
  }
}

// For sandboxes that an engine makes. There is no launcher whose user namespace belljar could hide
// in: it stays who it is, because whoever may speak to the engine may do everything anyway, and
// does not write or execute.
Foundation lay_for_engine(const Config& config, const FoundationWishes& wishes) {
  Foundation foundation = start(config);
  foundation.data_dir = foundation.data_path;
  keep_data_directory(foundation);
  if (is_host_root()) make_files_as(kOwnId);
  std::vector<OwnDirectory> files = open_files(config, wishes);
  foundation.registry->read_configuration();
  foundation.secrets = open_secrets(config.secrets);
  if (wishes.socket == LocalSocket::yes) foundation.socket = open_socket();
  if (wishes.with_rights) wishes.with_rights();
  std::vector<int> writable{foundation.data.get()};
  if (foundation.socket) writable.push_back(foundation.socket->directory());
  sys(::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0), "hide the memory");
  sys(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "give up new privileges");
  confine_self(writable);
  for (OwnDirectory& directory : files) {
    const int view = directory.handle.get();
    keep_files(foundation, std::move(directory), view);
  }
  return foundation;
}

}  // namespace

Foundation lay_foundation(const Config& config, const FoundationWishes& wishes) {
  if (config.driver == DriverName::docker) return lay_for_engine(config, wishes);
  Foundation foundation = start(config);
  keep_data_directory(foundation);
  std::vector<OwnDirectory> files = open_files(config, wishes);
  if (foundation.engine && foundation.was_root && !files.empty()) {
    fail(Code::invalid,
         "with both drivers, belljar of root cannot give files directories to programs: it becomes "
         "a user of its own, as whom containers write nothing into yours. Run belljar as the user "
         "to whom {} belongs, or set driver to native or docker",
         files.front().path);
  }
  const linux_driver::SealRequest request{foundation.data.get(), handles_of(files), kOwnId};
  linux_driver::ask_to_seal(foundation.launcher, request);
  foundation.registry->read_configuration();
  foundation.secrets = open_secrets(config.secrets);
  if (wishes.socket == LocalSocket::yes) foundation.socket = open_socket();
  if (wishes.with_rights) wishes.with_rights();
  linux_driver::Seal seal = linux_driver::wait_for_seal(foundation.launcher, request);
  std::vector<int> writable{foundation.data.get()};
  if (foundation.socket) {
    if (foundation.was_root) foundation.socket->give_to(kOwnId);
    writable.push_back(foundation.socket->directory());
  }
  give_up_rights(seal.user_namespace.get(), seal.own_id);
  confine_self(writable);
  for (size_t i = 0; i < files.size(); ++i)
    keep_files(foundation, std::move(files[i]), seal.files[i].get());
  return foundation;
}

Foundation lay_bare_foundation(const Config& config) {
  return start(config);
}

}  // namespace belljar::app
