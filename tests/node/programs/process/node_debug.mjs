// NODE_DEBUG makes a core module talk.
// env: {"NODE_DEBUG": "no-such-section", "NODE_NO_WARNINGS": "1"}
import util from 'node:util';
const log = util.debuglog('no-such-section');
console.log(log.enabled, util.debuglog('other').enabled);
process.emitWarning('nobody reads this');
