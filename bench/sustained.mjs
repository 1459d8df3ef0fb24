// Writing at full speed for seconds: how much was written, how long the thread waited, what is missing.

import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';
import {
  event,
  procFini,
  procInit,
  readStream,
  readTraceDirectory,
  threadFree,
  threadInit,
} from 'tracewright/ovni';
import { main } from './benchmark.mjs';

/** Events between two looks at the clock of the loop. */
const SLICE = 10_000;

/**
 * Emits for `seconds` as fast as it goes.
 *
 * @param {number} seconds
 */
function emitFor(seconds) {
  const bare = event('OB.');
  let events = 0;
  const from = performance.now();
  const to = from + seconds * 1000;
  let now = from;
  while (now < to) {
    for (let i = 0; i < SLICE; i++) bare();
    events += SLICE;
    now = performance.now();
  }
  return { events, ms: now - from };
}

/**
 * The longest time between two looks at the clock in a loop that does nothing else. This much is
 * due to the machine itself.
 *
 * @param {number} seconds
 */
function longestGapOfNothing(seconds) {
  let last = performance.now();
  const to = last + seconds * 1000;
  let longest = 0;
  while (last < to) {
    const now = performance.now();
    if (now - last > longest) longest = now - last;
    last = now;
  }
  return longest;
}

/**
 * What our reader finds in a stream.
 *
 * @param {string} path
 */
function examine(path) {
  let emitted = 0;
  let flushBegan = 0n;
  let stalls = 0;
  let stalled = 0n;
  let longestStall = 0n;
  const bare = ('O'.charCodeAt(0) << 16) | ('B'.charCodeAt(0) << 8) | '.'.charCodeAt(0);
  // BigInts for a few hundred million events would take minutes: clocks as two halves.
  let first = true;
  let lastHigh = 0;
  let lastLow = 0;
  let longestGap = 0;
  for (const each of readStream(path, { version: 1 })) {
    const { clockHigh, clockLow } = each;
    const gap = (clockHigh - lastHigh) * 0x1_0000_0000 + (clockLow - lastLow);
    if (!first && gap > longestGap) longestGap = gap;
    first = false;
    lastHigh = clockHigh;
    lastLow = clockLow;
    if (each.code === bare) {
      emitted += 1;
    } else if (each.mcv === 'OF[') {
      flushBegan = each.clock;
    } else if (each.mcv === 'OF]') {
      const ns = each.clock - flushBegan;
      stalls += 1;
      stalled += ns;
      if (ns > longestStall) longestStall = ns;
    }
  }
  return {
    emitted,
    stalls,
    stalledMs: Number(stalled) / 1e6,
    longestStallMs: Number(longestStall) / 1e6,
    longestGapMs: longestGap / 1e6,
  };
}

/**
 * @param {number} seconds
 * @param {boolean} withWorker
 */
async function writeAndRead(seconds, withWorker) {
  const directory = mkdtempSync(join(tmpdir(), 'tracewright-bench-'));
  try {
    const { traceDir } = procInit(1, 'bench', process.pid, { traceDir: directory });
    /** @type {Promise<{ tid: string, events: number, ms: number }> | undefined} */
    let other;
    if (withWorker) {
      const worker = new Worker(fileURLToPath(import.meta.url), { workerData: { seconds } });
      await new Promise((resolve) => worker.once('message', resolve));
      other = new Promise((resolve, reject) => {
        worker.once('message', resolve);
        worker.once('error', reject);
      });
      worker.postMessage('go');
    }
    threadInit(1);
    const own = emitFor(seconds);
    const others = await other;
    threadFree();
    procFini();

    const written = new Map([['main', { tid: 1, ...own }]]);
    if (others !== undefined) written.set('worker', { tid: 2, ...others });
    const { streams } = readTraceDirectory(traceDir);
    return [...written].map(([thread, { tid, events, ms }]) => {
      const { path } = streams.find((each) => each.tid === tid);
      const found = examine(path);
      return { thread, events, ms, bytes: statSync(path).size, ...found };
    });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** @param {{ quick: boolean }} options */
async function measure({ quick }) {
  const seconds = quick ? 1 : 10;
  const nothing = longestGapOfNothing(seconds);
  const rows = [];
  let lost = 0;
  for (const withWorker of [false, true]) {
    for (const found of await writeAndRead(seconds, withWorker)) {
      const { thread, events, ms, bytes } = found;
      lost += Math.abs(events - found.emitted);
      rows.push([
        withWorker ? `${thread} (of main + worker)` : `${thread} alone`,
        events,
        events / ms / 1000,
        bytes / ms / 1000,
        found.stalls,
        (100 * found.stalledMs) / ms,
        found.longestStallMs,
        found.longestGapMs,
        found.emitted - events,
      ]);
    }
  }
  return {
    tables: [
      {
        title: `ovni events without payload for ${seconds} s, ring of the default size`,
        columns: [
          'thread',
          'events',
          'M events/s',
          'MB/s',
          'stalls',
          'stalled %',
          'longest stall ms',
          'longest gap ms',
          'missing',
        ],
        rows,
      },
    ],
    goals: [{ goal: 'no event lost', figure: lost, met: lost === 0 }],
    notes: [
      `Stalls are the OF[ OF] pairs of the trace. Gaps lie between any two neighbouring events. A loop that only reads the clock had a longest gap of ${nothing.toFixed(2)} ms in the same time.`,
    ],
  };
}

if (isMainThread) {
  await main(import.meta.url, { title: 'Sustained writing', measure });
} else {
  threadInit(2);
  parentPort?.once('message', () => {
    const written = emitFor(workerData.seconds);
    threadFree();
    parentPort?.postMessage(written);
    parentPort?.close();
  });
  parentPort?.postMessage('ready');
}
