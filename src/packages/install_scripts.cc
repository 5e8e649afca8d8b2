#include "packages/install_scripts.h"

#include <sys/stat.h>

#include <algorithm>

#include "base/error.h"
#include "base/json.h"
#include "base/posix.h"
#include "packages/beneath.h"
#include "packages/layer_builder.h"
#include "packages/package_store.h"

namespace belljar::packages {
namespace {

constexpr size_t kLargestPackageJson = 1u << 20;

bool has_script(const json::object& package, const char* name) {
  const json::object* scripts = find_object(package, "scripts");
  const json::string* text = scripts != nullptr ? find_string(*scripts, name) : nullptr;
  return text != nullptr && !text->empty();
}

bool has_gyp_file(int files) {
  struct stat status {};
  return ::fstatat(files, "binding.gyp", &status, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISREG(status.st_mode);
}

bool has_scripts(int files) {
  json::object package;
  try {
    const Fd file{sys(open_beneath(files, "package.json", O_RDONLY), "open package.json")};
    const json::value whole =
        json::parse(read_to_end(file.get(), "package.json", kLargestPackageJson));
    if (!whole.is_object()) return false;
    package = whole.as_object();
  } catch (const std::exception&) {
    return false;  // npm takes a package.json that it cannot read for one without scripts
  }
  const bool has_install = has_script(package, "preinstall") || has_script(package, "install");
  if (has_install || has_script(package, "postinstall")) return true;
  const json::value* gyp = find(package, "gypfile");
  const bool is_refused = gyp != nullptr && gyp->is_bool() && !gyp->get_bool();
  return !is_refused && has_gyp_file(files);
}

}  // namespace

ScriptPlan plan_scripts(const StoreDirectory& store, const LayerRecipe& recipe) {
  ScriptPlan plan;
  const std::vector<std::string>& allowed = recipe.scripts.allowed;
  for (const LockedPackage* package : wanted_packages(recipe.lockfile, recipe.target.platform)) {
    if (package->in_bundle) continue;
    if (std::find(allowed.begin(), allowed.end(), package->name) == allowed.end()) continue;
    const std::string id = PackageStore::id_of(package->integrity);
    const Fd files = open_directory(store.content(id) + "/files");
    if (!has_scripts(files.get())) continue;
    (package->optional ? plan.optional : plan.required).push_back(package->path);
  }
  return plan;
}

}  // namespace belljar::packages
