import { TraceTable, hashOfTrace } from '../index/scan/id-table.js';

const WORDS = 4;
/** Bits for each trace: about one in sixteen shares its bit. */
const BITS = 16;
const MOST_BITS = 2 ** 27;

/** Whether a trace of a part counts, and whether a part of it is missing. */
export const SEEN = 1;
export const INCOMPLETE = 2;

/** The traces of one part: their ids, and what is known of each. */
export interface PartTraces {
  traceIds: Uint32Array;
  states: Uint8Array;
}

/**
 * Counts traces that several parts may have, each once. Most are in one part only: a bit says so, and only
 * the others are compared by their ids.
 */
export function countTraces(parts: readonly PartTraces[]): { seen: number; incomplete: number } {
  let most = 0;
  for (const { states } of parts) most += states.length;
  const size = Math.min(2 ** Math.ceil(Math.log2(BITS * Math.max(64, most))), MOST_BITS);
  const mask = size - 1;
  const once = new Uint32Array(size / 32);
  const again = new Uint32Array(size / 32);
  for (const { traceIds, states } of parts) {
    for (let trace = 0; trace < states.length; trace++) {
      if (states[trace] === 0) continue;
      const place = hashAt(traceIds, trace) & mask;
      const bit = 1 << (place & 31);
      if ((once[place >>> 5]! & bit) === 0) once[place >>> 5]! |= bit;
      else again[place >>> 5]! |= bit;
    }
  }
  const shared = new TraceTable();
  const incomplete = new Uint8Array(most);
  const figures = { seen: 0, incomplete: 0 };
  for (const { traceIds, states } of parts) {
    for (let trace = 0; trace < states.length; trace++) {
      const state = states[trace]!;
      if (state === 0) continue;
      const isIncomplete = (state & INCOMPLETE) !== 0;
      const place = hashAt(traceIds, trace) & mask;
      if ((again[place >>> 5]! & (1 << (place & 31))) === 0) {
        figures.seen++;
        if (isIncomplete) figures.incomplete++;
        continue;
      }
      const at = WORDS * trace;
      const number = shared.numberOf(
        traceIds[at]! | 0,
        traceIds[at + 1]! | 0,
        traceIds[at + 2]! | 0,
        traceIds[at + 3]! | 0,
      );
      if (isIncomplete && incomplete[number] === 0) {
        incomplete[number] = 1;
        figures.incomplete++;
      }
    }
  }
  figures.seen += shared.count;
  return figures;
}

function hashAt(ids: Uint32Array, trace: number): number {
  const at = WORDS * trace;
  return hashOfTrace(ids[at]! | 0, ids[at + 1]! | 0, ids[at + 2]! | 0, ids[at + 3]! | 0);
}
