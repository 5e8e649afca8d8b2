#pragma once

#include <string>
#include <vector>

#include "tools/npm_resolve.h"

namespace belljar::tools {

// Runs the install scripts of packages that the operator allows, by `npm rebuild` in a sandbox of
// its own without network and without anything of the operator's; it ends with this call, and with
// it whatever the scripts have started. They find the packages as a program would: what they
// change is theirs, and taken over by work.collect. Of what they printed the end, if it is much.
//
// A failure is an Error whose first line says what is wrong and what to do; the last lines that
// were printed follow. One of an optional package is only told of in what is returned. Cancelling
// ends everything.
Task<packages::ScriptOutcome> run_install_scripts(NpmContext context, packages::ScriptWork work,
                                                  packages::InstallProgress progress);

// What is started for these packages ("node_modules/a"). They are named by their place, for the
// name of a place may be another package's by an alias.
Command rebuild_command(const Image& image, const std::vector<packages::Dependency>& dependencies,
                        const std::vector<std::string>& paths);

// Both that a set of packages may want of npm.
packages::PackageSets::Npm npm_in_sandbox(const NpmContext& context);

}  // namespace belljar::tools
