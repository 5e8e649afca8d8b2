// Packages that people use, from the registry of this machine: each is imported and does one small thing.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { connect } from './lib/packages_client.mjs';

const uses = [
  {
    name: 'express',
    version: '5', // many small packages
    code: `import express from 'express';
      const server = express().get('/', (request, response) => response.send('hello')).listen(0, '127.0.0.1', async () => {
        console.log(await (await fetch('http://127.0.0.1:' + server.address().port)).text());
        server.close();
        server.closeAllConnections();
      });`,
    expected: 'hello',
  },
  {
    name: 'sharp',
    version: '0.34', // native code, in optional packages for platforms
    code: `import sharp from 'sharp';
      const picture = await sharp({ create: { width: 4, height: 3, channels: 3, background: 'red' } }).png().toBuffer();
      const { format, width, height } = await sharp(picture).metadata();
      console.log(format, width, height);`,
    expected: 'png 4 3',
  },
  {
    name: 'esbuild',
    version: '0.25', // a program that is executed
    code: `import { transform } from 'esbuild';
      console.log((await transform('const x: number = 1; console.log(x)', { loader: 'ts', minify: true })).code.trim());`,
    expected: 'const x=1;console.log(1);',
  },
  {
    name: 'typescript',
    version: '5', // few files, large ones
    code: `import ts from 'typescript';
      console.log(ts.transpileModule('let x: number = 1', { compilerOptions: { target: 'es2022' } }).outputText.trim());`,
    expected: 'let x = 1;',
  },
  {
    name: 'puppeteer-core',
    version: '24', // a deep tree
    code: `import puppeteer from 'puppeteer-core';
      await puppeteer.launch({ executablePath: '/nonexistent' }).catch((error) => console.log(/not found|ENOENT/.test(error.message), typeof puppeteer.connect));`,
    expected: 'true function',
  },
];

describe('of the registry of this machine', () => {
  let client;
  let absence = false;
  before(async () => {
    client = await connect();
    const { text, structuredContent } = await client.call('get_dependency_types', { dependencies: [{ name: 'is-odd' }] });
    absence = structuredContent?.packages?.[0].error ?? (structuredContent ? false : text);
  });
  after(() => client?.close());

  for (const { name, version, code, expected } of uses) {
    test(`${name} works`, async (t) => {
      if (absence) return t.skip(`no npm registry can be reached: ${absence}`);
      const result = await client.run(code, { [name]: version }, { timeoutMs: 60_000 });
      assert.equal(result.stdout, `${expected}\n`, result.text);
      t.diagnostic(`${result.install.packages} packages in ${result.install.ms} ms`);
    });
  }
});
