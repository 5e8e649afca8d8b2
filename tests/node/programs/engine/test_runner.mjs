// node:test within a program: how it ends and what it prints, without times.
// exit: 1
import { after, describe, it, mock, test } from 'node:test';
import { tap } from 'node:test/reporters';
const { write } = process.stdout;
process.stdout.write = (text, ...rest) =>
  write.call(process.stdout, String(text).replace(/\(?\d+(\.\d+)?ms\)?|duration_ms:? [\d.]+|at .*|\/.*:\d+:\d+/g, 'T'), ...rest);
test('passes', (t) => t.diagnostic('said'));
test('fails', () => {
  throw new Error('on purpose');
});
test('skipped', { skip: 'why' });
test('todo', { todo: true }, () => {
  throw new Error('not yet');
});
describe('suite', () => {
  after(() => {});
  it('inner', async (t) => {
    await t.test('sub', () => {});
  });
});
const counted = mock.fn((a) => a + 1);
console.log(counted(1), counted.mock.callCount(), typeof tap);
