#include "fixtures.h"

namespace belljar::mcp {

namespace {

class FixturePrompt final : public Prompt {
 public:
  using Function = std::function<void(const json::object&, json::array&)>;
  FixturePrompt(std::string name, std::vector<PromptArgument> arguments, Function function)
      : info_{std::move(name), "", "For the conformance suite.", std::move(arguments)},
        function_{std::move(function)} {}
  const PromptInfo& info() const override { return info_; }
  Task<PromptResult> get(json::object arguments, Call&) override {
    PromptResult result;
    function_(arguments, result.messages);
    co_return result;
  }

 private:
  PromptInfo info_;
  Function function_;
};

PromptArgument argument(std::string name) {
  return PromptArgument{std::move(name), "", "For the conformance suite.", true};
}

void simple(const json::object&, json::array& messages) {
  messages.emplace_back(prompt_message("user", text_block("This is a simple prompt for testing.")));
}

void with_arguments(const json::object& arguments, json::array& messages) {
  messages.emplace_back(prompt_message(
      "user", text_block(fmt::format("Prompt with arguments: arg1='{}', arg2='{}'",
                                     string_in(arguments, "arg1"), string_in(arguments, "arg2")))));
}

void with_resource(const json::object& arguments, json::array& messages) {
  messages.emplace_back(
      prompt_message("user", resource_block(string_in(arguments, "resourceUri"), "text/plain",
                                            "Embedded resource content for testing.")));
  messages.emplace_back(
      prompt_message("user", text_block("Please process the embedded resource above.")));
}

void with_image(const json::object&, json::array& messages) {
  messages.emplace_back(prompt_message("user", image_block()));
  messages.emplace_back(prompt_message("user", text_block("Please analyze the image above.")));
}

class FixtureResources final : public ResourceSource {
 public:
  Task<std::vector<ResourceInfo>> list(Call&) override {
    std::vector<ResourceInfo> all;
    for (const char* name : {"static-text", "static-binary", "watched-resource"}) {
      const bool binary = std::string_view{name} == "static-binary";
      all.push_back(ResourceInfo{std::string{"test://"} + name, name, "",
                                 "For the conformance suite.", binary ? "image/png" : "text/plain",
                                 std::nullopt});
    }
    co_return all;
  }
  std::vector<ResourceTemplateInfo> templates() const override {
    return {{"test://template/{id}/data", "template", "", "For the conformance suite.",
             "application/json"}};
  }
  Task<std::optional<json::array>> read(std::string uri, Call&) override {
    constexpr std::string_view kBegin = "test://template/";
    constexpr std::string_view kEnd = "/data";
    json::array contents;
    if (uri == "test://static-text") {
      contents.emplace_back(
          text_contents(uri, "text/plain", "This is the content of the static text resource."));
    } else if (uri == "test://static-binary") {
      contents.emplace_back(blob_contents(uri, "image/png", kPng));
    } else if (uri == "test://watched-resource") {
      contents.emplace_back(text_contents(uri, "text/plain", "Watched resource content"));
    } else if (uri.size() > kBegin.size() + kEnd.size() && uri.starts_with(kBegin) &&
               uri.ends_with(kEnd)) {
      const std::string id = uri.substr(kBegin.size(), uri.size() - kBegin.size() - kEnd.size());
      const json::object data{{"id", id}, {"templateTest", true}, {"data", "Data for ID: " + id}};
      contents.emplace_back(text_contents(uri, "application/json", json::serialize(data)));
    } else {
      co_return std::nullopt;
    }
    co_return contents;
  }
};

class FixtureCompleter final : public Completer {
 public:
  Task<std::optional<Completion>> complete(CompletionRequest request, Call&) override {
    Completion completion;
    for (const char* word : {"test", "testing", "paris", "park"}) {
      if (std::string_view{word}.starts_with(request.value)) completion.values.emplace_back(word);
    }
    co_return completion;
  }
};

}  // namespace

void add_prompts_and_resources(Server& server) {
  const auto add = [&server](std::string name, std::vector<PromptArgument> arguments,
                             FixturePrompt::Function function) {
    server.add(std::make_unique<FixturePrompt>(std::move(name), std::move(arguments),
                                               std::move(function)));
  };
  add("test_simple_prompt", {}, simple);
  add("test_prompt_with_arguments", {argument("arg1"), argument("arg2")}, with_arguments);
  add("test_prompt_with_embedded_resource", {argument("resourceUri")}, with_resource);
  add("test_prompt_with_image", {}, with_image);
  server.add(std::make_unique<FixtureResources>());
  server.add(std::make_unique<FixtureCompleter>());
}

}  // namespace belljar::mcp
