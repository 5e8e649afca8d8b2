#include "serve/call_record.h"

#include "base/error.h"
#include "base/task_group.h"
#include "base/utf8.h"
#include "serve/bearer_tokens.h"

namespace belljar::serve {

namespace {

constexpr size_t kMostEntries = 100;  // of a list, in one line
constexpr size_t kMostText = 512;

bool is_true(const json::object& fields, std::string_view name) {
  const json::value* value = find(fields, name);
  return value != nullptr && value->is_bool() && value->get_bool();
}

// As much of a caller's text as belongs into a log.
std::string shortened(std::string_view text) {
  return std::string{text.substr(0, utf8_prefix(text, kMostText))};
}

size_t text_size(const json::object& fields, std::string_view name) {
  const json::string* text = find_string(fields, name);
  return text != nullptr ? text->size() : 0;
}

// The members `names` of every object of a list.
json::array excerpt(const json::object& fields, std::string_view list,
                    std::initializer_list<const char*> names) {
  json::array entries;
  const json::value* member = find(fields, list);
  if (member == nullptr || !member->is_array()) return entries;
  for (const json::value& element : member->get_array()) {
    const json::object* object = element.if_object();
    if (object == nullptr || entries.size() == kMostEntries) continue;
    json::object entry;
    for (const char* name : names) {
      const json::value* value = find(*object, name);
      if (value == nullptr) continue;
      entry[name] = value->is_string() ? json::value(shortened(value->get_string())) : *value;
    }
    entries.emplace_back(std::move(entry));
  }
  return entries;
}

std::string name_of(Code code) {
  switch (code) {
    case Code::invalid: return "invalid";
    case Code::not_found: return "not_found";
    case Code::denied: return "denied";
    case Code::exhausted: return "exhausted";
    case Code::unavailable: return "unavailable";
    case Code::cancelled: return "cancelled";
    case Code::internal: break;
  }
  return "internal";
}

}  // namespace

std::string outcome_of(const mcp::ToolResult& result) {
  if (!result.structured) return result.is_error ? "error" : "ok";
  const json::object& fields = *result.structured;
  if (is_true(fields, "timedOut")) return "timed_out";
  if (is_true(fields, "oomKilled")) return "out_of_memory";
  if (!result.is_error) return fields.contains("background") ? "started" : "ok";
  const json::string* signal = find_string(fields, "signal");
  return signal != nullptr && *signal == "SIGKILL" ? "killed" : "failed";
}

std::string outcome_of(const std::exception_ptr& error) {
  if (is_cancellation(error)) return "cancelled";
  try {
    std::rethrow_exception(error);
  } catch (const Error& e) {
    return name_of(e.code());
  } catch (...) {
    return "internal";
  }
}

size_t code_bytes(const json::object& arguments) {
  return text_size(arguments, "code");
}

size_t output_bytes(const mcp::ToolResult& result) {
  if (!result.structured) return 0;
  return text_size(*result.structured, "stdout") + text_size(*result.structured, "stderr");
}

json::object audit_arguments(const json::object& arguments, const std::string& network) {
  json::object fields;
  if (const json::string* id = find_string(arguments, "container_id"))
    fields["sandbox"] = shortened(*id);
  if (const json::string* code = find_string(arguments, "code"))
    fields["codeSha256"] = sha256_of(*code);
  if (const json::value* commands = find(arguments, "commands"))
    fields["commandsSha256"] = sha256_of(json::serialize(*commands));
  json::array packages = excerpt(arguments, "dependencies", {"name", "version"});
  if (!packages.empty()) fields["dependencies"] = std::move(packages);
  const json::string* policy = find_string(arguments, "network");
  fields["network"] = policy != nullptr ? shortened(*policy) : network;
  return fields;
}

json::object audit_result(const mcp::ToolResult& result) {
  json::object fields;
  if (!result.structured) return fields;
  for (const char* name : {"exitCode", "signal", "container_id"}) {
    if (const json::value* value = find(*result.structured, name)) fields[name] = *value;
  }
  json::array files = excerpt(*result.structured, "files", {"path", "change", "size"});
  if (!files.empty()) fields["files"] = std::move(files);
  json::array reached =
      excerpt(*result.structured, "network", {"host", "port", "verdict", "bytes"});
  if (!reached.empty()) fields["reached"] = std::move(reached);
  return fields;
}

}  // namespace belljar::serve
