// Feeds one reader with broken inputs and tells how it goes. A thread of its own, so that a reader
// that hangs can be told and ended.

import { mkdirSync, rmSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { internal } from '../../scripts/package-layout.mjs';
import { Random } from '../random.mjs';
import { readers } from './all.mjs';
import { mutate } from './mutate.mjs';

const { TracewrightError, TraceFormatError } = internal('core/errors');

const SLOW_MS = 1000;
/** A thread that got no processor is slow once, a reader every time. */
const SLOW_TRIES = 3;
const TOLD_EVERY_MS = 1000;
const MOST_WRONG = 5;

const { reader: index, seed, from, count, directory } = workerData;
const reader = readers[index];
const { slowMs = SLOW_MS } = reader;

/** @returns whether the input came past the header, and what is wrong, in words. */
async function feed(bytes) {
  try {
    const records = reader.read(path, bytes);
    return { past: (typeof records === 'number' ? records : await records) > 0 };
  } catch (error) {
    if (error instanceof TraceFormatError) {
      const { offset, message } = error;
      if (!Number.isSafeInteger(offset) || offset < 0) {
        return { past: false, wrong: `offset ${offset}: ${message}` };
      }
      return { past: offset >= reader.headerBytes && !message.includes('this is not JSON') };
    }
    if (!(error instanceof TracewrightError)) {
      return { past: false, wrong: String(error?.stack ?? error).slice(0, 800) };
    }
    if (error.code === 'ERR_SYSTEM') {
      return { past: false, wrong: `ERR_SYSTEM: ${error.message}`.slice(0, 800) };
    }
    return { past: false };
  }
}

async function isSlow(bytes) {
  for (let i = 0; i < SLOW_TRIES; i++) {
    const began = performance.now();
    await feed(bytes);
    if (performance.now() - began <= slowMs) return false;
  }
  return true;
}

mkdirSync(directory, { recursive: true });
const good = await reader.seeds(directory);
const path = reader.open(directory);
const tally = { inputs: 0, past: 0, wrong: [] };
const { stackTraceLimit } = Error;
// Most inputs end in an error, and taking down where it was thrown costs more than throwing it.
Error.stackTraceLimit = 0;
let told = performance.now();
for (let input = from; input < from + count; input++) {
  const random = new Random(Math.imul(seed + 1, 0x9e37_79b1) ^ Math.imul(input + 1, 0x85eb_ca6b));
  const bytes = (reader.mutate ?? mutate)(good, random);
  const began = performance.now();
  let { past, wrong } = await feed(bytes);
  const now = performance.now();
  if (wrong !== undefined) {
    Error.stackTraceLimit = stackTraceLimit;
    ({ wrong = wrong } = await feed(bytes));
    Error.stackTraceLimit = 0;
  } else if (now - began > slowMs && (await isSlow(bytes))) {
    wrong = `took more than ${slowMs} ms, ${SLOW_TRIES} times`;
  }
  if (wrong !== undefined) tally.wrong.push({ input, error: wrong });
  tally.inputs++;
  if (past) tally.past++;
  if (now - told > TOLD_EVERY_MS) {
    told = now;
    parentPort.postMessage({ inputs: tally.inputs });
  }
  if (tally.wrong.length >= MOST_WRONG) break;
}
rmSync(directory, { recursive: true, force: true });
parentPort.postMessage({ ...tally, done: true });
