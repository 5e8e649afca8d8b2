// Times of console, without the times.
import { Console } from 'node:console';
import { Writable } from 'node:stream';
let text = '';
const own = new Console({ stdout: new Writable({ write: (chunk, _, done) => done(void (text += chunk)) }) });
own.time('t');
own.timeLog('t', { extra: 1 });
own.timeEnd('t');
console.log(text.replace(/[\d.]+ ?m?s/g, 'TIME'));
console.log(Object.keys(console), console instanceof Console, console[Symbol.toStringTag]);
