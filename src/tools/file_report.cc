#include "tools/file_report.h"

#include <algorithm>

#include "base/bytes.h"
#include "files/content_type.h"
#include "files/uri.h"
#include "mcp/tool.h"

namespace belljar::tools {

namespace {

using files::Change;
using files::Type;
using Kind = Change::Kind;

constexpr size_t kSample = 4096;  // enough to tell what a file is

// Where the sandbox itself has the directory.
constexpr const char* kInside = "/workspace/files";

// Builds the report, file by file, within the limits.
class Reporter {
 public:
  Reporter(const files::Directory& directory, const std::string& host_path,
           const FileLimits& limits)
      : directory_{directory},
        on_host_{!host_path.empty()},
        root_{on_host_ ? host_path : kInside},
        limits_{limits},
        total_left_{limits.total} {}

  FileReport report(const files::Changes& changes);

 private:
  void add(const Change& change);
  // What is known of a file that can be returned, and its content if that is wanted.
  struct Looked {
    files::ContentType type;
    std::string content;  // complete, or empty
    uint64_t size = 0;
  };
  std::optional<Looked> look(const Change& change);
  bool may_return(const files::ContentType& type, uint64_t size) const;
  void return_file(const Change& change, const std::string& uri, const Looked& looked);

  const files::Directory& directory_;
  bool on_host_;
  std::string root_;
  const FileLimits& limits_;
  uint64_t total_left_;
  size_t returned_ = 0;
  size_t not_returned_ = 0;
  std::string list_ = "List of changed files:";
  json::array blocks_;
  json::array fields_;
};

// What a line says of things that are not returned.
std::string remark(const Change& change) {
  if (change.kind == Kind::deleted || change.type == Type::file || change.type == Type::directory) {
    return "";
  }
  return fmt::format(" ({}, not followed)", files::type_name(change.type));
}

bool Reporter::may_return(const files::ContentType& type, uint64_t size) const {
  if (returned_ >= limits_.returned || size > total_left_) return false;
  if (type.is_image()) return size <= limits_.image;
  return !on_host_ && size <= limits_.content;
}

std::optional<Reporter::Looked> Reporter::look(const Change& change) {
  try {
    const files::File file = directory_.open_file(change.path);
    Looked looked;
    looked.size = file.info.size;
    std::string sample = files::read_range(file.fd.get(), 0, kSample);
    looked.type = files::content_type(change.path, sample, files::Part::beginning);
    if (may_return(looked.type, looked.size)) {
      looked.content = files::read_range(file.fd.get(), 0, static_cast<size_t>(looked.size));
      looked.type = files::content_type(change.path, looked.content, files::Part::whole);
    }
    return looked;
  } catch (const Error&) {
    return std::nullopt;  // gone, or something else by now: the list still has it
  }
}

void Reporter::return_file(const Change& change, const std::string& uri, const Looked& looked) {
  const std::string name = files::display_name(change.path);
  const bool complete = looked.size == looked.content.size();
  if (returned_ >= limits_.returned) {
    ++not_returned_;
    return;
  }
  ++returned_;
  total_left_ -= std::min<uint64_t>(total_left_, looked.content.size());
  if (looked.type.is_image() && complete) {
    json::object image;
    image["type"] = "image";
    image["data"] = base64(looked.content);
    image["mimeType"] = looked.type.mime;
    blocks_.emplace_back(std::move(image));
  }
  const bool embedded = !on_host_ && complete && !looked.type.is_image();
  json::object block;
  if (!embedded && looked.size > limits_.content) {
    block["type"] = "resource_link";
    block["uri"] = uri;
    block["name"] = name;
    block["mimeType"] = looked.type.mime;
    block["size"] = looked.size;
  } else {
    json::object resource;
    resource["uri"] = uri;
    resource["mimeType"] = looked.type.mime;
    if (embedded && !looked.type.is_text) {
      resource["blob"] = base64(looked.content);
    } else {
      resource["text"] = embedded ? looked.content : name;
    }
    block["type"] = "resource";
    block["resource"] = std::move(resource);
  }
  blocks_.emplace_back(std::move(block));
}

void Reporter::add(const Change& change) {
  const std::string shown =
      files::display_name(change.path) + (change.type == Type::directory ? "/" : "");
  list_ += fmt::format("\n- {} was {}{}", shown, files::kind_name(change.kind), remark(change));
  const std::string uri = files::to_file_uri(root_ + "/" + change.path);
  json::object fields;
  fields["path"] = shown;
  fields["change"] = files::kind_name(change.kind);
  fields["size"] = change.size;
  fields["mimeType"] = nullptr;
  fields["uri"] = uri;
  if (change.kind != Kind::deleted && change.type == Type::file) {
    if (auto looked = look(change)) {
      fields["size"] = looked->size;
      fields["mimeType"] = looked->type.mime;
      return_file(change, uri, *looked);
    }
  }
  fields_.emplace_back(std::move(fields));
}

FileReport Reporter::report(const files::Changes& changes) {
  if (changes.list.empty() && !changes.truncated) return {};
  const size_t listed = std::min(changes.list.size(), limits_.listed);
  for (size_t i = 0; i < listed; ++i) add(changes.list[i]);
  if (listed < changes.list.size()) {
    list_ += fmt::format("\n… and {} more", changes.list.size() - listed);
  }
  if (changes.truncated) {
    list_ += "\n… and possibly more: there are too many files to follow all of them";
  }
  if (not_returned_ > 0) {
    list_ += fmt::format("\nOf these files {} more are not returned here: {} is the limit.",
                         not_returned_, limits_.returned);
  }
  FileReport result;
  result.blocks.emplace_back(mcp::text_block(list_));
  for (json::value& block : blocks_) result.blocks.emplace_back(std::move(block));
  result.fields = std::move(fields_);
  return result;
}

// Up to this much is read on the loop itself: less than the hand-over to a thread costs.
constexpr size_t kFewFiles = 8;
constexpr uint64_t kFewBytes = 64u << 10;

bool is_little(const files::Changes& changes) {
  uint64_t bytes = 0;
  for (const Change& change : changes.list) bytes += change.size;
  return changes.list.size() <= kFewFiles && bytes <= kFewBytes;
}

}  // namespace

FileReport describe_changes(const files::Directory& directory, const files::Changes& changes,
                            const std::string& host_path, const FileLimits& limits) {
  return Reporter{directory, host_path, limits}.report(changes);
}

Task<FilesOfRun> FilesOfRun::begin(const Context& context, Lease& lease) {
  FilesOfRun run;
  run.tracked_ = context.files != nullptr ? context.files->tracked : lease.tracked_files();
  if (!run.tracked_) co_return run;
  const int parent = context.files != nullptr ? context.files->shared->directory.handle()
                                              : lease.sandbox().workspace();
  run.parent_ = std::make_shared<files::Directory>(parent);
  run.name_ = context.files != nullptr ? "." : "files";
  if (context.files != nullptr) run.host_path_ = context.files->shared->path;
  run.mark_ = co_await run.tracked_->mark();
  co_return run;
}

Task<FileReport> FilesOfRun::finish() {
  if (!mark_) co_return FileReport{};
  const files::Changes changes = co_await tracked_->changes(*mark_);
  if (changes.list.empty() && !changes.truncated) co_return FileReport{};
  const auto describe = [parent = parent_, changes, name = name_, path = host_path_] {
    try {
      return describe_changes(parent->open_directory(name), changes, path, FileLimits{});
    } catch (const Error&) {  // the directory itself is gone: nothing to read, only to list
      return describe_changes(*parent, changes, path, FileLimits{.returned = 0});
    }
  };
  if (is_little(changes)) co_return describe();
  co_return co_await run_blocking(describe);
}

}  // namespace belljar::tools
