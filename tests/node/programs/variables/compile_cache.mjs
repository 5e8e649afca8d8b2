// NODE_COMPILE_CACHE fills a directory.
// env: {"NODE_COMPILE_CACHE": "/tmp/cache"}
import { existsSync } from 'node:fs';
import module from 'node:module';
console.log(module.getCompileCacheDir?.().replace(/v\d.*$/, 'VERSION'), existsSync('/tmp/cache'), module.constants?.compileCacheStatus);
