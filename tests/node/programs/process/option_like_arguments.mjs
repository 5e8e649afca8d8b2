// What looks like an option of Node.js is the program's own after the program's name.
// args: ["--eval", "1", "--inspect", "--max-old-space-size=64", "--version"]
import v8 from 'node:v8';
console.log(process.argv.slice(2), process.execArgv, process.debugPort, v8.getHeapStatistics().heap_size_limit);
