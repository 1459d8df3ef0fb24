import { TraceTable, hashOfTrace } from '../../../rows/id-table.js';
import type { Steps } from '../../index/turns.js';

const WORDS = 4;
/** Bits for each trace, at least: one in six shares its bit, and all bits fit a processor's cache. */
const BITS = 4;
const MOST_BITS = 2 ** 27;
/** Traces of a step. */
const PIECE = 1 << 16;

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
export function* countTraces(
  parts: readonly PartTraces[],
): Steps<{ seen: number; incomplete: number }> {
  let most = 0;
  for (const { states } of parts) most += states.length;
  const size = Math.min(2 ** Math.ceil(Math.log2(BITS * Math.max(64, most))), MOST_BITS);
  const counting = new TraceCounting(size, most);
  for (const step of ['mark', 'count'] as const) {
    for (const part of parts) {
      for (let from = 0; from < part.states.length; from += PIECE) {
        counting[step](part, from, Math.min(part.states.length, from + PIECE));
        yield;
      }
    }
  }
  const { seen, incomplete, shared } = counting;
  return { seen: seen + shared.count, incomplete };
}

/** Marks the bits of all traces first, and counts them then. */
class TraceCounting {
  seen = 0;
  incomplete = 0;
  readonly shared = new TraceTable();
  readonly #mask: number;
  readonly #once: Uint32Array;
  readonly #again: Uint32Array;
  readonly #isIncomplete: Uint8Array;

  constructor(bits: number, traces: number) {
    this.#mask = bits - 1;
    this.#once = new Uint32Array(bits / 32);
    this.#again = new Uint32Array(bits / 32);
    this.#isIncomplete = new Uint8Array(traces);
  }

  mark({ traceIds, states }: PartTraces, from: number, to: number): void {
    const [once, again, mask] = [this.#once, this.#again, this.#mask];
    for (let trace = from; trace < to; trace++) {
      if (states[trace] === 0) continue;
      const slot = hashAt(traceIds, trace) & mask;
      const bit = 1 << (slot & 31);
      if ((once[slot >>> 5]! & bit) === 0) once[slot >>> 5]! |= bit;
      else again[slot >>> 5]! |= bit;
    }
  }

  count({ traceIds, states }: PartTraces, from: number, to: number): void {
    const [again, mask] = [this.#again, this.#mask];
    for (let trace = from; trace < to; trace++) {
      const state = states[trace]!;
      if (state === 0) continue;
      const isIncomplete = (state & INCOMPLETE) !== 0;
      const slot = hashAt(traceIds, trace) & mask;
      if ((again[slot >>> 5]! & (1 << (slot & 31))) === 0) {
        this.seen++;
        if (isIncomplete) this.incomplete++;
        continue;
      }
      const at = WORDS * trace;
      const number = this.shared.numberOf(
        traceIds[at]! | 0,
        traceIds[at + 1]! | 0,
        traceIds[at + 2]! | 0,
        traceIds[at + 3]! | 0,
      );
      if (isIncomplete && this.#isIncomplete[number] === 0) {
        this.#isIncomplete[number] = 1;
        this.incomplete++;
      }
    }
  }
}

function hashAt(ids: Uint32Array, trace: number): number {
  const at = WORDS * trace;
  return hashOfTrace(ids[at]! | 0, ids[at + 1]! | 0, ids[at + 2]! | 0, ids[at + 3]! | 0);
}
