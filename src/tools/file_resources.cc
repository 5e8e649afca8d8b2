#include "tools/file_resources.h"

#include <fmt/chrono.h>

#include "base/bytes.h"
#include "files/content_type.h"
#include "files/uri.h"

namespace belljar::tools {

namespace {

constexpr std::string_view kTemplate = "file://{+filepath}";
constexpr size_t kMaxRead = 10u << 20;
constexpr size_t kHead = 4096;  // what is read to tell the type
constexpr size_t kMaxNames = 10'000;
constexpr size_t kMaxProposals = 100;

std::string iso_time(const timespec& time) {
  // Years that a calendar can show; a program may set any time.
  constexpr time_t kLast = 253402300799;  // 9999-12-31
  if (time.tv_sec < 0 || time.tv_sec > kLast) return "";
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(time.tv_sec));
}

// Nothing if there is no such file, or none that may be read.
std::optional<files::File> open_file(const SharedFiles& files, const std::string& path) {
  try {
    return files.directory.open_file(path);
  } catch (const Error& e) {
    if (e.code() == Code::not_found || e.code() == Code::denied) return std::nullopt;
    throw;
  }
}

std::vector<mcp::ResourceInfo> describe_all(const SharedFiles& files,
                                            const std::vector<std::string>& paths) {
  std::vector<mcp::ResourceInfo> all;
  for (const std::string& path : paths) {
    const auto file = open_file(files, path);
    if (!file) continue;
    mcp::ResourceInfo info;
    info.uri = uri_of_path(files, path);
    info.name = files::display_name(path);
    info.mime_type = files::content_type(path, files::read_range(file->fd.get(), 0, kHead),
                                         files::Part::beginning)
                         .mime;
    info.size = file->info.size;
    info.last_modified = iso_time(file->info.mtime);
    all.push_back(std::move(info));
  }
  return all;
}

std::optional<std::string> load(const SharedFiles& files, const std::string& path) {
  const auto file = open_file(files, path);
  if (!file) return std::nullopt;
  // The file may have grown since it was opened, so what counts is what is read.
  const bool too_large = file->info.size > kMaxRead;
  std::string bytes = too_large ? "" : files::read_range(file->fd.get(), 0, kMaxRead + 1);
  if (too_large || bytes.size() > kMaxRead) {
    fail(Code::invalid,
         "{} is larger than {}, the most that a resource may have; read a part of it with "
         "sandbox_read_file, or have a program in a sandbox read ./files/{}",
         files::display_name(path), format_bytes(kMaxRead), files::display_name(path));
  }
  return bytes;
}

std::optional<json::array> read_contents(const SharedFiles& files, const std::string& path,
                                         const std::string& uri) {
  const auto bytes = load(files, path);
  if (!bytes) return std::nullopt;
  const auto type = files::content_type(path, *bytes, files::Part::whole);
  json::array contents;
  contents.emplace_back(type.is_text ? mcp::text_contents(uri, type.mime, *bytes)
                                     : mcp::blob_contents(uri, type.mime, base64(*bytes)));
  return contents;
}

class FileSource final : public mcp::ResourceSource {
 public:
  FileSource(std::shared_ptr<const SharedFiles> files, FileWatch& watch)
      : files_{std::move(files)}, watch_{watch} {}

  Task<std::vector<mcp::ResourceInfo>> list(mcp::Call&) override {
    auto find_all = [files = files_] { return list_files(*files).files; };
    std::vector<std::string> paths = co_await run_blocking(find_all);
    auto describe = [files = files_, paths] { return describe_all(*files, paths); };
    watch_.observe_list(std::move(paths));
    co_return co_await run_blocking(describe);
  }

  std::vector<mcp::ResourceTemplateInfo> templates() const override {
    mcp::ResourceTemplateInfo info;
    info.uri_template = kTemplate;
    info.name = "files";
    info.title = "Files that programs share with you";
    info.description = fmt::format(
        "A file in {}, which programs in sandboxes see as ./files. filepath is the absolute path "
        "on "
        "this machine.",
        files::display_name(files_->path));
    return {info};
  }

  Task<std::optional<json::array>> read(std::string uri, mcp::Call&) override {
    const auto path = path_of_uri(*files_, uri);
    if (!path) co_return std::nullopt;
    auto work = [files = files_, path, uri] { return read_contents(*files, *path, uri); };
    co_return co_await run_blocking(work);
  }

  void interest_changed() override { watch_.interest_changed(); }

 private:
  std::shared_ptr<const SharedFiles> files_;
  FileWatch& watch_;
};

// What a person has typed of a path: the folder it is in, and how the name begins.
struct Typed {
  std::string folder;  // relative to the shared directory; "." for itself
  std::string beginning;
};

// Nothing if it leads elsewhere. A relative path is one below the shared directory.
std::optional<Typed> read_typed(const SharedFiles& files, std::string_view value) {
  const std::string root = files.path + "/";
  if (root.starts_with(value)) return Typed{".", ""};
  if (value.starts_with(root)) value.remove_prefix(root.size());
  if (value.starts_with('/')) return std::nullopt;
  const size_t slash = value.rfind('/');
  if (slash == std::string_view::npos) return Typed{".", std::string{value}};
  try {
    return Typed{files::check_relative_path("filepath", value.substr(0, slash)),
                 std::string{value.substr(slash + 1)}};
  } catch (const Error&) {
    return std::nullopt;
  }
}

mcp::Completion propose(const SharedFiles& files, const Typed& typed) {
  mcp::Completion completion;
  files::ListOptions options;
  options.max_entries = kMaxNames;
  files::Listing listing;
  try {
    listing = files.directory.list(typed.folder, options);
  } catch (const Error&) {
    return completion;
  }
  const std::string parent = typed.folder == "." ? "" : typed.folder + "/";
  for (const files::Listing::Entry& entry : listing.entries) {
    const bool folder = entry.type == files::Type::directory;
    if (!folder && entry.type != files::Type::file) continue;
    // A name that cannot be typed, or shown as it is, is none to propose.
    if (!entry.path.starts_with(typed.beginning) || files::display_name(entry.path) != entry.path) {
      continue;
    }
    ++completion.total;
    if (completion.values.size() >= kMaxProposals) continue;
    completion.values.push_back(
        fmt::format("{}/{}{}{}", files.path, parent, entry.path, folder ? "/" : ""));
  }
  return completion;
}

class FileCompleter final : public mcp::Completer {
 public:
  explicit FileCompleter(std::shared_ptr<const SharedFiles> files) : files_{std::move(files)} {}

  Task<std::optional<mcp::Completion>> complete(mcp::CompletionRequest request,
                                                mcp::Call&) override {
    const bool ours = request.kind == mcp::CompletionRequest::Kind::resource &&
                      request.name == kTemplate && request.argument == "filepath";
    if (!ours) co_return std::nullopt;
    const auto typed = read_typed(*files_, request.value);
    if (!typed) co_return mcp::Completion{};
    auto work = [files = files_, typed] { return propose(*files, *typed); };
    co_return co_await run_blocking(work);
  }

 private:
  std::shared_ptr<const SharedFiles> files_;
};

}  // namespace

void add_file_resources(mcp::Server& server, std::shared_ptr<const SharedFiles> files,
                        FileWatch& watch) {
  server.add(std::make_unique<FileSource>(files, watch));
  server.add(std::make_unique<FileCompleter>(std::move(files)));
}

}  // namespace belljar::tools
