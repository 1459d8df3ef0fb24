/** Flags of rows, for the page and the exports, too: nothing here needs Node. */

export type TrackKind = 'thread' | 'rank' | 'states' | 'mark' | 'kernel';

type RareContent = 'states of threads' | 'MPI calls' | 'kernel events' | 'memory references';
/** The rows of a trace are of one kind. */
export type TraceContent = 'spans' | RareContent | 'events';

/** The trace of a row that belongs to none: a state of ovni, a call of DUMPI. */
export const NO_TRACE = 0xffff_ffff;
/** No text: a row without a route. */
export const NO_TEXT = 0xffff_ffff;
/** The row has no attributes, so no record of its own is read for it. */
export const NO_RECORD = 0xffff_ffff;

/** Bits of a row's flags: the kind of a span, its status, and the bits below. */
export const KIND_MASK = 0b111;
export const STATUS_SHIFT = 3;
export const STATUS_MASK = 0b11;
/** A status. */
export const ERROR = 2;
/** 1: the row has failed. */
export const failedOf = (flags: number): number =>
  ((flags >> STATUS_SHIFT) & STATUS_MASK) === ERROR ? 1 : 0;
/** The process ended before the span did: its end is the last sign of life. */
export const UNFINISHED_BIT = 1 << 5;
export const REMOTE_PARENT_BIT = 1 << 6;
/** An instant: it has a time and no duration. */
export const INSTANT_BIT = 1 << 7;
