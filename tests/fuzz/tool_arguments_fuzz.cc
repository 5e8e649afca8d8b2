// A JSON array of calls, [{"name": …, "arguments": …}], each of which goes to the tool it names.
// Programs are never what the caller wrote, so that only reading the arguments and reporting is
// at work. "container_id": "@" stands for a sandbox that lives.
#include "base/fake_clock.h"
#include "base/log.h"
#include "base/testing.h"
#include "base/utf8.h"
#include "fuzz.h"
#include "tame_driver.h"
#include "tools/tools.h"

namespace belljar::tools {
namespace {

class OneImage final : public Images {
 public:
  Task<Image> resolve(std::string name, std::function<void(std::string_view)>) override {
    co_return Image{std::move(name), "24.1.0", "/opt/node"};
  }
};

class Caller final : public mcp::Call {
 public:
  const std::string& owner() const override { return owner_; }
  bool wants_progress() const override { return true; }
  void progress(std::string_view message, double) override {
    fuzz::expect(is_utf8(message), "progress is UTF-8");
  }
  void log(mcp::LogLevel, std::string_view, json::value) override {}
  const json::object& client_capabilities() const override { return none_; }
  const json::object& input_responses() const override { return none_; }
  const std::string& request_state() const override { return owner_; }
  void ask(mcp::InputRequired) override {}

 private:
  std::string owner_;
  json::object none_;
};

// Nothing listens on the discard port.
packages::Surroundings host_without_registry() {
  packages::Surroundings host;
  host.prefixes = {};
  host.environment["npm_config_registry"] = "http://127.0.0.1:9/";
  return host;
}

Task<> call_tool(mcp::Tool& tool, json::object arguments) {
  Caller caller;
  try {
    const mcp::ToolResult result = co_await tool.call(std::move(arguments), caller);
    fuzz::expect(is_utf8(json::serialize(result.content)), "a result is UTF-8");
    if (result.structured)
      fuzz::expect(is_utf8(json::serialize(*result.structured)), "structured content is UTF-8");
  } catch (const Error& error) {
    fuzz::expect(is_utf8(error.what()), "an error's text is UTF-8");
    fuzz::expect(error.code() != Code::internal, "no argument leads to an internal error");
  }
}

Task<> call_all(json::array calls) {
  static packages::Registry registry{host_without_registry()};
  FakeClock clock;
  OneImage images;
  const auto executor = co_await asio::this_coro::executor;
  TameDriver driver{executor};
  network::Outside outside{executor, clock};
  Sandboxes sandboxes{executor, driver, SessionLimits{}, clock};
  packages::PackageSets packages{
      executor, registry, clock, "/dev/null/nowhere", packages::PackageRules{}, {}};
  const auto tools = make_tools(
      Context{sandboxes, images, registry, packages, outside, clock, nullptr, Settings{}});
  SandboxSpec spec;
  const SandboxInfo live = co_await sandboxes.create("", std::move(spec));
  for (json::value& call : calls) {
    json::object* params = call.if_object();
    const json::string* name = params != nullptr ? find_string(*params, "name") : nullptr;
    json::value* arguments = params != nullptr ? params->if_contains("arguments") : nullptr;
    if (name == nullptr || arguments == nullptr || !arguments->is_object()) continue;
    json::value* id = arguments->get_object().if_contains("container_id");
    if (id != nullptr && *id == "@") *id = live.id;
    for (const auto& tool : tools)
      if (tool->info().name == *name) co_await call_tool(*tool, arguments->get_object());
  }
  co_await sandboxes.stop_all();
  co_await packages.stop();
  co_await outside.stop();
}

}  // namespace
}  // namespace belljar::tools

// At the end of the process OpenSSL is gone before what it made.
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libcrypto";
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace belljar;
  log::configure(log::Level::off, log::Format::text);
  boost::system::error_code error;
  const json::value calls = json::parse(fuzz::text_of(data, size), error);
  if (error || !calls.is_array() || calls.get_array().size() > 8) return -1;
  run(tools::call_all(calls.get_array()));
  return 0;
}
