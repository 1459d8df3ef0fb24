import { counted } from '../../../core/readable-text.js';
import type { TracewrightError } from '../../../core/errors.js';
import { faultOf, unlessFaulty, untilFault } from '../../../core/fault.js';
import { hasCode } from '../../../core/files/system-error.js';
import type { RowCounter } from '../../../rows/row-batch.js';
import type { WalkEnd } from '../../../spans/read/scan/heph-walk.js';
import { type ClockState, noClock } from '../../../spans/read/trace-clock.js';
import type { FoundTrace } from '../../../traces/find-traces.js';
import type { Loss, Message, Source } from '../look-index.js';
import { buildPart } from '../parts/build-part.js';
import { buildStretch, PART_ROWS, type Stretch, stretchesOf } from '../parts/build-stretch.js';
import type { StoredPart } from '../parts/indexed-part.js';
import type { BuiltPart } from '../parts/part-columns.js';
import { joinSource, type SourceJoins } from './source-joins.js';

/** One trace as far as the index has read it. */
export interface ReadSource {
  trace: FoundTrace;
  parts: StoredPart[];
  /** Of all parts, or of the first ones: those after them are of a trace that grows. */
  joins: SourceJoins;
  /** The same object as long as the file is the same, and what was read of it still holds. */
  reading: object;
  /** Curves of one stretch after the other. */
  counters: readonly (readonly RowCounter[])[];
  /** Rows counted from the source's first, and ns from the zero of its times. */
  messages: readonly Message[];
  losses: Loss[];
  /** Of a Heph file: where its next record begins, and what its records have said of times. */
  end: number;
  clock: ClockState;
  /** Of any other trace: the zero of its rows on its own clock, and since 1970 if it says that. */
  times?: { zero: bigint; epoch: bigint | undefined };
  /** Why it was not read to its end. */
  ended: WalkEnd;
  /** The state of its writer by its rings; undefined: they were not read. */
  state?: Source['state'];
  /** Of a trace that grows: what was recorded until then was read, in ns since 1970. Each reading sets it. */
  readAt?: bigint;
  /** Records that lie in no file: see `LivingRows`. */
  records?: ReadonlyMap<number, Buffer>;
}

/** A part that is not stored. @param stretch from which it was built. */
export function inMemory({ facts, columns }: BuiltPart, stretch?: Stretch): StoredPart {
  return { facts, column: (name) => columns[name], ...(stretch && { stretch }) };
}

/** Reads a Heph file into memory, up to `end`. */
export function readHeph(trace: FoundTrace, end: number): ReadSource {
  const parts: StoredPart[] = [];
  const stretches = stretchesOf(trace.path, 0, end);
  let next = stretches.next();
  for (; next.done !== true; next = stretches.next()) {
    parts.push(inMemory(buildStretch(next.value), next.value));
  }
  return sourceWith(trace, { parts, ...next.value });
}

/** Faults of a source that are said one by one. */
const MOST_FAULTS = 100;

/** A fault as a loss. */
export function unreadable({ message }: TracewrightError): Loss {
  return { count: undefined, reason: message, isUnreadable: true };
}

/** A source of which nothing can be read. */
export function unreadSource(trace: FoundTrace, error: unknown): ReadSource {
  return sourceWith(trace, { losses: [unreadable(faultOf(trace.path, error))] });
}

/** Reads the rows of a trace into memory. */
export function readRows(trace: FoundTrace): ReadSource {
  const { format, path } = trace;
  const losses: Loss[] = [];
  const onFault = (fault: TracewrightError): void => {
    // A trace that rotates has deleted it.
    if (hasCode(fault, 'ENOENT')) throw fault;
    losses.push(unreadable(fault));
  };
  if (format.rows === undefined) {
    losses.push({ count: undefined, reason: `${path} ${format.notDrawn}` });
    return sourceWith(trace, { losses });
  }
  const zero = unlessFaulty(() => format.firstTime(path)) ?? 0n;
  const epoch = unlessFaulty(() => format.epoch(path));
  const reading = format.rows(path, { zero, batchRows: PART_ROWS, onFault });
  const parts: StoredPart[] = [];
  const counters: (readonly RowCounter[])[] = [];
  /** The row of the source for each row of each batch. */
  const rowsOf: Uint32Array[] = [];
  let firstRow = 0;
  for (const batch of untilFault(onFault, path, () => reading.batches())) {
    const { from, openAttributes } = batch;
    const built = buildPart(batch, from, from);
    counters.push(batch.counters);
    if (reading.flows !== undefined) rowsOf.push(rowsAfter(built.order, firstRow));
    firstRow += built.facts.rows;
    if (built.facts.rows > 0) parts.push({ ...inMemory(built), openAttributes });
  }
  const messages = reading.flows?.map(
    ({ fromBatch, fromRow, toBatch, toRow, sent, received, bytes }): Message => ({
      fromRow: rowsOf[fromBatch]![fromRow]!,
      toRow: rowsOf[toBatch]![toRow]!,
      sent,
      received,
      bytes,
    }),
  );
  const times = { zero, epoch: epoch === undefined ? undefined : epoch + zero };
  return sourceWith(trace, { parts, counters, messages: messages ?? [], losses, times });
}

/** Where each row lies in an order of rows. */
function rowsAfter(order: Uint32Array, first: number): Uint32Array {
  const rows = new Uint32Array(order.length);
  for (let at = 0; at < order.length; at++) rows[order[at]!] = first + at;
  return rows;
}

/** Makes a source of what was read of a trace, with defaults for the rest. */
export function sourceWith(trace: FoundTrace, read: Partial<ReadSource>): ReadSource {
  const { parts = [], losses = [] } = read;
  return {
    trace,
    counters: [],
    messages: [],
    reading: {},
    end: 0,
    clock: noClock(),
    ended: 'end',
    joins: read.joins ?? joinSource(parts),
    ...read,
    parts,
    losses: boundedLosses(trace, losses),
  };
}

function boundedLosses({ path }: FoundTrace, losses: Loss[]): Loss[] {
  const more = losses.length - MOST_FAULTS;
  if (more <= 0) return losses;
  const reason = `${path}: ${counted(more, 'more fault')}`;
  return [...losses.slice(0, MOST_FAULTS), { count: undefined, reason, isUnreadable: true }];
}

const MOST_ATTEMPTS = 8;

/**
 * Reads traces again if a file is gone that was just found: a trace that rotates deletes its oldest piece.
 *
 * @param read takes what is gone for a fault in the last attempt: files may come and go all the time, and a
 *   name that is not UTF-8 is never found.
 */
export async function whileFilesVanish<T>(read: (isLast: boolean) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await read(attempt >= MOST_ATTEMPTS);
    } catch (error) {
      if (attempt >= MOST_ATTEMPTS || !hasCode(error, 'ENOENT')) throw error;
    }
  }
}
