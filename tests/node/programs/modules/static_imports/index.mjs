// Static imports of every kind of file, and the order in which they run.
import cjs, { named } from './common.cjs';
import data from './data.json' with { type: 'json' };
import { counter, increment } from './live.mjs';
import * as everything from './live.mjs';
import './first.mjs';
console.log(cjs, named, data, everything, import.meta.main);
increment();
console.log(counter, everything.counter, (await import('./live.mjs')) === everything);
