// npm run torture -- --fuzz N: every reader gets N broken inputs.

import { once } from 'node:events';
import { clearInterval, setInterval } from 'node:timers';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { readers } from './all.mjs';

/** Processor time without a word from a reader; of a machine that is busy this takes longer. */
const HANG_CPU_MS = 30_000;
/** One that waits uses no processor. */
const HANG_MS = 300_000;
const LOOK_EVERY_MS = 1000;
/** Inputs of one thread: the tally of a reader is put together from several. */
const PORTION = 50_000;
const PROGRESS_MS = 60_000;
const SENTINEL = 'nobody writes here';

function processorMs() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Runs a portion; resolves to its tally. */
async function feedPortion(order, jobs) {
  const worker = new Worker(new URL('worker.mjs', import.meta.url), {
    workerData: order,
    resourceLimits: { maxOldGenerationSizeMb: 256 },
  });
  let last = { inputs: 0 };
  let heard = { wall: performance.now(), processor: processorMs() };
  worker.on('message', (message) => {
    last = message;
    heard = { wall: performance.now(), processor: processorMs() };
  });
  const timer = setInterval(() => {
    const hangs =
      (processorMs() - heard.processor) / jobs > HANG_CPU_MS ||
      performance.now() - heard.wall > HANG_MS;
    if (hangs) void worker.terminate();
  }, LOOK_EVERY_MS);
  let error = 'hangs from about here on';
  // Out of memory, among others.
  worker.once('error', (thrown) => (error = String(thrown?.stack ?? thrown)));
  await once(worker, 'exit').catch(() => undefined);
  clearInterval(timer);
  if (last.done) return last;
  return { inputs: last.inputs, past: 0, wrong: [{ input: order.from + last.inputs, error }] };
}

/** Portions of all readers, in order, with the tally that each adds to. */
function* portionsOf({ seed, count: most, directory, only }) {
  for (const [index, { name, share = 1 }] of readers.entries()) {
    if (!name.includes(only)) continue;
    const count = Math.ceil(most * share);
    const portions = Math.max(1, Math.ceil(count / PORTION));
    const tally = { name, inputs: 0, past: 0, wrong: [], left: portions, ms: 0 };
    for (let n = 0; n < portions; n++) {
      const from = n * PORTION;
      const place = join(directory, `reader-${index}-${n}`);
      const size = Math.min(PORTION, count - from);
      yield { tally, order: { reader: index, seed, from, count: size, directory: place } };
    }
  }
}

function printTally({ name, inputs, past, wrong, ms }) {
  const share = `${((100 * past) / Math.max(1, inputs)).toFixed(1)} %`;
  const cells = [
    name.padEnd(36),
    String(inputs).padStart(10),
    share.padStart(17),
    String(wrong.length).padStart(8),
    (ms / 1000).toFixed(0).padStart(9),
  ];
  process.stdout.write(`${cells.join('')}\n`);
  for (const { input, error } of wrong) process.stdout.write(`  input ${input}: ${error}\n`);
}

/**
 * @param {object} options
 * @param {number} options.seed
 * @param {number} options.count inputs for each reader.
 * @param {string} options.directory
 * @param {string} [options.only] a part of the names of readers.
 * @param {number} [options.jobs] portions that are fed at a time.
 * @returns whether all readers did well: no error but ours, no hang, no write outside, and a third
 *   of the inputs past the header.
 */
export async function fuzz({ seed, count, directory, only = '', jobs = 1 }) {
  writeFileSync(join(directory, 'outside'), SENTINEL);
  const heads = `${'reader'.padEnd(36)}${'inputs'.padStart(10)}${'past the header'.padStart(17)}`;
  process.stdout.write(`${heads}${'faults'.padStart(8)}${'seconds'.padStart(9)}\n`);
  let well = true;
  let total = 0;
  let said = performance.now();
  const portions = portionsOf({ seed, count, directory, only });
  const lane = async () => {
    for (const { tally, order } of portions) {
      const began = performance.now();
      const { inputs, past, wrong } = await feedPortion(order, jobs);
      tally.ms += performance.now() - began;
      tally.inputs += inputs;
      tally.past += past;
      tally.wrong.push(...wrong);
      total += inputs;
      if (--tally.left === 0) {
        printTally(tally);
        if (tally.wrong.length > 0 || tally.past < tally.inputs / 3) well = false;
      } else if (performance.now() - said > PROGRESS_MS) {
        said = performance.now();
        process.stdout.write(
          `  ${tally.name}: ${tally.inputs}, ${tally.wrong.length} faults; ${total} in all\n`,
        );
      }
    }
  };
  await Promise.all(Array.from({ length: jobs }, lane));
  const outside = readdirSync(directory).filter((name) => !name.startsWith('reader-'));
  if (outside.length !== 1 || readFileSync(join(directory, 'outside'), 'utf8') !== SENTINEL) {
    process.stdout.write(`something was written outside: ${outside.join(', ')}\n`);
    well = false;
  }
  return well;
}
