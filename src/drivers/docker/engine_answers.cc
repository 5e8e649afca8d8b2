#include "drivers/docker/engine_answers.h"

#include <algorithm>
#include <charconv>
#include <tuple>

#include "base/error.h"
#include "base/utf8.h"
#include "drivers/docker/image_reference.h"

namespace belljar::docker {
namespace {

// Of what is listed: more is nothing that an engine says.
constexpr size_t kMostEntries = 10'000;

std::string text_at(const json::object& object, std::string_view key) {
  const json::string* text = find_string(object, key);
  return text != nullptr ? std::string{*text} : "";
}

int64_t number_at(const json::object& object, std::string_view key) {
  const json::value* value = find(object, key);
  if (value == nullptr) return 0;
  if (const int64_t* number = value->if_int64()) return *number;
  return 0;
}

bool truth_at(const json::object& object, std::string_view key) {
  const json::value* value = find(object, key);
  return value != nullptr && value->is_bool() && value->get_bool();
}

const json::array& array_at(const json::object& object, std::string_view key) {
  static const json::array kNone;
  const json::value* value = find(object, key);
  const json::array* array = value != nullptr ? value->if_array() : nullptr;
  return array != nullptr && array->size() <= kMostEntries ? *array : kNone;
}

const json::object& object_at(const json::object& object, std::string_view key) {
  static const json::object kNone;
  const json::object* found = find_object(object, key);
  return found != nullptr && found->size() <= kMostEntries ? *found : kNone;
}

std::vector<std::string> texts(const json::array& array) {
  std::vector<std::string> list;
  for (const json::value& value : array)
    if (const json::string* text = value.if_string()) list.emplace_back(*text);
  return list;
}

std::vector<std::string> keys(const json::object& object) {
  std::vector<std::string> list;
  for (const auto& member : object) list.emplace_back(member.key());
  return list;
}

// "1.41" as numbers that can be compared; {0, 0} if it is none.
using Api = std::pair<int, int>;
Api parse_api(const std::string& text) {
  Api api;
  const char* const end = text.data() + text.size();
  const auto [dot, bad] = std::from_chars(text.data(), end, api.first);
  if (bad != std::errc{} || dot == end || *dot != '.') return {};
  const auto [rest, worse] = std::from_chars(dot + 1, end, api.second);
  return worse == std::errc{} && rest == end ? api : Api{};
}

constexpr Api kOldest{1, 41};  // Docker 20.10: CgroupnsMode
constexpr Api kNewest{1, 47};  // Docker 27; those up to 29 at least still speak it

std::string choose_api(const json::object& answer, const std::string& name) {
  const Api newest = std::min(parse_api(text_at(answer, "ApiVersion")), kNewest);
  const Api oldest = std::max(parse_api(text_at(answer, "MinAPIVersion")), kOldest);
  if (newest < kOldest)
    fail(Code::unavailable, "{} is too old: belljar needs Docker Engine 20.10 or Podman 3 or newer",
         name);
  if (newest < oldest)
    fail(Code::unavailable,
         "{} speaks only versions of its API that belljar does not know yet: "
         "update belljar",
         name);
  return fmt::format("{}.{}", newest.first, newest.second);
}

// "runc version 1.1.5+ds1\ncommit: …" as Podman says it, or just the version.
std::string first_version(std::string_view text) {
  constexpr std::string_view kPrefix = "runc version ";
  if (text.substr(0, kPrefix.size()) == kPrefix) text.remove_prefix(kPrefix.size());
  return one_line(text.substr(0, text.find('\n')), 64);
}

}  // namespace

std::string one_line(std::string_view text, size_t longest) {
  std::string line = to_utf8(text.substr(0, longest));
  for (char& c : line)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  return line;
}

EngineVersion read_version(const json::object& answer) {
  EngineVersion version{.product = "Docker Engine",
                        .version = one_line(text_at(answer, "Version"), 64),
                        .api = "",
                        .runc = ""};
  for (const json::value& value : array_at(answer, "Components")) {
    const json::object* component = value.if_object();
    if (component == nullptr) continue;
    const std::string name = text_at(*component, "Name");
    if (name == "Podman Engine") version.product = "Podman";
    if (name == "runc" || name == "OCI Runtime (runc)")
      version.runc = first_version(text_at(*component, "Version"));
  }
  version.api = choose_api(answer, version.product + " " + version.version);
  return version;
}

namespace {

// gVisor and Kata, by what is executed or by their name: engines say no more.
bool has_own_kernel(std::string_view name, const json::object& runtime) {
  const std::string path = text_at(runtime, "path");
  const std::string type = text_at(runtime, "runtimeType");
  const std::string words = fmt::format("{} {} {}", name, path.substr(path.rfind('/') + 1), type);
  return words.find("runsc") != words.npos || words.find("kata") != words.npos;
}

}  // namespace

EngineInfo read_info(const json::object& answer) {
  EngineInfo info;
  info.runtimes = keys(object_at(answer, "Runtimes"));
  for (const std::string& name : info.runtimes) {
    const json::object& runtime = object_at(object_at(answer, "Runtimes"), name);
    if (has_own_kernel(name, runtime)) info.own_kernel_runtimes.push_back(name);
  }
  info.default_runtime = text_at(answer, "DefaultRuntime");
  const std::string cgroup = text_at(answer, "CgroupVersion");
  info.cgroup_version = cgroup == "1" ? 1 : cgroup == "2" ? 2 : 0;
  for (const std::string& option : texts(array_at(answer, "SecurityOptions"))) {
    const std::string name = option.substr(0, option.find(','));
    info.has_seccomp |= name == "name=seccomp";
    info.is_rootless |= name == "name=rootless";
    info.has_user_namespaces |= name == "name=userns";
  }
  info.is_rootless |= truth_at(answer, "Rootless");
  info.limits_memory = truth_at(answer, "MemoryLimit");
  info.limits_swap = truth_at(answer, "SwapLimit");
  info.limits_pids = truth_at(answer, "PidsLimit");
  info.limits_cpu = truth_at(answer, "CpuCfsQuota");
  info.os = text_at(answer, "OSType");
  info.architecture = text_at(answer, "Architecture");
  return info;
}

ImageDetails read_image(const json::object& answer) {
  const json::object& config = object_at(answer, "Config");
  ImageDetails image;
  image.id = text_at(answer, "Id");
  // Podman leaves the prefix out.
  if (image.id.size() == 64) image.id = "sha256:" + image.id;
  if (!is_digest(image.id)) fail(Code::unavailable, "the container engine gave an image no id");
  image.size = static_cast<uint64_t>(std::max<int64_t>(number_at(answer, "Size"), 0));
  image.layers = static_cast<int>(array_at(object_at(answer, "RootFS"), "Layers").size());
  image.architecture = text_at(answer, "Architecture");
  image.env = texts(array_at(config, "Env"));
  image.volumes = keys(object_at(config, "Volumes"));
  return image;
}

std::string read_mount_source(const json::object& answer, std::string_view place) {
  for (const json::value& value : array_at(answer, "Mounts")) {
    const json::object* mount = value.if_object();
    if (mount != nullptr && text_at(*mount, "Destination") == place)
      return text_at(*mount, "Source");
  }
  return "";
}

ContainerState read_state(const json::object& answer) {
  const json::object& state = object_at(answer, "State");
  return {.running = truth_at(state, "Running"),
          .out_of_memory = truth_at(state, "OOMKilled"),
          .exit_code = static_cast<int>(number_at(state, "ExitCode")),
          .pid = static_cast<int>(number_at(state, "Pid")),
          .error = one_line(text_at(state, "Error"))};
}

std::vector<ContainerSummary> read_containers(const json::array& answer) {
  std::vector<ContainerSummary> list;
  for (const json::value& value : answer) {
    const json::object* container = value.if_object();
    if (container == nullptr) continue;
    ContainerSummary summary;
    summary.id = text_at(*container, "Id");
    if (!is_container_name(summary.id)) continue;
    summary.created = number_at(*container, "Created");
    for (const auto& label : object_at(*container, "Labels"))
      if (const json::string* text = label.value().if_string())
        summary.labels.emplace(label.key(), *text);
    list.push_back(std::move(summary));
  }
  return list;
}

std::string read_refusal(std::string_view body, size_t longest) {
  boost::system::error_code error;
  const json::value value = json::parse({body.data(), body.size()}, error);
  const json::object* object = error ? nullptr : value.if_object();
  if (object == nullptr) return one_line(body, longest);
  // Podman's "cause" is a part of "message".
  const std::string message = text_at(*object, "message");
  return one_line(message.empty() ? body : message, longest);
}

}  // namespace belljar::docker
