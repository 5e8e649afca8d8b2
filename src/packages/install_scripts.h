#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/task.h"
#include "packages/dependency.h"
#include "packages/shared_work.h"

namespace belljar::packages {

// The packages of a tree whose install scripts are to run, by their paths ("node_modules/a").
struct ScriptPlan {
  std::vector<std::string> required;
  std::vector<std::string> optional;  // if one of these fails, the tree is whole without it

  bool empty() const { return required.empty() && optional.empty(); }
};

struct ScriptWork {
  // node_modules, O_PATH: to be shown to the scripts, never changed.
  std::shared_ptr<const std::vector<Fd>> directories;
  std::vector<Dependency> dependencies;  // that the tree is of
  ScriptPlan plan;
  // To be called once, by run_blocking(), with the tree as the scripts have left it.
  std::function<void(int node_modules)> collect;
};

// How scripts ended.
struct ScriptOutcome {
  std::string output;               // that they printed
  std::vector<std::string> failed;  // paths of optional packages
};

// Runs install scripts where they can do no harm, in the order and with the surroundings that npm
// gives them. Error if a required one fails.
using RunScripts = std::function<Task<ScriptOutcome>(ScriptWork work, InstallProgress progress)>;

// What is to be known of scripts that have run.
struct ScriptReport {
  std::string output;
  std::vector<std::string> left_out;  // of what they made, and why
  std::vector<std::string> failed;    // paths of optional packages that are not there therefore
};

// What may run, and how. With nothing in it, nothing runs.
struct ScriptRules {
  std::vector<std::string> allowed;  // names of packages, as the registry has them
  RunScripts run;
  std::shared_ptr<ScriptReport> report;  // null: nobody wants to know
};

struct LayerRecipe;
class StoreDirectory;

// Those of the recipe that are allowed and that have install scripts, or sources that npm would
// have node-gyp build. What is in bundles has none that count: nobody says what it is. All packages
// must be in the store. Blocks.
ScriptPlan plan_scripts(const StoreDirectory& store, const LayerRecipe& recipe);

}  // namespace belljar::packages
