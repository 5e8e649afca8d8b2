#include <gmock/gmock.h>

#include "tools/advice_testing.h"

namespace belljar::tools {
namespace {

using testing::HasSubstr;

TEST(AdviceOnCommonJs, KnowsRequire) {
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

TEST(AdviceOnCommonJs, TellsThatOfRequireToo) {
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

TEST(AdviceOnCommonJs, TellsToImportAModuleWithTopLevelAwait) {
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

TEST(AdviceOnCommonJs, WritesTheImportForARequire) {
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

TEST(AdviceOnCommonJs, KnowsModuleExports) {
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

TEST(AdviceOnCommonJs, KnowsExports) {
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

TEST(AdviceOnCommonJs, KnowsDirname) {
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

TEST(AdviceOnCommonJs, KnowsFilename) {
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

TEST(AdviceOnCommonJs, TellsToImportACommonJsPackageAsAWhole) {
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

TEST(AdviceOnCommonJs, KnowsImportInACommonJsFile) {
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

TEST(AdviceOnCommonJs, WritesAnImportForEachRequire) {
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

TEST(AdviceOnCommonJs, OffersCreateRequireForAnyOtherUseOfRequire) {
  Failure failure{"load(require);"};
  EXPECT_THAT(failure.uncaught("ReferenceError: require is not defined in ES module scope"),
              HasSubstr("const require = createRequire(import.meta.url);"));
}

}  // namespace
}  // namespace belljar::tools
