// Stack traces: their limit, their format, and the call sites behind them.
import { getCallSites, stripVTControlCharacters } from 'node:util';
const depth = (n) => (n === 0 ? new Error('deep') : depth(n - 1));
console.log(Error.stackTraceLimit, depth(20).stack);
Error.stackTraceLimit = 3;
console.log(depth(20).stack.split('\n').length, typeof getCallSites, stripVTControlCharacters('\u001b[1mx'));
const holder = {};
Error.captureStackTrace(holder);
console.log(holder.stack);
Error.prepareStackTrace = (error, sites) =>
  sites.map((site) => [site.getFunctionName(), site.getFileName(), site.getLineNumber(), site.isAsync(), site.isToplevel()]);
console.log(depth(1).stack);
