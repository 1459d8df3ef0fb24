import type { Report } from '../shape/report-shape.js';
import type { Interruptions, ThreadOfProcess } from '../shape/thread-shape.js';
import { counted } from '../../../core/readable-text.js';
import { bytesText, durationText } from './units.js';

/** A process that starts is slow for so many ns, and memory that it takes says nothing. */
export const START = 10e9;
/** Ns, and full collections, from which on the growth of a heap is judged. */
export const LEAST_TIME = 300e9;
export const LEAST_FULL = 6;
/** Bytes of growth that are worth a note. */
const LEAST_NOTED = 10 * 2 ** 20;
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

/** Why nobody can say whether the heap that grew most leaks; undefined: it hardly grew, or was judged. */
export function heapNote({
  memory,
  length,
  interruptions,
  findings,
}: Pick<Report, 'memory' | 'length' | 'interruptions' | 'findings'>): string | undefined {
  const heap = memory.find(({ kind }) => kind === 'heap');
  if (heap === undefined || heap.last - heap.first < LEAST_NOTED) return undefined;
  if (findings.some(({ rule }) => rule === 'memory grows')) return undefined;
  const full = fullCollections(interruptions, heap);
  const isShort = length < START + LEAST_TIME;
  if (!isShort && full >= LEAST_FULL) return undefined;
  const of = heap.service === null ? '' : ` of ${heap.service}`;
  const grew = `Memory: the heap${of} grew from ${bytesText(heap.first)} to ${bytesText(heap.last)}.`;
  return isShort
    ? `${grew} ${durationText(length)} are too short to say whether it leaks: record 10 min.`
    : `${grew} ${counted(full, 'full collection')} cannot say whether it leaks: ${LEAST_FULL} are needed.`;
}
