import {
  INCREMENTAL,
  MAJOR,
  MINOR,
  MINOR_MARK_SWEEP,
  WEAK_CALLBACKS,
  STALL_CAUSES,
} from './pauses.js';

/** A type of marks that is recorded once it is over. */
export interface PastMarkKind {
  readonly type: number;
  readonly title: string;
  /** Names the stream and warnings: `garbage collections`. */
  readonly what: string;
  /** Added to a thread's number, which Linux keeps below 2^22, for the stream's. */
  readonly tidOffset: number;
  readonly labels: readonly (readonly [value: number, label: string])[];
}

/** Values are the kinds of collections. */
export const COLLECTIONS: PastMarkKind = {
  type: 1,
  title: 'Garbage collection',
  what: 'garbage collections',
  tidOffset: 1_000_000_000,
  labels: [
    [MINOR, 'minor (scavenge)'],
    [MINOR_MARK_SWEEP, 'minor (mark-sweep)'],
    [MAJOR, 'major (mark-sweep-compact)'],
    [INCREMENTAL, 'incremental marking'],
    [WEAK_CALLBACKS, 'weak callbacks'],
  ],
};

/** Values are positions in STALL_CAUSES plus 1: a mark is never 0. */
export const STALLS: PastMarkKind = {
  type: 2,
  title: 'Event loop blocked',
  what: 'stalls',
  tidOffset: 1_500_000_000,
  labels: STALL_CAUSES.map((cause, position) => [position + 1, cause]),
};
