#include "fixtures.h"

namespace belljar::mcp {

namespace {

constexpr const char* kWav = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";
constexpr milliseconds kStep{50};  // between the messages of one call

constexpr const char* kModernSchema = R"({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "$defs": {"address": {"$anchor": "addressDef", "type": "object",
    "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
  "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"},
    "contactMethod": {"type": "string", "enum": ["phone", "email"]},
    "phone": {"type": "string"}, "email": {"type": "string"}},
  "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
  "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
  "then": {"required": ["phone"]},
  "else": {"required": ["email"]},
  "additionalProperties": false})";

Task<ToolResult> simple_text(json::object, Call&) {
  co_return text_result("This is a simple text response for testing.");
}

Task<ToolResult> image(json::object, Call&) {
  ToolResult result;
  result.content.emplace_back(image_block());
  co_return result;
}

Task<ToolResult> audio(json::object, Call&) {
  ToolResult result;
  result.content.emplace_back(
      json::object{{"type", "audio"}, {"data", kWav}, {"mimeType", "audio/wav"}});
  co_return result;
}

Task<ToolResult> embedded_resource(json::object, Call&) {
  ToolResult result;
  result.content.emplace_back(resource_block("test://embedded-resource", "text/plain",
                                             "This is an embedded resource content."));
  co_return result;
}

Task<ToolResult> mixed(json::object, Call&) {
  ToolResult result = text_result("Multiple content types test:");
  result.content.emplace_back(image_block());
  result.content.emplace_back(resource_block("test://mixed-content-resource", "application/json",
                                             R"({"test":"data","value":123})"));
  co_return result;
}

Task<ToolResult> error_handling(json::object, Call&) {
  fail(Code::invalid, "This tool intentionally returns an error for testing");
}

Task<ToolResult> with_progress(json::object, Call& call) {
  for (int step = 0; step < 3; ++step) {
    if (step > 0) co_await sleep_for(kStep);
    call.progress("step", 3);
  }
  co_return text_result("done");
}

Task<ToolResult> with_logging(json::object, Call& call) {
  call.log(LogLevel::info, "fixture", "Tool execution started");
  co_await sleep_for(kStep);
  call.log(LogLevel::info, "fixture", "Tool processing data");
  co_await sleep_for(kStep);
  call.log(LogLevel::info, "fixture", "Tool execution completed");
  co_return text_result("Tool with logging executed successfully");
}

Task<ToolResult> reconnection(json::object, Call& call) {
  call.let_client_go();
  co_await sleep_for(milliseconds{100});
  co_return text_result("Reconnection test completed");
}

Task<ToolResult> announce(Server& server, Change::Kind kind) {
  if (kind == Change::Kind::tools) server.announce_tools_changed();
  if (kind == Change::Kind::prompts) server.announce_prompts_changed();
  co_return text_result("announced");
}

}  // namespace

void add_tools(Server& server) {
  add_tool(server, fixture("test_simple_text"), simple_text);
  add_tool(server, fixture("test_image_content"), image);
  add_tool(server, fixture("test_audio_content"), audio);
  add_tool(server, fixture("test_embedded_resource"), embedded_resource);
  add_tool(server, fixture("test_multiple_content_types"), mixed);
  add_tool(server, fixture("test_error_handling"), error_handling);
  add_tool(server, fixture("test_tool_with_progress"), with_progress);
  add_tool(server, fixture("test_tool_with_logging"), with_logging);
  add_tool(server, fixture("test_logging_tool"), with_logging);
  add_tool(server, fixture("test_reconnection"), reconnection);
  add_tool(server, fixture("json_schema_2020_12_tool", kModernSchema), echo);
  add_tool(server, fixture("test_x_mcp_header", R"({"type":"object","properties":{
               "region":{"type":"string","x-mcp-header":"Region"}},"required":["region"]})"),
           echo);
  add_tool(server, fixture("test_trigger_tool_change"),
           [&server](json::object, Call&) { return announce(server, Change::Kind::tools); });
  add_tool(server, fixture("test_trigger_prompt_change"),
           [&server](json::object, Call&) { return announce(server, Change::Kind::prompts); });
}

}  // namespace belljar::mcp
