#include <gmock/gmock.h>

#include "tools/advice_testing.h"

namespace belljar::tools {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(AdviceOnModules, NamesThePackageThatIsMissing) {
  Failure failure{R"(import _ from 'lodash';)"};
  const char* const advice =
      "Package \"lodash\" is not installed: add {\"name\": \"lodash\", \"version\": \"latest\"} to "
      "\"dependencies\".";
  EXPECT_EQ(
      failure.uncaught(
          R"(Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'lodash' imported from /workspace/index.js
    at ModuleJob.syncLink (node:internal/modules/esm/module_job:277:33) {
  code: 'ERR_MODULE_NOT_FOUND'
})"),
      advice);  // Node.js 20, 22, 24, 26
}

TEST(AdviceOnModules, TakesTheScopeAndTheNameOfAPath) {
  Failure failure{R"(import fp from '@a/b/c.js';)"};
  const char* const advice =
      "Package \"@a/b\" is not installed: add {\"name\": \"@a/b\", \"version\": \"latest\"} to "
      "\"dependencies\".";
  EXPECT_EQ(
      failure.uncaught(
          R"(Error [ERR_MODULE_NOT_FOUND]: Cannot find package '@a/b' imported from /workspace/index.js
    at ModuleJob.syncLink (node:internal/modules/esm/module_job:277:33) {
  code: 'ERR_MODULE_NOT_FOUND'
})"),
      advice);  // Node.js 20, 22, 24, 26
}

TEST(AdviceOnModules, KnowsDynamicImports) {
  Failure failure{R"(await import('axios/lib');)"};
  const char* const advice =
      "Package \"axios\" is not installed: add {\"name\": \"axios\", \"version\": \"latest\"} to "
      "\"dependencies\".";
  EXPECT_EQ(
      failure.uncaught(
          R"(Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'axios' imported from /workspace/index.js
    at node:internal/modules/esm/loader:639:32 {
  code: 'ERR_MODULE_NOT_FOUND'
})"),
      advice);  // Node.js 20, 22, 24, 26
}

TEST(AdviceOnModules, SaysThatNativeCodeWasNotBuilt) {
  Failure failure{R"(import a from 'addon';)"};
  const char* const reports[] = {
      R"(Error: Cannot find module './build/Release/addon.node'
Require stack:
- /workspace/node_modules/addon/index.js
    at Module._resolveFilename (node:internal/modules/cjs/loader:1420:15) {
  code: 'MODULE_NOT_FOUND',
  requireStack: [ '/workspace/node_modules/addon/index.js' ]
})",
      R"(Error: Could not locate the bindings file. Tried:
 → /workspace/node_modules/addon/build/addon.node
    at bindings (/workspace/node_modules/bindings/bindings.js:126:9))",
      R"(Error: No native build was found for platform=linux arch=x64 runtime=node abi=137 node=24.1.0
    loaded from: /workspace/node_modules/addon

    at load.resolve.load.path (/workspace/node_modules/node-gyp-build/node-gyp-build.js:60:9))",
  };
  for (const char* report : reports)
    EXPECT_THAT(failure.uncaught(report), HasSubstr("packages-allow-scripts=addon")) << report;
}

TEST(AdviceOnModules, FindsTheBuiltInModuleThatWasMeant) {
  Failure failure{R"(import fs from 'node:fss';)"};
  const char* const advice =
      "Node.js has no built-in module \"node:fss\". Did you mean \"node:fs\"?";
  EXPECT_EQ(
      failure.uncaught(R"(Error [ERR_UNKNOWN_BUILTIN_MODULE]: No such built-in module: node:fss
    at new ModuleJob (node:internal/modules/esm/module_job:368:26) {
  code: 'ERR_UNKNOWN_BUILTIN_MODULE'
})"),
      advice);  // Node.js 20, 22, 24, 26
}

TEST(AdviceOnModules, FindsTheBuiltInPathThatWasMeant) {
  Failure failure{R"(import { readFile } from 'fs/promise';)"};
  const char* const advice =
      "Node.js has no built-in module \"fs/promise\". Did you mean \"node:fs/promises\"?";
  EXPECT_EQ(
      failure.uncaught(
          R"(Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'fs' imported from /workspace/index.js
    at ModuleJob.syncLink (node:internal/modules/esm/module_job:277:33) {
  code: 'ERR_MODULE_NOT_FOUND'
})"),
      advice);  // Node.js 20, 22, 24, 26
}

TEST(AdviceOnModules, KnowsThatThereAreNoPathAliases) {
  Failure failure{R"(import x from '@/lib/x';)"};
  const char* const advice =
      "\"@/lib\" is neither an npm package nor a file: write the path of a file as \"./…\", there "
      "are no path aliases here.";
  EXPECT_EQ(
      failure.uncaught(
          R"(Error [ERR_MODULE_NOT_FOUND]: Cannot find package '@/lib' imported from /workspace/index.js
    at ModuleJob.syncLink (node:internal/modules/esm/module_job:277:33) {
  code: 'ERR_MODULE_NOT_FOUND'
})"),
      advice);  // Node.js 20, 22, 24, 26
}

