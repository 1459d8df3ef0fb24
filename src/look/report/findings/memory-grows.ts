import { ofService } from '../names/request-name.js';
import { HEAP_USED } from '../../../spans/read/loop-curves.js';
import { fullCollections, LEAST_FULL, LEAST_TIME } from '../measures/heap-growth.js';
import { bytesText, durationText } from '../measures/units.js';
import { limitOfHeap, threadOfCounter } from '../threads/memory.js';
import type { Rule } from './evidence.js';

/** In so many pieces the least use of the heap must rise each time. */
const PIECES = 6;
const LEAST_GROWTH = 50 * 2 ** 20;
/** Node's limit on most machines, for one that was not recorded. */
const USUAL_LIMIT = 4 * 2 ** 30;
/** Until when the heap must reach it. */
const DAY = 86_400e9;
/** The same for a recording that is shorter: it needs twice the collections. */
const SOON = 900e9;

/** What is left of a heap after collections rises and rises. */
export const memoryGrows: Rule = {
  name: 'memory grows',
  find(evidence) {
    const { index, window, report } = evidence;
    const isShort = window.length < LEAST_TIME;
    return evidence.selection.curves(HEAP_USED).flatMap((heap) => {
      const { pid, service, thread } = threadOfCounter(index, heap);
      const full = fullCollections(report.interruptions, { pid, service, thread });
      if (full < (isShort ? 2 : 1) * LEAST_FULL) return [];
      const lowest = new Array<number>(PIECES).fill(Infinity);
      for (const [at, time] of heap.times.entries()) {
        const piece = Math.floor(((time - window.from) / window.length) * PIECES);
        if (piece < 0 || piece >= PIECES || heap.values[at] === 0) continue;
        lowest[piece] = Math.min(lowest[piece]!, heap.values[at]!);
      }
      const isRising = lowest.every(
        (bytes, at) => Number.isFinite(bytes) && (at === 0 || bytes > lowest[at - 1]!),
      );
      const [first, last] = [lowest[0]!, lowest.at(-1)!];
      const perNs = (last - first) / (window.length * (1 - 1 / PIECES));
      if (!isRising || last - first < LEAST_GROWTH) return [];
      const limit = limitOfHeap(index, heap) ?? USUAL_LIMIT;
      const left = (limit - last) / perNs;
      if (left > (isShort ? SOON : DAY)) return [];
      return {
        rule: 'memory grows',
        loss: 'time',
        lost: 0,
        service,
        text: `the heap of thread ${thread}${ofService(service)} grows by ${bytesText(perNs * 3600e9)} an hour, and collections do not free it`,
        evidence: `${bytesText(first)} to ${bytesText(last)} in ${durationText(window.length)}; ${bytesText(limit)}, its limit, in ${durationText(Math.max(0, left))}`,
        trace: null,
        section: 'memory',
        where: [],
      };
    });
  },
};
