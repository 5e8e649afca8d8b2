// Waiting for something that sends no event of its own, such as the end of somebody else's process.
import { setTimeout as sleep } from 'node:timers/promises';

// Resolves with the first truthy value of `probe`; rejects when there was none within `ms`.
export async function until(what, probe, ms = 10_000) {
  const end = performance.now() + ms;
  for (;;) {
    const value = await probe();
    if (value) return value;
    if (performance.now() > end) throw new Error(`waited ${ms} ms in vain: ${what}`);
    await sleep(5);
  }
}

// The promise's value, or an error that says what was waited for.
export function within(ms, what, promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`waited ${ms} ms in vain: ${what}`)), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
