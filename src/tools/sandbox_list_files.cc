#include <algorithm>

#include "base/bytes.h"
#include "files/uri.h"
#include "tools/basic_tool.h"
#include "tools/program.h"
#include "tools/sandbox_files.h"
#include "tools/schema.h"

namespace belljar::tools {

namespace {

constexpr int64_t kDefaultEntries = 500;
constexpr int64_t kMaxEntries = 5000;
constexpr size_t kRead = 50'000;  // entries that are looked at, those left out included

mcp::ToolInfo describe() {
  mcp::ToolInfo info;
  info.name = "sandbox_list_files";
  info.title = "List files of a sandbox";
  info.description =
      "Lists what is in the /workspace of a sandbox that sandbox_initialize made, or in a "
      "directory "
      "of it, with sizes. What is in node_modules is left out unless the path leads there.";
  json::object entry;
  entry["path"] = of_type("string");
  entry["type"] = of_type("string");
  entry["size"] = of_type("integer");
  json::object properties;
  properties["entries"] = array_of(all_required(std::move(entry)));
  properties["more"] = of_type("integer");
  info.output_schema = all_required(std::move(properties));
  mark_as_look(info);
  info.open_world = false;
  return info;
}

std::vector<Parameter> parameters() {
  return {container_parameter(),
          Parameter{.name = "path",
                    .description = "A directory, relative to /workspace.",
                    .nul = Parameter::Nul::allowed,
                    .fallback = json::value(".")},
          Parameter{.name = "recursive",
                    .type = Parameter::Type::boolean,
                    .description = "Also what is in its directories.",
                    .fallback = json::value(true)},
          Parameter{.name = "maxEntries",
                    .type = Parameter::Type::integer,
                    .description = "How many to return at most.",
                    .fallback = json::value(kDefaultEntries),
                    .min = 1,
                    .max = static_cast<double>(kMaxEntries)}};
}

bool is_in_node_modules(std::string_view path) {
  return path.starts_with("node_modules/") || path.find("/node_modules/") != std::string_view::npos;
}

// What is beneath the place, by its path from /workspace.
files::Listing list_place(const Place& place, bool recursive) {
  files::ListOptions options;
  options.recursive = recursive;
  options.max_entries = kRead;
  options.max_read = kRead;
  files::Listing listing = place.directory->list(place.path, options);
  const bool asked_for_modules = is_in_node_modules(place.prefix + place.path + "/");
  const auto left_out = [asked_for_modules](const files::Listing::Entry& entry) {
    return !asked_for_modules && is_in_node_modules(entry.path);
  };
  std::erase_if(listing.entries, left_out);
  const std::string before = place.prefix + (place.path == "." ? "" : place.path + "/");
  for (files::Listing::Entry& entry : listing.entries) entry.path.insert(0, before);
  return listing;
}

class SandboxListFiles final : public BasicTool {
 public:
  explicit SandboxListFiles(const Context& context)
      : BasicTool{context, describe(), parameters()} {}

  Task<mcp::ToolResult> call(json::object sent, mcp::Call& call) override {
    const Arguments arguments = read(sent);
    const Lease lease = context_.sandboxes.use(arguments.string("container_id"), call.owner());
    const std::string path = arguments.string("path");
    const bool recursive = arguments.boolean("recursive");
    std::vector<Place> places{find_place(context_, lease, path)};
    // The host's directory is another mount, which a listing does not enter by itself.
    const bool has_mount =
        context_.files != nullptr && recursive && places[0].path == "." && places[0].prefix.empty();
    if (has_mount) places.push_back(find_place(context_, lease, "files"));
    const auto look = [places, recursive] {
      files::Listing all;
      for (const Place& place : places) {
        files::Listing listing = list_place(place, recursive);
        std::move(listing.entries.begin(), listing.entries.end(), std::back_inserter(all.entries));
        all.more += listing.more;
        all.more_is_exact = all.more_is_exact && listing.more_is_exact;
      }
      return all;
    };
    files::Listing listing = co_await run_blocking(look);
    const auto by_path = [](const auto& a, const auto& b) { return a.path < b.path; };
    std::sort(listing.entries.begin(), listing.entries.end(), by_path);
    const auto most = static_cast<size_t>(arguments.integer("maxEntries"));
    if (listing.entries.size() > most) {
      listing.more += listing.entries.size() - most;
      listing.entries.resize(most);
    }
    co_return answer(listing);
  }

 private:
  static mcp::ToolResult answer(const files::Listing& listing) {
    std::string text;
    json::array entries;
    for (const files::Listing::Entry& entry : listing.entries) {
      const bool is_file = entry.type == files::Type::file;
      const std::string path = files::display_name(entry.path);
      text += entry.type == files::Type::directory ? path + "/\n"
              : is_file ? fmt::format("{}  {}\n", path, format_bytes(entry.size))
                        : fmt::format("{}  ({})\n", path, files::type_name(entry.type));
      json::object fields;
      fields["path"] = path;
      fields["type"] = files::type_name(entry.type);
      fields["size"] = is_file ? entry.size : 0;
      entries.emplace_back(std::move(fields));
    }
    if (listing.more > 0) {
      text +=
          fmt::format("… and {}{} more\n", listing.more_is_exact ? "" : "at least ", listing.more);
    }
    if (text.empty()) text = "The directory is empty.\n";
    json::object structured;
    structured["entries"] = std::move(entries);
    structured["more"] = listing.more;
    mcp::ToolResult result;
    result.content.emplace_back(mcp::text_block(text));
    result.structured = std::move(structured);
    return result;
  }
};

}  // namespace

std::unique_ptr<mcp::Tool> make_sandbox_list_files(const Context& context) {
  return std::make_unique<SandboxListFiles>(context);
}

}  // namespace belljar::tools
