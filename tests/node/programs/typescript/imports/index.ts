// TypeScript imports TypeScript, and JavaScript does.
import { twice, type Pair } from './lib.ts';
import common from './old.cts';
const pair: Pair = twice('a');
console.log(pair, common, (await import('./plain.mjs')).default);