TEST(AdviceOnModules, TellsHowToGetASecondFile) {
  Failure failure{R"(import x from './lib/util.js';)"};
  const char* const advice =
      "There is no module /workspace/lib/util.js: run_js_ephemeral runs one file in an empty "
      "directory. Put the code into it, or use sandbox_initialize, sandbox_write_files and run_js, "
      "where files persist.";
  EXPECT_EQ(
      failure.uncaught(
          R"(Error [ERR_MODULE_NOT_FOUND]: Cannot find module '/workspace/lib/util.js' imported from /workspace/index.js
    at ModuleJob.link (node:internal/modules/esm/module_job:389:17) {
  code: 'ERR_MODULE_NOT_FOUND',
  url: 'file:///workspace/lib/util.js'
})"),
      advice);  // Node.js 20, 22, 24, 26
}

TEST(AdviceOnModules, TellsTheWholeNameOfTheFile) {
  Failure failure{
      R"(import fs from 'node:fs'; fs.writeFileSync('util.js','');await import('./util');)"};
  const char* const advice =
      "There is no module /workspace/util: an import needs the whole name of the file, here "
      "\"./util.js\".";
  EXPECT_EQ(
      failure.uncaught(
          R"(Error [ERR_MODULE_NOT_FOUND]: Cannot find module '/workspace/util' imported from /workspace/index.js
Did you mean to import "./util.js"?
    at TracingChannel.tracePromise (node:diagnostics_channel:551:22) {
  code: 'ERR_MODULE_NOT_FOUND',
  url: 'file:///workspace/util'
})"),
      advice);  // Node.js 20, 22, 24, 26
}

TEST(AdviceOnModules, TellsToNameTheFileInADirectory) {
  Failure failure{R"(import fs from 'node:fs'; fs.mkdirSync('lib'); await import('./lib');)"};
  const char* const advice =
      "A directory cannot be imported: name the file in it, as in \"./lib/index.js\".";
  EXPECT_EQ(
      failure.uncaught(
          R"(Error [ERR_UNSUPPORTED_DIR_IMPORT]: Directory import '/workspace/lib' is not supported resolving ES modules imported from /workspace/index.js
    at TracingChannel.tracePromise (node:diagnostics_channel:551:22) {
  code: 'ERR_UNSUPPORTED_DIR_IMPORT',
  url: 'file:///workspace/lib'
})"),
      advice);  // Node.js 20, 22, 24, 26
}

TEST(AdviceOnModules, TellsHowJsonIsImported) {
  Failure failure{R"(import j from './package.json';)"};
  const char* const advice =
      "JSON is imported with an attribute: import data from \"./data.json\" with { type: \"json\" "
      "};";
  EXPECT_EQ(
      failure.uncaught(
          R"(TypeError [ERR_IMPORT_ASSERTION_TYPE_MISSING]: Module "file:///workspace/package.json" needs an import attribute of type "json"
    at async ModuleLoader.loadAndTranslate (node:internal/modules/esm/loader:543:45) {
  code: 'ERR_IMPORT_ASSERTION_TYPE_MISSING'
})"),
      advice);  // Node.js 20
  EXPECT_EQ(
      failure.uncaught(
          R"(TypeError [ERR_IMPORT_ATTRIBUTE_MISSING]: Module "file:///workspace/package.json" needs an import attribute of "type: json"
    at ModuleJob.syncLink (node:internal/modules/esm/module_job:277:33) {
  code: 'ERR_IMPORT_ATTRIBUTE_MISSING'
})"),
      advice);  // Node.js 22, 24, 26
}

TEST(AdviceOnModules, TellsThatAddressesAreNotImported) {
  Failure failure{R"(import x from 'https://esm.sh/lodash';)"};
  const char* const advice =
      "Node.js does not import from addresses such as https: or npm:. Add the package to "
      "\"dependencies\" and import it by its name.";
  EXPECT_EQ(
      failure.uncaught(
          R"(Error [ERR_UNSUPPORTED_ESM_URL_SCHEME]: Only URLs with a scheme in: file, data, and node are supported by the default ESM loader. Received protocol 'https:'
    at ModuleLoader.getModuleJobForImport (node:internal/modules/esm/loader:265:41) {
  code: 'ERR_UNSUPPORTED_ESM_URL_SCHEME'
})"),
      advice);  // Node.js 20
  EXPECT_EQ(
      failure.uncaught(
          R"(Error [ERR_UNSUPPORTED_ESM_URL_SCHEME]: Only URLs with a scheme in: file and data are supported by the default ESM loader. Received protocol 'https:'
    at ModuleJob.syncLink (node:internal/modules/esm/module_job:277:33) {
  code: 'ERR_UNSUPPORTED_ESM_URL_SCHEME'
})"),
      advice);  // Node.js 22, 24, 26
}

