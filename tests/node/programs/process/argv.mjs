// Arguments arrive as they were given, and Node.js had none of its own.
// args: ["one", "two words", "--flag=1", "-x", "--", "ü€😀", ""]
console.log(process.argv, process.argv0, process.execArgv, process.execPath);
