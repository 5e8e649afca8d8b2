// A program for WASI.
// stderr: yes
import { WASI } from 'node:wasi';
process.emitWarning('in any version');
const wasi = new WASI({ version: 'preview1', args: ['a'], env: { X: '1' }, preopens: { '/sandbox': '/tmp' } });
console.log(Object.keys(wasi.getImportObject()), Object.keys(wasi.wasiImport).length > 40);
// (module (memory (export "memory") 1) (import proc_exit) (func (export "_start") i32.const 5 call 0))
const bytes = Buffer.from(
  '0061736d0100000001080260017f00600000022401167761736' +
    '95f736e617073686f745f707265766965773109' +
    '70726f635f65786974000003020101050301000107130206' +
    '6d656d6f72790200065f737461727400010a08010600410510000b',
  'hex',
);
const module = await WebAssembly.compile(bytes).catch((error) => console.log(error.message));
if (module) console.log(wasi.start(await WebAssembly.instantiate(module, wasi.getImportObject())));
