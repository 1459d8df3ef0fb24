import {
  ATTENTION,
  COMMITTING,
  EDITED_FROM,
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
 * What compiled functions do with the places of a table, as source text that names its `constants`. The table is a constant of theirs, as the
 * ring is of an emitter: that takes a third of the time of the methods of `OpenRecords` and `Ring`.
 */

/** A word of the head of the place whose record is at `at`. */
function headWord(at: string, word: number): string {
  return `placeWords[(${at} >> 2) - ${HEAD_WORDS - word}]`;
}

/** Expression: whether a place is free. */
export const HAS_PLACE = `control[${TAKEN}] < counts[0]`;

/** Statements: take a place, and declare `at`, where its record goes. */
export function takePlace(at: string, { mask }: OpenRecords): string {
  return `const taken = control[${TAKEN}];
  control[${TAKEN}] = taken + 1;
  if (control[${ATTENTION}] !== 0) attend();
  const ${at} = places[taken] & ${mask};`;
}

/** A variable: which writer has written the record at `at`; see `OpenRecords.newWriter`. */
export function placeWriter(at: string): string {
  return headWord(at, WRITER);
}

/** Statements: the record of `length` bytes at `at` counts from here on. */
export function publishPlace(at: string, length: string): string {
  return `const generation = (counts[1] + ${GENERATION}) | 0;
  counts[1] = generation;
  ${headWord(at, 0)} = ${length} | generation;`;
}

/** Statement: the record at `at` counts no more. */
export function withdrawPlace(at: string): string {
  return `${headWord(at, 0)} = 0;`;
}

/**
 * Publishes the record at `at`, of which `bytes` bytes are there by now, as `Ring.commitOpen` does, or as
 * `Ring.commitEdited` if it has become longer. False: these have no room, and nothing has changed.
 */
export type CommitPlace = (at: number, bytes: number, wordAt: number, word: number) => boolean;

/** Statements: the final record has the bytes of the place from `from` to `to`; see `OpenRecords.keep`. */
function keepBytes(from: number, to: string): string {
  return `control[${EDITED_FROM}] = ${from};
    control[${EDITED_FROM + 1}] = ${to} - ${from};
    control[${EDITED_FROM + 2}] = 0;
    control[${EDITED_FROM + 3}] = 0;
    control[${EDITED_FROM + 4}] = 0;`;
}

/**
 * The text of a `CommitPlace`, which also names `ring`, `publishOpen` and `publishEdited`.
 *
 * @param headBytes of a record that has become longer: those that `writeHead`, statements, stores at `start`.
 */
export function commitPlaceText(ring: Ring, headBytes: number, writeHead: string): string {
  const { capacity, openRecords, pending } = ring;
  const isOwnTable = openRecords?.view.buffer === pending.buffer;
  const state = headWord('at', 0);
  return `function commitPlace(at, bytes, wordAt, word) {
  if (ring.free < bytes) return false;
  const state = ${state};
  const start = ring.position & ${capacity - 1};
  const isAsBegun = (state & ${LENGTH}) === bytes;
  if (!isAsBegun) {
    ${writeHead}
    ${keepBytes(headBytes, 'bytes')}
  }
  control[${ENDING_AT}] = at;
  control[${ENDING_AT + 1}] = wordAt;
  control[${ENDING_AT + 2}] = word;
  ${headWord('at', MARK)} = control[${HEAD}];
  ${state} = state | ${COMMITTING};
  ring.free -= bytes;
  const next = start + bytes;
  ring.position = next >= ${capacity} ? next - ${capacity} : next;
  ${isOwnTable ? `control[${PENDING}]` : 'ring.pending[0]'} = bytes;
  if (isAsBegun) publishOpen();
  else publishEdited();
  if (control[${ATTENTION}] !== 0) attend();
  ${state} = 0;
  const left = control[${TAKEN}] - 1;
  places[left] = at;
  control[${TAKEN}] = left;
  return true;
}`;
}
