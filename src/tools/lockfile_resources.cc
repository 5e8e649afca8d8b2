#include "tools/lockfile_resources.h"

#include "tools/run_packages.h"

namespace belljar::tools {

namespace {

constexpr std::string_view kType = "application/json";

class LockfileSource final : public mcp::ResourceSource {
 public:
  explicit LockfileSource(packages::PackageSets& packages) : packages_{packages} {}

  Task<std::vector<mcp::ResourceInfo>> list(mcp::Call&) override {
    co_return std::vector<mcp::ResourceInfo>{};
  }

  std::vector<mcp::ResourceTemplateInfo> templates() const override {
    mcp::ResourceTemplateInfo info;
    info.uri_template = uri_of_lockfile("{sha256}");
    info.name = "lockfile";
    info.title = "Lockfile of a run";
    info.description =
        "The package-lock.json of the packages that a run had, as install.lockfile of its result "
        "names it.";
    info.mime_type = kType;
    return {info};
  }

  Task<std::optional<json::array>> read(std::string uri, mcp::Call&) override {
    const auto sha256 = lockfile_of_uri(uri);
    if (!sha256) co_return std::nullopt;
    const auto text = co_await packages_.lockfile(*sha256);
    if (!text) co_return std::nullopt;
    co_return json::array{mcp::text_contents(uri, kType, *text)};
  }

 private:
  packages::PackageSets& packages_;
};

}  // namespace

void add_lockfile_resources(mcp::Server& server, packages::PackageSets& packages) {
  server.add(std::make_unique<LockfileSource>(packages));
}

}  // namespace belljar::tools
