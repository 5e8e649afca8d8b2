#include "base/bytes.h"
#include "files/archive_writer.h"
#include "files/uri.h"
#include "tools/basic_tool.h"
#include "tools/program.h"
#include "tools/sandbox_files.h"
#include "tools/schema.h"

namespace belljar::tools {

namespace {

constexpr size_t kMaxFiles = 200;
constexpr size_t kMaxBytes = 8u << 20;  // of all files of one call
constexpr milliseconds kTime{30'000};

mcp::ToolInfo describe() {
  mcp::ToolInfo info;
  info.name = "sandbox_write_files";
  info.title = "Write files into a sandbox";
  info.description = fmt::format(
      "Writes files into the /workspace of a sandbox that sandbox_initialize made, together with "
      "the directories they need. A file that is there is replaced. At most {} files and {} in one "
      "call.",
      kMaxFiles, format_bytes(kMaxBytes));
  json::object file;
  file["path"] = of_type("string");
  file["size"] = of_type("integer");
  json::object properties;
  properties["files"] = array_of(all_required(std::move(file)));
  info.output_schema = all_required(std::move(properties));
  info.destructive = true;
  info.idempotent = true;
  info.open_world = false;
  return info;
}

std::vector<Parameter> parameters() {
  Parameter file{.name = "file", .type = Parameter::Type::object};
  file.fields = {Parameter{.name = "path",
                           .description = "Relative to /workspace, such as \"src/main.js\".",
                           .required = true,
                           .nul = Parameter::Nul::allowed},  // check_relative_path() says it better
                 Parameter{.name = "content",
                           .description = "The text, or the bytes in base64.",
                           .required = true,
                           .nul = Parameter::Nul::allowed,
                           .max_length = kMaxBytes * 4 / 3 + 4},
                 Parameter{.name = "encoding",
                           .description = "How the content is given.",
                           .fallback = json::value("utf8"),
                           .choices = {"utf8", "base64"}}};
  return {container_parameter(), Parameter{.name = "files",
                                           .type = Parameter::Type::array,
                                           .description = "The files.",
                                           .required = true,
                                           .min_length = 1,
                                           .max_length = kMaxFiles,
                                           .fields = {std::move(file)}}};
}

std::vector<files::ArchiveFile> read_files(const Arguments& arguments) {
  std::vector<files::ArchiveFile> list;
  size_t total = 0;
  for (const Arguments& entry : arguments.objects("files")) {
    const std::string argument = fmt::format("files[{}].path", list.size());
    files::ArchiveFile file;
    file.path = files::check_relative_path(argument, entry.string("path"));
    if (file.path == ".") {
      fail(Code::invalid, "argument \"{}\" names a directory; it must be a file", argument);
    }
    file.content = entry.string("content");
    if (entry.string("encoding") == "base64") {
      auto bytes = parse_base64(file.content);
      if (!bytes) fail(Code::invalid, "argument \"files[{}].content\" is not base64", list.size());
      file.content = std::move(*bytes);
    }
    total += file.content.size();
    list.push_back(std::move(file));
  }
  if (total > kMaxBytes) {
    fail(Code::invalid, "the files have {} together; one call may write {}: use several",
         format_bytes(total), format_bytes(kMaxBytes));
  }
  return list;
}

class SandboxWriteFiles final : public BasicTool {
 public:
  explicit SandboxWriteFiles(const Context& context)
      : BasicTool{context, describe(), parameters()} {}

  Task<mcp::ToolResult> call(json::object sent, mcp::Call& call) override {
    const Arguments arguments = read(sent);
    const std::vector<files::ArchiveFile> list = read_files(arguments);
    Lease lease = context_.sandboxes.use(arguments.string("container_id"), call.owner());
    // Unpacked inside, with the rights of a program: whatever waits at these paths can only harm
    // the sandbox itself.
    Command command;
    command.argv = {"/bin/tar", "-xf", "-", "-C", "/workspace", "--no-same-owner"};
    command.input_file = std::make_shared<const Fd>(files::make_archive(list));
    RunLimits limits;
    limits.timeout = kTime;
    const RunResult result = co_await lease.run(std::move(command), limits, nullptr);
    if (!result.outcome.ok()) {
      fail(Code::unavailable, "the files could not be written: {}",
           result.err.text.empty() ? "tar was killed" : result.err.text);
    }
    co_return answer(list);
  }

 private:
  static mcp::ToolResult answer(const std::vector<files::ArchiveFile>& list) {
    json::array fields;
    for (const files::ArchiveFile& file : list) {
      json::object entry;
      entry["path"] = files::display_name(file.path);
      entry["size"] = file.content.size();
      fields.emplace_back(std::move(entry));
    }
    json::object structured;
    structured["files"] = std::move(fields);
    mcp::ToolResult result;
    result.content.emplace_back(mcp::text_block(
        fmt::format("Wrote {} {}.", list.size(), list.size() == 1 ? "file" : "files")));
    result.structured = std::move(structured);
    return result;
  }
};

}  // namespace

std::unique_ptr<mcp::Tool> make_sandbox_write_files(const Context& context) {
  return std::make_unique<SandboxWriteFiles>(context);
}

}  // namespace belljar::tools
