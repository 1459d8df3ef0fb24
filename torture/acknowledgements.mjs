// A page that the child shares with the parent: how many events of each thread and format have been
// recorded for certain, and whether a thread has begun. The child stores to memory; the parent reads
// the file behind it.

import { readFileSync, writeFileSync } from 'node:fs';

export const THREADS = 3;
const SLOTS = 16;
const BEGUN = SLOTS - 1;

export function createPage(path) {
  writeFileSync(path, Buffer.alloc(8 * SLOTS * THREADS));
}

/** The child's side. */
export function threadSlots(buffer, thread) {
  return new Float64Array(buffer, 8 * SLOTS * thread, SLOTS);
}

export function begin(slots) {
  slots[BEGUN] = 1;
}

/** The parent's side: `[thread][format]` counts. */
export function readPage(path) {
  const bytes = readFileSync(path);
  const all = new Float64Array(bytes.buffer, bytes.byteOffset, bytes.length / 8);
  return Array.from({ length: THREADS }, (_, thread) =>
    all.subarray(thread * SLOTS, thread * SLOTS + BEGUN),
  );
}

export function haveBegun(path) {
  const bytes = readFileSync(path);
  const all = new Float64Array(bytes.buffer, bytes.byteOffset, bytes.length / 8);
  return Array.from({ length: THREADS }, (_, thread) => all[thread * SLOTS + BEGUN]).every(Boolean);
}
