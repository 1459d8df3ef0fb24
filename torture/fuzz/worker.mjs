// Feeds one reader with broken inputs and tells how it goes. A thread of its own, so that a reader
// that hangs can be told and ended.

import { mkdirSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { TracewrightError, TraceFormatError } from '../../dist/core/errors.js';
import { Random } from '../random.mjs';
import { readers } from './all.mjs';
import { mutate } from './mutate.mjs';

const SLOW_MS = 1000;
const TOLD_EVERY_MS = 1000;

const { reader: index, seed, from, count, directory } = workerData;
const reader = readers[index];
mkdirSync(directory, { recursive: true });
const good = await reader.seeds(directory);
const path = reader.open(directory);
const tally = { inputs: 0, past: 0, refused: 0, slow: 0, wrong: [] };
let told = performance.now();
for (let input = from; input < from + count; input++) {
  const random = new Random(Math.imul(seed + 1, 0x9e37_79b1) ^ Math.imul(input + 1, 0x85eb_ca6b));
  const bytes = (reader.mutate ?? mutate)(good, random);
  const began = performance.now();
  let past = false;
  try {
    past = reader.read(path, bytes) > 0;
  } catch (error) {
    tally.refused++;
    if (error instanceof TraceFormatError) {
      past = error.offset >= reader.headerBytes && !error.message.includes('this is not JSON');
      if (!Number.isSafeInteger(error.offset) || error.offset < 0) {
        tally.wrong.push({ input, error: `offset ${error.offset}: ${error.message}` });
      }
    } else if (!(error instanceof TracewrightError)) {
      tally.wrong.push({ input, error: String(error?.stack ?? error).slice(0, 800) });
    } else if (error.code === 'ERR_SYSTEM') {
      tally.wrong.push({ input, error: `ERR_SYSTEM: ${error.message}`.slice(0, 800) });
    }
  }
  const now = performance.now();
  if (now - began > SLOW_MS) {
    tally.slow++;
    tally.wrong.push({ input, error: `took ${Math.round(now - began)} ms` });
  }
  tally.inputs++;
  if (past) tally.past++;
  if (now - told > TOLD_EVERY_MS) {
    told = now;
    parentPort.postMessage(tally.inputs);
  }
  if (tally.wrong.length >= 5) break;
}
parentPort.postMessage({ ...tally, bytes: process.memoryUsage().rss });
