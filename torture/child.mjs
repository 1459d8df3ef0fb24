// Writes numbered events in every format, from its main thread and two workers, as fast as it can,
// until somebody ends it, or until it ends itself as it was told.
//
//   node torture/child.mjs '{"place": ..., "page": ..., "round": ..., "ring": ..., ...}'

import { Worker, isMainThread, workerData } from 'node:worker_threads';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { THREADS, begin, haveBegun, threadSlots } from './acknowledgements.mjs';
import { loadMemory } from './addons.mjs';
import { formatsOf } from './formats/all.mjs';

/**
 * @typedef {object} Order
 * @property {string} place where the traces go.
 * @property {string} page the file of the acknowledgements.
 * @property {number} round which formats.
 * @property {object} ring ring options.
 * @property {boolean} blocked whether the event loop never turns.
 * @property {boolean} together whether no thread writes before all have begun.
 * @property {{ thread: number, after: number, how: 'segv' | 'abort' } | undefined} end
 */

const BATCH = 20_000;

/** One function for each format, so that every loop sees one target. */
function makeStep(emit, slots, slot) {
  return new Function('emit', 'slots', `return (n) => { emit(n); slots[${slot}] = n + 1; };`)(
    emit,
    slots,
  );
}

async function write(thread, { place, page, round, ring, blocked, together, end }) {
  const memory = loadMemory();
  const slots = threadSlots(memory.mapFile(page), thread);
  const steps = formatsOf(round).map((format, slot) =>
    makeStep(format.open(place, thread, ring), slots, slot),
  );
  if (thread === 0) {
    for (let other = 1; other < THREADS; other++) {
      const worker = new Worker(new URL(import.meta.url), {
        workerData: { thread: other, order: JSON.parse(process.argv[2]) },
      });
      worker.once('error', (error) => {
        throw error;
      });
      await once(worker, 'online');
    }
  }
  begin(slots);
  // A small disk may be full before the last thread has got its ring.
  // Without taking the processor from those that have yet to begin.
  while (together && !haveBegun(page)) await delay(1);
  const last = end?.thread === thread ? end.after : Infinity;
  for (let n = 0; ; n++) {
    for (const step of steps) step(n);
    if (n === last) {
      if (end.how === 'segv') memory.segfault();
      memory.abort();
    }
    if (n % BATCH === 0 && !blocked) await new Promise(setImmediate);
  }
}

if (isMainThread) await write(0, JSON.parse(process.argv[2]));
else await write(workerData.thread, workerData.order);
