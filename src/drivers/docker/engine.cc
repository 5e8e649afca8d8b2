#include "drivers/docker/engine.h"

#include <algorithm>
#include <chrono>

#include "base/bytes.h"
#include "base/error.h"
#include "drivers/docker/image_reference.h"

namespace belljar::docker {
namespace {

// So much is said about an image of many layers, by far.
constexpr uint64_t kLongestPull = 256u << 20;

std::string check_container(const std::string& id) {
  if (!is_container_name(id))
    fail(Code::invalid, "'{}' is no name of a container", one_line(id, 64));
  return segment(id);
}

ImageReference check_image(const std::string& reference) {
  auto parsed = parse_image_reference(reference);
  if (!parsed)
    fail(Code::invalid,
         "'{}' is no name of an image: use name:tag or registry.example:5000/name:tag",
         one_line(reference, 64));
  return std::move(*parsed);
}

json::value parse_answer(const std::string& body) {
  boost::system::error_code error;
  json::value value = json::parse(body, error);
  if (error) fail(Code::unavailable, "the container engine answered something that is no JSON");
  return value;
}

json::object parse_object(const std::string& body) {
  json::value value = parse_answer(body);
  if (!value.is_object()) fail(Code::unavailable, "the container engine did not answer an object");
  return std::move(value.get_object());
}

[[noreturn]] void refuse(const EngineAnswer& answer, const std::string& what) {
  const std::string why = read_refusal(answer.body);
  const Code code = answer.status == 404   ? Code::not_found
                    : answer.status == 403 ? Code::denied
                                           : Code::unavailable;
  fail(code, "the container engine refused to {}: {}", what, why.empty() ? "it says no more" : why);
}

// Engines create containers without the limits that their kernel lacks, and only mention it.
void check_warnings(const json::object& answer) {
  const json::value* warnings = find(answer, "Warnings");
  if (warnings == nullptr || !warnings->is_array()) return;
  for (const json::value& warning : warnings->get_array()) {
    const json::string* text = warning.if_string();
    if (text == nullptr || text->find("iscarded") == json::string::npos) continue;
    fail(Code::unavailable, "the container engine would not keep a limit: {}", one_line(*text));
  }
}

}  // namespace

Engine::Engine(std::unique_ptr<EngineHttp> http,
               std::shared_ptr<const RegistryCredentials> credentials)
    : http_{std::move(http)}, credentials_{std::move(credentials)} {}

std::string Engine::versioned(std::string_view target) const {
  if (api_.empty()) fail(Code::internal, "Engine::connect() comes first");
  return fmt::format("/v{}{}", api_, target);
}

Task<json::object> Engine::get(std::string target, std::string what) {
  EngineRequest request;
  request.target = versioned(target);
  const EngineAnswer answer = co_await http_->ask(std::move(request));
  if (answer.status != 200) refuse(answer, what);
  co_return parse_object(answer.body);
}

Task<EngineVersion> Engine::connect() {
  EngineRequest request;
  request.target = "/version";
  const EngineAnswer answer = co_await http_->ask(std::move(request));
  if (answer.status != 200)
    fail(Code::unavailable, "what answers at {} is no container engine (status {} for /version)",
         to_string(http_->address()), answer.status);
  EngineVersion version = read_version(parse_object(answer.body));
  api_ = version.api;
  co_return version;
}

Task<EngineInfo> Engine::info() {
  co_return read_info(co_await get("/info", "describe itself"));
}

Task<std::optional<ImageDetails>> Engine::inspect_image(std::string reference) {
  if (!is_digest(reference)) check_image(reference);
  EngineRequest request;
  request.target = versioned("/images/" + segment(reference) + "/json");
  const EngineAnswer answer = co_await http_->ask(std::move(request));
  if (answer.status == 404) co_return std::nullopt;
  if (answer.status != 200) refuse(answer, "inspect the image " + reference);
  co_return read_image(parse_object(answer.body));
}

Task<ImageDetails> Engine::pull(std::string reference, PullLimits limits,
                                std::function<void(std::string_view)> progress) {
  const ImageReference image = check_image(reference);
  // Without a tag an engine would fetch all that there are.
  const std::string tag =
      !image.digest.empty() ? image.digest : (image.tag.empty() ? "latest" : image.tag);
  PullSubject subject{reference, image.home(), nullptr};
  if (credentials_) subject.login = credentials_->login_for(image);
  EngineRequest request;
  request.method = "POST";
  // Podman may look for a short name in several registries: they are not to get what is for one.
  const std::string from = subject.login != nullptr ? image.full_repository() : image.repository();
  request.target = versioned("/images/create?fromImage=" + segment(from) + "&tag=" + segment(tag));
  if (subject.login != nullptr) request.registry_auth = registry_auth(*subject.login);
  request.limit = limits.time;
  request.largest_body = kLongestPull;
  PullProgress pulled{subject, limits};
  std::string last;
  EngineSink sink = [&pulled, &progress, &last](std::string_view piece) {
    pulled.feed(piece);
    std::string text = pulled.text();
    if (!progress || text == last) return;
    progress(text);
    last = std::move(text);
  };
  const EngineAnswer answer = co_await http_->ask(std::move(request), std::move(sink));
  // All of it: half a credential at the end of a line would not be known for one.
  if (answer.status != 200)
    refuse_pull(subject, answer.status, read_refusal(answer.body, answer.body.size()));
  pulled.feed_end();
  auto details = co_await inspect_image(reference);
  if (!details)
    fail(Code::unavailable, "the container engine pulled {}, but does not have it", reference);
  if (details->size <= limits.size && details->layers <= limits.layers)
    co_return std::move(*details);
  co_await forget_image(reference);
  fail(Code::exhausted, "the image {} has {} in {} layers; allowed are {} and {}", reference,
       format_bytes(details->size), details->layers, format_bytes(limits.size), limits.layers);
}

Task<> Engine::forget_image(std::string reference) {
  EngineRequest request;
  request.method = "DELETE";
  request.target = versioned("/images/" + segment(reference));
  co_await http_->ask(std::move(request));  // one that somebody uses stays, and that is right
}

Task<std::string> Engine::create(std::string name, json::object spec) {
  EngineRequest request;
  request.method = "POST";
  request.target = versioned("/containers/create?name=" + check_container(name));
  request.body = json::serialize(spec);
  const EngineAnswer answer = co_await http_->ask(std::move(request));
  if (answer.status != 201) refuse(answer, "make a container");
  const json::object created = parse_object(answer.body);
  const json::string* const text = find_string(created, "Id");
  std::string id = text != nullptr ? std::string{*text} : "";
  if (!is_container_name(id)) fail(Code::unavailable, "the container engine gave no id");
  std::exception_ptr weaker;
  try {
    check_warnings(created);
  } catch (const Error&) {
    weaker = std::current_exception();
  }
  if (!weaker) co_return id;
  co_await remove(id);
  std::rethrow_exception(weaker);
}

Task<> Engine::start(std::string id) {
  EngineRequest request;
  request.method = "POST";
  request.target = versioned("/containers/" + check_container(id) + "/start");
  const EngineAnswer answer = co_await http_->ask(std::move(request));
  constexpr int kRunsAlready = 304;
  if (answer.status != 204 && answer.status != kRunsAlready) refuse(answer, "start a container");
}

Task<Fd> Engine::attach(std::string id) {
  EngineRequest request;
  request.method = "POST";
  request.target = versioned("/containers/" + check_container(id) +
                             "/attach?stream=1&stdin=1&stdout=1&stderr=0");
  co_return co_await http_->upgrade(std::move(request));
}

Task<ContainerState> Engine::inspect(std::string id) {
  co_return read_state(co_await inspect_whole(std::move(id)));
}

Task<json::object> Engine::inspect_whole(std::string id) {
  co_return co_await get("/containers/" + check_container(id) + "/json", "inspect a container");
}

Task<bool> Engine::saw_out_of_memory(std::string id) {
  check_container(id);
  json::object filters;
  filters["container"] = json::array{json::string{id}};
  filters["event"] = json::array{"oom"};
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now).count();
  EngineRequest request;
  request.target = versioned(fmt::format("/events?since={}&until={}&filters={}", seconds - 10,
                                         seconds + 1, segment(json::serialize(filters))));
  const EngineAnswer answer = co_await http_->ask(std::move(request));
  if (answer.status != 200) refuse(answer, "tell what happened");
  co_return answer.body.find('{') != std::string::npos;
}

Task<std::vector<ContainerSummary>> Engine::list(std::string label) {
  json::array labels;
  labels.emplace_back(label);
  json::object filters;
  filters["label"] = std::move(labels);
  EngineRequest request;
  request.target = versioned("/containers/json?all=1&filters=" + segment(json::serialize(filters)));
  const EngineAnswer answer = co_await http_->ask(std::move(request));
  if (answer.status != 200) refuse(answer, "list containers");
  const json::value value = parse_answer(answer.body);
  if (!value.is_array()) fail(Code::unavailable, "the container engine did not answer a list");
  co_return read_containers(value.get_array());
}

Task<> Engine::remove(std::string id) {
  EngineRequest request;
  request.method = "DELETE";
  request.target = versioned("/containers/" + check_container(id) + "?force=1&v=1");
  const EngineAnswer answer = co_await http_->ask(std::move(request));
  // Gone, or being removed by somebody else.
  constexpr int kGone = 404;
  constexpr int kGoing = 409;
  if (answer.status / 100 != 2 && answer.status != kGone && answer.status != kGoing)
    refuse(answer, "remove a container");
}

}  // namespace belljar::docker
