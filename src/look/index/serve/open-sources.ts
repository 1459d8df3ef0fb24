import type { RecordedResource } from '../../../spans/span-record.js';
import type { IndexedPart } from '../parts/indexed-part.js';
import type { RowCounter } from '../../../rows/row-batch.js';
import { SpanSource } from '../../../spans/read/span-source.js';
import type { ReadSource } from '../sources/read-source.js';
import type { JoinedPieces } from '../sources/joined-pieces.js';
import type { Source } from '../look-index.js';
/** Bytes of columns that an index keeps in memory while its traces grow. */
const MOST_HELD = 256 << 20;

export type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** A source with what reads the records of each of its files. */
export interface OpenSource {
  source: Mutable<Source>;
  joined: JoinedPieces;
  /** Of spans. */
  resource: RecordedResource | undefined;
  pieces: OpenPiece[];
}

export interface OpenPiece {
  piece: ReadSource;
  spans: SpanSource;
  epoch: bigint | undefined;
  counters: readonly (readonly RowCounter[])[];
}

/**
 * The earliest start becomes time 0. Sources whose epoch is not known begin with the others.
 *
 * @param known the epoch of an index that is open already: it stays.
 * @returns the epoch, and the length of all sources together in ns.
 */
export function alignTimes(
  open: readonly OpenSource[],
  known: bigint | undefined,
): { epoch: bigint; length: number } {
  const times = open.flatMap(({ source, joined: { pieces } }) => {
    const parts = pieces.flatMap((piece) => piece.parts);
    const facts = parts.map((part) => part.facts).filter(({ rows }) => rows > 0);
    if (facts.length === 0) return [];
    const first = facts.reduce((least, { firstStart }) => Math.min(least, firstStart), Infinity);
    const last = facts.reduce((most, { lastEnd }) => Math.max(most, lastEnd), -Infinity);
    return [{ source, first: BigInt(Math.floor(first)), last }];
  });
  const aligned = times.filter(({ source }) => source.isAligned);
  const begins = (aligned.length > 0 ? aligned : times).map(
    ({ source, first }) => source.epoch + source.clockOffset + first,
  );
  const least = begins.reduce((one, other) => (other < one ? other : one), begins[0] ?? 0n);
  const epoch = known ?? least;
  let length = 0;
  for (const { source, first, last } of times) {
    if (!source.isAligned) source.epoch = epoch - first;
    length = Math.max(length, last + Number(source.epoch + source.clockOffset - epoch));
  }
  return { epoch, length };
}

/** Forgets columns that can be read again, first those of parts that were not used for long. */
export function releaseUnused(parts: readonly IndexedPart[]): void {
  let held = parts.reduce((sum, { heldBytes }) => sum + heldBytes, 0);
  if (held <= MOST_HELD) return;
  for (const part of [...parts].sort((a, b) => a.used - b.used)) {
    if (held <= MOST_HELD) return;
    held -= part.heldBytes;
    part.release();
  }
}

/** Makes readers of the pieces' records. They open their files when they are needed. */
export function openPieces({ pieces }: JoinedPieces, before: Map<object, OpenPiece>): OpenPiece[] {
  const { clock, times } = pieces[0]!;
  const epoch = times === undefined ? clock.epoch : times.epoch;
  return pieces.map((piece) => {
    const same = before.get(piece.reading);
    const notes = piece.parts.flatMap((part) => part.facts.notes);
    const opened = { piece, epoch, counters: [] };
    if (same === undefined || same.epoch !== epoch) {
      const spans = new SpanSource(piece.trace.path, epoch ?? 0n, notes, piece.records);
      return { ...opened, spans };
    }
    before.delete(piece.reading);
    const { spans } = same;
    if (same.piece !== piece) spans.grow(notes, same.piece.end, piece.records);
    // There may be many of them.
    else if (piece.state !== 'growing') spans.close();
    return { ...opened, spans };
  });
}

export function closeFiles({ pieces }: OpenSource): void {
  for (const { spans } of pieces) spans.close();
}

/** Joins the curves of the stretches of a trace, in their order. */
export function joinCounters(stretches: readonly (readonly RowCounter[])[]): readonly RowCounter[] {
  if (stretches.length === 1) return stretches[0]!;
  const joined = new Map<string, RowCounter>();
  for (const counter of stretches.flat()) {
    const key = `${counter.process?.pid} ${counter.thread} ${counter.name}`;
    const known = joined.get(key);
    if (known === undefined) {
      joined.set(key, { ...counter, times: [...counter.times], values: [...counter.values] });
      continue;
    }
    for (const time of counter.times) known.times.push(time);
    for (const value of counter.values) known.values.push(value);
  }
  return [...joined.values()];
}
