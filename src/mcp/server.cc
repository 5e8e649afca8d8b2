#include "mcp/server.h"

#include <algorithm>

#include "mcp/connection.h"

namespace belljar::mcp {

namespace {

template <class Feature>
Feature* find_by_name(const std::vector<std::unique_ptr<Feature>>& all, std::string_view name) {
  for (const auto& feature : all) {
    if (feature->info().name == name) return feature.get();
  }
  return nullptr;
}

}  // namespace

Server::Server(ServerInfo info, ServerOptions options)
    : info_{std::move(info)}, options_{options} {}

Server::~Server() = default;

void Server::add(std::unique_ptr<Tool> tool) {
  const std::string& name = tool->info().name;
  if (find_tool(name) != nullptr) fail(Code::internal, "two tools are named {}", name);
  tools_.push_back(std::move(tool));
  lists_.clear();
}

void Server::add(std::unique_ptr<Prompt> prompt) {
  const std::string& name = prompt->info().name;
  if (find_prompt(name) != nullptr) fail(Code::internal, "two prompts are named {}", name);
  prompts_.push_back(std::move(prompt));
  lists_.clear();
}

void Server::add(std::unique_ptr<ResourceSource> source) {
  resources_.push_back(std::move(source));
}

void Server::add(std::unique_ptr<Completer> completer) {
  completers_.push_back(std::move(completer));
}

void Server::announce_tools_changed() {
  announce(Change{Change::Kind::tools});
}

void Server::announce_prompts_changed() {
  announce(Change{Change::Kind::prompts});
}

void Server::announce_resources_changed() {
  announce(Change{Change::Kind::resources});
}

void Server::announce_resource_updated(std::string uri) {
  announce(Change{Change::Kind::resource, std::move(uri)});
}

void Server::announce(const Change& change) {
  lists_.clear();
  for (Connection* connection : connections_) connection->announce(change);
}

ResourceInterest Server::resource_interest() const {
  ResourceInterest interest;
  for (const Connection* connection : connections_) connection->add_interest(interest);
  return interest;
}

void Server::interest_changed() {
  for (const auto& source : resources_) source->interest_changed();
}

Tool* Server::find_tool(std::string_view name) const {
  return find_by_name(tools_, name);
}

Prompt* Server::find_prompt(std::string_view name) const {
  return find_by_name(prompts_, name);
}

bool Server::offers_tasks() const {
  const auto supports = [](const auto& tool) { return tool->info().tasks != TaskSupport::none; };
  return tasks_ != nullptr && std::ranges::any_of(tools_, supports);
}

json::object Server::capabilities() const {
  const json::object list{{"listChanged", true}};
  json::object result;
  if (!tools_.empty()) result.emplace("tools", list);
  result.emplace("logging", json::object{});
  if (!prompts_.empty()) result.emplace("prompts", list);
  if (!resources_.empty()) {
    result.emplace("resources", json::object{{"subscribe", true}, {"listChanged", true}});
  }
  if (!completers_.empty()) result.emplace("completions", json::object{});
  return result;
}

json::object Server::implementation() const {
  json::object result{{"name", info_.name}, {"version", info_.version}};
  if (!info_.title.empty()) result.emplace("title", info_.title);
  return result;
}

}  // namespace belljar::mcp
