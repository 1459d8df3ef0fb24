import {
  ATTENTION,
  COMMITTING,
  COPIED_FROM,
  ENDING_AT,
  GENERATION,
  HEAD,
  HEAD_WORDS,
  LENGTH,
  MARK,
  PENDING,
  TAKEN,
  WRITER,
} from './open-records.js';
import type { OpenRecords } from './open-records.js';
import type { Ring } from './ring.js';

/**
 * Source text by which compiled functions use the slots of a table. It names `constants`. The table is a constant of
 * theirs, as the ring is of an emitter: that takes a third of the time of the methods of `OpenRecords` and `Ring`.
 */

/** A word of the head of the slot whose record is at `at`. */
function headWord(at: string, word: number): string {
  return `slotWords[(${at} >> 2) - ${HEAD_WORDS - word}]`;
}

/** Expression: whether a slot is free. */
export const HAS_SLOT = `control[${TAKEN}] < counts[0]`;

/** Statements: take a slot, and declare `at`, where its record goes. */
export function takeSlot(at: string, { mask }: OpenRecords): string {
  return `const taken = control[${TAKEN}];
  control[${TAKEN}] = taken + 1;
  if (control[${ATTENTION}] !== 0) attend();
  const ${at} = slots[taken] & ${mask};`;
}

/** A variable: which writer has written the record at `at`; see `OpenRecords.newWriter`. */
export function slotWriter(at: string): string {
  return headWord(at, WRITER);
}

/** Statements: the next call of the ring's `beginOpen` copies `bytes` bytes of the reserved slot `from` to that at `at`. */
export function copyReserved(at: string, from: string, bytes: string): string {
  return `control[${ENDING_AT}] = ${at};
  control[${COPIED_FROM}] = ${from};
  control[${COPIED_FROM + 1}] = ${bytes};`;
}

/** Statements: the record of `length` bytes at `at` counts from here on. */
export function publishSlot(at: string, length: string): string {
  return `const generation = (counts[1] + ${GENERATION}) | 0;
  counts[1] = generation;
  ${headWord(at, 0)} = ${length} | generation;`;
}

/** Expression: bytes of the record at `at`. */
export function slotLength(at: string): string {
  return `(${headWord(at, 0)} & ${LENGTH})`;
}

/**
 * Statements: publish the open record at `at` as a final one of `bytes` bytes, and free its slot. It gets a stamp, its
 * length, the next number of its series, and `word`, big-endian, instead of the four bytes at `wordAt` of it. The ring
 * has room for it. They also name `ring`, and its `pending` and `publishOpen`.
 */
export function commitSlot(
  ring: Ring,
  at: string,
  bytes: string,
  wordAt: string,
  word: string,
): string {
  const { capacity, openRecords, pending } = ring;
  const isOwnTable = openRecords?.view.buffer === pending.buffer;
  const state = headWord(at, 0);
  return `control[${ENDING_AT}] = ${at};
  control[${ENDING_AT + 1}] = ${wordAt};
  control[${ENDING_AT + 2}] = ${word};
  ${headWord(at, MARK)} = control[${HEAD}];
  ${state} |= ${COMMITTING};
  ring.free -= ${bytes};
  ring.position = (ring.position + ${bytes}) & ${capacity - 1};
  ${isOwnTable ? `control[${PENDING}]` : 'pending[0]'} = ${bytes};
  publishOpen();
  if (control[${ATTENTION}] !== 0) attend();
  ${state} = 0;
  const left = control[${TAKEN}] - 1;
  slots[left] = ${at};
  control[${TAKEN}] = left;`;
}
