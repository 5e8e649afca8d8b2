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

TEST(AdviceOnModules, KnowsRequire) {
  Failure failure{R"(import { createRequire } from 'node:module';
const require = createRequire(import.meta.url);
require('express');)"};
  const char* const advice =
      "Package \"express\" is not installed: add {\"name\": \"express\", \"version\": \"latest\"} "
      "to \"dependencies\".";
  EXPECT_EQ(failure.uncaught(R"(Error: Cannot find module 'express'
Require stack:
- /workspace/index.js
    at ModuleJob.run (node:internal/modules/esm/module_job:569:25) {
  code: 'MODULE_NOT_FOUND',
  requireStack: [ '/workspace/index.js' ]
})"),
            advice);  // Node.js 20, 22, 24, 26
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

TEST(AdviceOnModules, TellsThatOfRequireToo) {
  Failure failure{R"(import { createRequire } from 'node:module';
createRequire(import.meta.url)('./util');)"};
  const char* const advice =
      "There is no module ./util: run_js_ephemeral runs one file in an empty directory. Put the "
      "code into it, or use sandbox_initialize, sandbox_write_files and run_js, where files "
      "persist.";
  EXPECT_EQ(failure.uncaught(R"(Error: Cannot find module './util'
Require stack:
- /workspace/index.js
    at ModuleJob.run (node:internal/modules/esm/module_job:569:25) {
  code: 'MODULE_NOT_FOUND',
  requireStack: [ '/workspace/index.js' ]
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

TEST(AdviceOnModules, TellsToImportAModuleWithTopLevelAwait) {
  Failure failure{R"(import { createRequire } from 'node:module';
import fs from 'node:fs';fs.writeFileSync('m.mjs','await 1; export default 1');createRequire(import.meta.url)('./m.mjs');)"};
  const char* const advice =
      "That module uses top-level await: use await import() instead of require().";
  EXPECT_EQ(
      failure.uncaught(
          R"(Error [ERR_REQUIRE_ASYNC_MODULE]: require() cannot be used on an ESM graph with top-level await. Use import() instead. To see where the top-level await comes from, use --experimental-print-required-tla.
  From /workspace/index.js
  Requiring /workspace/m.mjs
    at require (node:internal/modules/helpers:147:16) {
  code: 'ERR_REQUIRE_ASYNC_MODULE'
})"),
      advice);  // Node.js 20, 22
  EXPECT_EQ(
      failure.uncaught(
          R"(Error [ERR_REQUIRE_ASYNC_MODULE]: require() cannot be used on an ESM graph with top-level await. Use import() instead. To see where the top-level await comes from, use --experimental-print-required-tla.
Required module: /workspace/m.mjs
Require stack:
- /workspace/index.js
    at Module.require (node:internal/modules/cjs/loader:1701:12) {
  code: 'ERR_REQUIRE_ASYNC_MODULE'
})"),
      advice);  // Node.js 24, 26
}

TEST(AdviceOnModules, WritesTheImportForARequire) {
  Failure failure{R"(const fs = require('fs');)"};
  const char* const advice =
      "The program is an ES module, which has no require(): write import fs from 'node:fs';";
  EXPECT_EQ(failure.uncaught(R"(file:///workspace/index.js:1
const fs = require('fs');
           ^

ReferenceError: require is not defined in ES module scope, you can use import instead
This file is being treated as an ES module because it has a '.js' file extension and '/workspace/package.json' contains "type": "module". To treat it as a CommonJS script, rename it to use the '.cjs' file extension.
    at file:///workspace/index.js:1:12)"),
            advice);  // Node.js 20, 22, 24, 26
}

TEST(AdviceOnModules, KnowsModuleExports) {
  Failure failure{R"(module.exports = 1;)"};
  const char* const advice =
      "The program is an ES module, which has no module.exports: write export or export default, "
      "or leave it out, as nobody imports this file.";
  EXPECT_EQ(failure.uncaught(R"(file:///workspace/index.js:1
module.exports = 1;
^

ReferenceError: module is not defined in ES module scope
This file is being treated as an ES module because it has a '.js' file extension and '/workspace/package.json' contains "type": "module". To treat it as a CommonJS script, rename it to use the '.cjs' file extension.
    at file:///workspace/index.js:1:1)"),
            advice);  // Node.js 20, 22, 24, 26
}

TEST(AdviceOnModules, KnowsExports) {
  Failure failure{R"(exports.a = 1;)"};
  const char* const advice =
      "The program is an ES module, which has no module.exports: write export or export default, "
      "or leave it out, as nobody imports this file.";
  EXPECT_EQ(failure.uncaught(R"(file:///workspace/index.js:1
exports.a = 1;
^

ReferenceError: exports is not defined in ES module scope
This file is being treated as an ES module because it has a '.js' file extension and '/workspace/package.json' contains "type": "module". To treat it as a CommonJS script, rename it to use the '.cjs' file extension.
    at file:///workspace/index.js:1:1)"),
            advice);  // Node.js 20, 22, 24, 26
}

TEST(AdviceOnModules, KnowsDirname) {
  Failure failure{R"(console.log(__dirname);)"};
  const char* const advice =
      "The program is an ES module, which has no __dirname: write import.meta.dirname.";
  EXPECT_EQ(failure.uncaught(R"(file:///workspace/index.js:1
console.log(__dirname);
            ^

ReferenceError: __dirname is not defined in ES module scope
This file is being treated as an ES module because it has a '.js' file extension and '/workspace/package.json' contains "type": "module". To treat it as a CommonJS script, rename it to use the '.cjs' file extension.
    at file:///workspace/index.js:1:13)"),
            advice);  // Node.js 20, 22, 24, 26
}

TEST(AdviceOnModules, KnowsFilename) {
  Failure failure{R"(console.log(__filename);)"};
  const char* const advice =
      "The program is an ES module, which has no __filename: write import.meta.filename.";
  EXPECT_EQ(failure.uncaught(R"(file:///workspace/index.js:1
console.log(__filename);
            ^

ReferenceError: __filename is not defined in ES module scope
This file is being treated as an ES module because it has a '.js' file extension and '/workspace/package.json' contains "type": "module". To treat it as a CommonJS script, rename it to use the '.cjs' file extension.
    at file:///workspace/index.js:1:13)"),
            advice);  // Node.js 20, 22, 24, 26
}

TEST(AdviceOnModules, TellsToImportACommonJsPackageAsAWhole) {
  Failure failure{R"(import { createRequire } from 'node:module';
import fs from 'node:fs';
fs.mkdirSync('node_modules/cj',{recursive:true});fs.writeFileSync('node_modules/cj/index.js','module.exports = Object.assign(()=>1,{["a"+"b"]:1})');fs.writeFileSync('m.js',"import { ab } from 'cj'; console.log(ab);");
await import('./m.js');)"};
  const char* const advice =
      "\"cj\" is a CommonJS package: import it as a whole, import pkg from 'cj'; const { ab } = "
      "pkg;";
  EXPECT_EQ(failure.uncaught(R"(file:///workspace/m.js:1
import { ab } from 'cj'; console.log(ab);
         ^^
SyntaxError: Named export 'ab' not found. The requested module 'cj' is a CommonJS module, which may not support all module.exports as named exports.
CommonJS modules can always be imported via the default export, for example using:

import pkg from 'cj';
const { ab } = pkg;)"),
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

TEST(AdviceOnModules, KnowsImportInACommonJsFile) {
  Failure failure{R"(import fs from 'node:fs';
fs.writeFileSync('m.cjs',"import fs from 'fs';");
await import('./m.cjs');)"};
  const char* const advice =
      "The file with the import statement is taken as CommonJS: give it a name that ends in .mjs, "
      "or .js beneath /workspace, not .cjs.";
  EXPECT_EQ(
      failure.uncaught(
          R"((node:2) Warning: To load an ES module, set "type": "module" in the package.json or use the .mjs extension.
(Use `node --trace-warnings ...` to show where the warning was created)
/workspace/m.cjs:1
import fs from 'fs';
^^^^^^

SyntaxError: Cannot use import statement outside a module)"),
      advice);  // Node.js 20
  EXPECT_EQ(
      failure.uncaught(
          R"((node:2) Warning: Failed to load the ES module: /workspace/m.cjs. Make sure to set "type": "module" in the nearest package.json file or use the .mjs extension.
(Use `node --trace-warnings ...` to show where the warning was created)
/workspace/m.cjs:1
import fs from 'fs';
^^^^^^

SyntaxError: Cannot use import statement outside a module)"),
      advice);  // Node.js 22, 24, 26
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

TEST(AdviceOnModules, WritesAnImportForEachRequire) {
  Failure failure{
      "const { readFile: read, stat } = require('fs').promises;\nvar path = require(\"path\")\n"
      "const { a: b, c } = require('x');\nlet y = require('y');"};
  EXPECT_EQ(
      failure.uncaught("ReferenceError: require is not defined in ES module scope, you can "
                       "use import instead"),
      "The program is an ES module, which has no require(): write import { readFile as read, "
      "stat } from 'node:fs/promises'; import path from 'node:path'; import { a as b, c } from "
      "'x';");
}

TEST(AdviceOnModules, OffersCreateRequireForAnyOtherUseOfRequire) {
  Failure failure{"load(require);"};
  EXPECT_THAT(failure.uncaught("ReferenceError: require is not defined in ES module scope"),
              HasSubstr("const require = createRequire(import.meta.url);"));
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
