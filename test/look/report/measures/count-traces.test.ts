import { expect, test } from 'vitest';
import { inTurns } from '../../../../src/look/index/turns.js';
import {
  INCOMPLETE,
  SEEN,
  countTraces,
} from '../../../../src/look/report/measures/count-traces.js';
import type { PartTraces } from '../../../../src/look/report/measures/count-traces.js';

const TRACES = 5000;

/** A part with every `step`th trace; every third of its traces counts as incomplete, every seventh not at all. */
function part(step: number): PartTraces & { counted: Map<number, boolean> } {
  const numbers = Array.from({ length: TRACES / step }, (_, i) => i * step);
  // Ids that differ in one word, and in one bit.
  const traceIds = Uint32Array.from(numbers.flatMap((number) => [1, number, 0x8000_0000, 4]));
  const states = Uint8Array.from(numbers, (_, i) => {
    if (i % 7 === 0) return 0;
    return i % 3 === 0 ? SEEN | INCOMPLETE : SEEN;
  });
  const counted = new Map<number, boolean>();
  for (const [i, number] of numbers.entries()) {
    if (states[i] !== 0) counted.set(number, (states[i]! & INCOMPLETE) !== 0);
  }
  return { traceIds, states, counted };
}

test.each([[[1]], [[1, 2]], [[5, 2, 1, 4]], [[]]])(
  'traces of parts %j count once',
  async (steps) => {
    const parts = steps.map(part);
    const all = new Map<number, boolean>();
    for (const { counted } of parts) {
      for (const [number, isIncomplete] of counted) {
        all.set(number, isIncomplete || all.get(number) === true);
      }
    }
    expect(await inTurns(countTraces(parts))).toEqual({
      seen: all.size,
      incomplete: [...all.values()].filter((isIncomplete) => isIncomplete).length,
    });
  },
);
