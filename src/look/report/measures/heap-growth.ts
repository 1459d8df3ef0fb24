import type { Report } from '../shape/report-shape.js';
import type { Interruptions, ThreadOfProcess } from '../shape/thread-shape.js';
import { counted } from '../../../core/readable-text.js';
import { durationText } from './units.js';

/** A process that starts is slow for so many ns, and memory that it takes says nothing. */
export const START = 10e9;
/** Ns, and full collections, from which on the growth of a heap is judged. */
export const LEAST_TIME = 300e9;
export const LEAST_FULL = 6;
const FULL = /major|mark/;

/** How many full collections a thread has had. */
export function fullCollections({ threads }: Interruptions, of: ThreadOfProcess): number {
  return threads
    .filter((each) => each.kind === 'collection' && FULL.test(each.name))
    .filter(({ pid, thread, service }) => {
      return pid === of.pid && thread === of.thread && service === of.service;
    })
    .reduce((sum, { count }) => sum + count, 0);
}

/** Why nothing is concluded on the heap that grew most; undefined: it did not grow, or was judged. */
export function heapNote({
  memory,
  length,
  interruptions,
  findings,
}: Pick<Report, 'memory' | 'length' | 'interruptions' | 'findings'>): string | undefined {
  const heap = memory.find(({ kind }) => kind === 'heap');
  if (heap === undefined || heap.last <= heap.first) return undefined;
  if (findings.some(({ rule }) => rule === 'memory grows')) return undefined;
  const full = fullCollections(interruptions, heap);
  const isShort = length < START + LEAST_TIME;
  if (!isShort && full >= LEAST_FULL) return undefined;
  const seen = counted(full, 'full collection');
  return isShort
    ? `Whether a heap grows or warms up is not judged from ${durationText(length)} with ${seen}: record 10 min.`
    : `Whether a heap grows is not judged from ${seen}: ${LEAST_FULL} are needed.`;
}