TEST(AdviceOnModules, KnowsPathsThatAPackageDoesNotExport) {
  Failure failure{R"(import fs from 'node:fs';
fs.mkdirSync('node_modules/cj',{recursive:true});fs.writeFileSync('node_modules/cj/package.json','{"exports":{".":"./i.js"}}');
await import('cj/sub');)"};
  const char* const advice =
      "The package is installed but does not offer that path: import from the package's name "
      "itself, or from a path that its documentation gives.";
  EXPECT_EQ(
      failure.uncaught(
          R"(Error [ERR_PACKAGE_PATH_NOT_EXPORTED]: Package subpath './sub' is not defined by "exports" in /workspace/node_modules/cj/package.json imported from /workspace/index.js
    at ModuleLoader.getOrCreateModuleJob (node:internal/modules/esm/loader:610:35) {
  code: 'ERR_PACKAGE_PATH_NOT_EXPORTED'
})"),
      advice);  // Node.js 20, 22, 24, 26
}

TEST(AdviceOnModules, KnowsImportsOfThePackageItself) {
  Failure failure{R"(import x from '#x';)"};
  const char* const advice =
      "Imports that begin with \"#\" need an entry in package.json: write a relative path instead.";
  EXPECT_EQ(
      failure.uncaught(
          R"(TypeError [ERR_PACKAGE_IMPORT_NOT_DEFINED]: Package import specifier "#x" is not defined in package /workspace/package.json imported from /workspace/index.js
    at ModuleJob.syncLink (node:internal/modules/esm/module_job:277:33) {
  code: 'ERR_PACKAGE_IMPORT_NOT_DEFINED'
})"),
      advice);  // Node.js 20, 22, 24, 26
}

TEST(AdviceOnModules, KnowsExportsThatAreNotThere) {
  Failure failure{R"(import { readFil } from 'node:fs';)"};
  const char* const advice =
      "\"node:fs\" has no export named \"readFil\": check the spelling, or see what there is with "
      "console.log(Object.keys(await import('node:fs'))).";
  EXPECT_EQ(failure.uncaught(R"(file:///workspace/index.js:1
import { readFil } from 'node:fs';
         ^^^^^^^
SyntaxError: The requested module 'node:fs' does not provide an export named 'readFil')"),
            advice);  // Node.js 20, 22, 24, 26
}

TEST(AdviceOnModules, KnowsThatThereIsNoDefaultExport) {
  Failure failure{R"(import fs from 'node:fs';
fs.writeFileSync('m.js','export const a = 1;');fs.writeFileSync('n.js',"import b from './m.js';");
await import('./n.js');)"};
  const char* const advice =
      "\"./m.js\" has no default export: import by name, as in import { name } from './m.js'; or "
      "all of it, import * as all from './m.js';";
  EXPECT_EQ(failure.uncaught(R"(file:///workspace/n.js:1
import b from './m.js';
       ^
SyntaxError: The requested module './m.js' does not provide an export named 'default')"),
            advice);  // Node.js 20, 22, 24, 26
}

const char* const kNoLodash =
    "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'lodash' imported from /workspace/index.js";

TEST(AdviceOnModules, NamesAllPackagesThatTheProgramNeeds) {
  Failure failure{
      "import _ from 'lodash';\nimport fs from 'fs';\nimport a, { b } from \"@x/y/z\";\n"
      "import './own.js';\nawait import('dayjs');\nimport express from 'express';\n"};
  failure.run.dependencies = {"express"};
  EXPECT_EQ(failure.uncaught(kNoLodash),
            "Package \"lodash\" is not installed: add {\"name\": \"lodash\", \"version\": "
            "\"latest\"}, {\"name\": \"@x/y\", \"version\": \"latest\"}, {\"name\": \"dayjs\", "
            "\"version\": \"latest\"} to \"dependencies\".");
}

TEST(AdviceOnModules, DoesNotAskForAPackageThatIsThere) {
  Failure failure{"import _ from 'lodash';"};
  failure.run.dependencies = {"lodash"};
  EXPECT_THAT(failure.uncaught(kNoLodash), HasSubstr("Uncaught Error: Cannot find package"));
}

TEST(AdviceOnModules, AsksOnlyForWhatCanBeTheNameOfAPackage) {
  Failure failure{""};
  for (const char* name : {"../../etc", "a b", "x\", \"version\": \"file:/etc", "$(rm)", ".x", "-",
                           "ж", "http://x/y"}) {
    const std::string advice = failure.uncaught(
        fmt::format("Error: Cannot find package '{}' imported from /workspace/index.js", name));
    EXPECT_THAT(advice, Not(HasSubstr("\"dependencies\""))) << name;
  }
}

TEST(AdviceOnModules, TellsWhereFilesComeFromInASession) {
  Failure failure{"import './a.js';"};
  failure.run.session = true;
  EXPECT_THAT(failure.uncaught("Error [ERR_MODULE_NOT_FOUND]: Cannot find module "
                               "'/workspace/a.js' imported from /workspace/index.js"),
              HasSubstr("sandbox_write_files"));
}

}  // namespace
}  // namespace belljar::tools
