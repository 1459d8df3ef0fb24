// npm run torture -- --fuzz N: every reader gets N broken inputs.

import { once } from 'node:events';
import { clearTimeout } from 'node:timers';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { readers } from './all.mjs';

const HANG_MS = 30_000;
const SENTINEL = 'nobody writes here';

/** Runs one reader; resolves to its tally. */
async function fuzzReader(reader, seed, count, directory) {
  const worker = new Worker(new URL('worker.mjs', import.meta.url), {
    workerData: { reader, seed, from: 0, count, directory },
    resourceLimits: { maxOldGenerationSizeMb: 256 },
  });
  const ended = once(worker, 'exit').then(() => undefined);
  let inputs = 0;
  for (;;) {
    const timer = setTimeout(() => void worker.terminate(), HANG_MS);
    let message;
    try {
      message = await Promise.race([once(worker, 'message').then(([first]) => first), ended]);
    } catch (error) {
      // Out of memory, among others.
      message = { inputs, past: 0, wrong: [{ input: inputs, error: String(error) }] };
    }
    clearTimeout(timer);
    if (message === undefined) {
      return { inputs, past: 0, wrong: [{ input: inputs, error: 'hangs from about here on' }] };
    }
    if (typeof message === 'object') return message;
    inputs = message;
  }
}

/**
 * @returns whether all readers did well: no error but ours, no hang, no write outside, and a third
 *   of the inputs past the header.
 */
export async function fuzz({ seed, count, directory, only = '' }) {
  writeFileSync(join(directory, 'outside'), SENTINEL);
  process.stdout.write(
    `${'reader'.padEnd(36)}${'inputs'.padStart(10)}${'past the header'.padStart(17)}${'faults'.padStart(8)}${'seconds'.padStart(9)}\n`,
  );
  let well = true;
  for (const [index, { name }] of readers.entries()) {
    if (!name.includes(only)) continue;
    const from = performance.now();
    const place = join(directory, `reader-${index}`);
    const { inputs, past, wrong } = await fuzzReader(index, seed, count, place);
    const seconds = (performance.now() - from) / 1000;
    const share = `${((100 * past) / Math.max(1, inputs)).toFixed(1)} %`;
    process.stdout.write(
      `${name.padEnd(36)}${String(inputs).padStart(10)}${share.padStart(17)}${String(wrong.length).padStart(8)}${seconds.toFixed(0).padStart(9)}\n`,
    );
    for (const { input, error } of wrong) process.stdout.write(`  input ${input}: ${error}\n`);
    if (wrong.length > 0 || past < inputs / 3) well = false;
  }
  const outside = readdirSync(directory).filter((name) => !name.startsWith('reader-'));
  if (outside.length !== 1 || readFileSync(join(directory, 'outside'), 'utf8') !== SENTINEL) {
    process.stdout.write(`something was written outside: ${outside.join(', ')}\n`);
    well = false;
  }
  return well;
}
