import { ByteTable } from './byte-table.js';
import { TraceTable } from './id-table.js';
import type { AttributeReader, ReadBatch, RowCounter, RowOptions, RowTrack } from './row-batch.js';
import { RowColumns } from './row-columns.js';
import {
  ERROR,
  INSTANT_BIT,
  NO_RECORD,
  NO_TEXT,
  NO_TRACE,
  STATUS_SHIFT,
  UNFINISHED_BIT,
} from './row-flags.js';

/** Tracks of a batch at most; further ones share the last. The same number of counters. */
const MAX_TRACKS = 4096;
/** Names that are found by their text; others by their bytes. */
const MAX_KNOWN_NAMES = 1 << 16;
/** Offsets in a batch are u32. A row can lie before the batch's first record by as much as after it. */
const HALF_OFFSETS = 2 ** 31;
const FIRST_ROWS = 1 << 10;

/** The fields that make a row a span. */
interface SpanOfRow {
  /** 128 bits. */
  traceId: bigint;
  /** 64 bits, as `parentSpanId`. */
  spanId: bigint;
  /** Absent or 0: a root. */
  parentSpanId?: bigint;
  /** 0 internal (default), 1 server, 2 client, 3 producer, 4 consumer. */
  kind?: number;
  failed?: boolean;
  /** The process ended before the span did. */
  unfinished?: boolean;
}

/** A word of an id, signed: the lowest is 0. */
function wordOf(id: bigint, word: number): number {
  return Number(BigInt.asIntN(32, id >> BigInt(32 * word)));
}

/** Rows of a format whose records are read one by one. */
export class RowBuilder implements ReadBatch {
  readonly rows: RowColumns;
  readonly names = new ByteTable();
  readonly traces = new TraceTable();
  readonly tracks: RowTrack[] = [];
  readonly counters: RowCounter[] = [];
  readonly counts = new Map<number, never>();
  readonly notes: number[] = [];
  readonly faulty = 0;
  readonly firstFaulty = 0;
  readonly from: number;
  readonly openAttributes: () => AttributeReader;
  readonly #zero: bigint;
  readonly #most: number;
  readonly #trackOf = new Map<RowTrack, number>();
  readonly #counterOf = new Map<unknown, RowCounter | undefined>();
  readonly #nameOf = new Map<string, number>();
  #last = 0;

  /** @param first offset of the first record. */
  constructor(
    { zero, batchRows }: RowOptions,
    first: number,
    openAttributes: () => AttributeReader,
  ) {
    this.#zero = zero;
    this.#most = batchRows;
    this.from = Math.max(0, first - HALF_OFFSETS);
    this.openAttributes = openAttributes;
    this.rows = new RowColumns(Math.min(FIRST_ROWS, batchRows));
  }

  /** Whether a new batch has to begin. */
  get isFull(): boolean {
    return (
      this.rows.count >= this.#most || this.#last - this.from > HALF_OFFSETS + HALF_OFFSETS / 2
    );
  }

  /**
   * Adds a row.
   *
   * @param start in ns of the trace's clock, as `end`.
   * @param offset of the record with the row's attributes; undefined: it has none.
   */
  add(track: RowTrack, name: string, start: bigint, end: bigint, offset?: number): number {
    const { rows } = this;
    const row = rows.add();
    rows.setTimes(row, start - this.#zero, end - this.#zero);
    rows.flags[row] = 0;
    rows.name[row] = this.#name(name);
    rows.route[row] = NO_TEXT;
    rows.trace[row] = NO_TRACE;
    rows.track[row] = this.#track(track);
    rows.recordOffset[row] = this.#relative(offset);
    rows.hashEnd[row] = rows.hashCount;
    return row;
  }

  /** Adds a span. Its record needs to say its attributes alone. */
  addSpan(
    track: RowTrack,
    name: string,
    start: bigint,
    end: bigint,
    offset: number | undefined,
    span: SpanOfRow,
  ): number {
    const row = this.add(track, name, start, end, offset);
    const { rows, traces } = this;
    const { traceId, spanId, parentSpanId = 0n, kind = 0, failed, unfinished } = span;
    const [a, b, c, d] = [3, 2, 1, 0].map((word) => wordOf(traceId, word));
    rows.trace[row] = traces.numberOf(a!, b!, c!, d!);
    rows.spanId.set([wordOf(spanId, 1), wordOf(spanId, 0)], 2 * row);
    rows.parentId.set([wordOf(parentSpanId, 1), wordOf(parentSpanId, 0)], 2 * row);
    rows.flags[row] =
      kind | (failed ? ERROR << STATUS_SHIFT : 0) | (unfinished ? UNFINISHED_BIT : 0);
    return row;
  }

  addInstant(track: RowTrack, name: string, time: bigint, offset?: number): void {
    this.rows.flags[this.add(track, name, time, time, offset)] = INSTANT_BIT;
  }

  /** Adds a value to a curve. @param counter the same object for all values of the curve. */
  count(counter: Omit<RowCounter, 'times' | 'values'>, time: bigint, value: number): void {
    let own = this.#counterOf.get(counter);
    if (own === undefined) {
      if (this.counters.length >= MAX_TRACKS) return;
      own = { ...counter, times: [], values: [] };
      this.#counterOf.set(counter, own);
      this.counters.push(own);
    }
    own.times.push(Number(time - this.#zero));
    own.values.push(value);
  }

  #name(text: string): number {
    let number = this.#nameOf.get(text);
    if (number === undefined) {
      number = this.names.numberOfText(text);
      if (this.#nameOf.size < MAX_KNOWN_NAMES) this.#nameOf.set(text, number);
    }
    return number;
  }

  #track(track: RowTrack): number {
    let number = this.#trackOf.get(track);
    if (number === undefined) {
      number = Math.min(this.tracks.length, MAX_TRACKS - 1);
      if (number === this.tracks.length) {
        const isLast = number === MAX_TRACKS - 1;
        this.tracks.push(isLast ? { ...track, ...FURTHER } : track);
      }
      this.#trackOf.set(track, number);
    }
    return number;
  }

  #relative(offset: number | undefined): number {
    if (offset === undefined) return NO_RECORD;
    this.#last = Math.max(this.#last, offset);
    const after = offset - this.from;
    return after >= 0 && after < NO_RECORD ? after : NO_RECORD;
  }
}

const FURTHER = { kind: 'thread', name: 'further threads', thread: 0xffff_fffe } as const;
