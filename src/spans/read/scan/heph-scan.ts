import {
  attributesAt,
  COUNTER_OFFSET,
  DEFINITION_STREAM,
  descriptionAt,
  END_OFFSET,
  SIZE_OFFSET,
  START_OFFSET,
  STREAM_OFFSET,
  SUBSTREAM_OFFSET,
} from '../../../heph/layout.js';
import { isEventAt } from '../../../heph/read/packet-head.js';
import { ByteTable, NO_SYSTEM } from '../../../rows/byte-table.js';
import { TraceTable } from '../../../rows/id-table.js';
import type { PartTrack, StreamCount } from '../../../rows/row-batch.js';
import { RowColumns } from '../../../rows/row-columns.js';
import {
  NO_TEXT,
  NO_TRACE,
  REMOTE_PARENT_BIT,
  STATUS_SHIFT,
  UNFINISHED_BIT,
} from '../../../rows/row-flags.js';
import {
  KIND_MASK as SPAN_KIND_MASK,
  KIND_SHIFT,
  IDENTITY_BYTES,
  KINDS,
  PARENT_REMOTE,
  STATUS_MASK as SPAN_STATUS_MASK,
  STATUS_SHIFT as SPAN_STATUS_SHIFT,
  STATUSES,
  UNFINISHED,
} from '../../layout.js';
import { nameOfStream } from '../resource-facts.js';
import { headAt, isIdentity, VERSION_HEAD, WORD_ATTRIBUTE } from '../span-identity.js';
import { HTTP } from '../system-of.js';
import { AttributeScan, ROUTE } from './attribute-scan.js';
import { noteClock, noteEpoch } from '../clock-record.js';
import { collectionsIn } from '../collection-list.js';
import type { TraceClock } from '../trace-clock.js';

const HTTP_BYTES = Buffer.from(HTTP);

/** Threads of a source that have a track of their own; the others share the last one. */
export const MAX_TRACKS = 4096;
/** The thread of the track that further threads share. */
const FURTHER_STREAMS = 0xffff_fffe;
/** Definitions and clock records of a part that are kept. */
const MAX_NOTES = 1 << 14;
const TWO_32 = 2 ** 32;

/** Reads whole records of a Heph file into rows. Whatever it is given may be hostile. */
export class HephScan {
  readonly rows: RowColumns;
  readonly names = new ByteTable();
  readonly traces: TraceTable;
  readonly counts = new Map<number, StreamCount>();
  readonly tracks: PartTrack[] = [];
  /** Where definitions and clock records lie in the file. */
  readonly notes: number[] = [];
  /** Records and stretches of bytes that are not as the format says; where the first of them begins in the file. */
  faulty = 0;
  firstFaulty = 0;
  /** Where those lie of which there is no row, the first of them. */
  readonly unread: number[] = [];
  readonly #clock: TraceClock;
  readonly #base: number;
  readonly #zero: bigint;
  /** The same; NaN beyond 2^53. */
  readonly #near: number;
  readonly #attributes: AttributeScan;
  readonly #trackOf = new Map<number, number>();
  #lastStream = -1;
  #lastTrack = 0;
  #lastCount: StreamCount = { stream: -1, first: 0, last: 0, missing: 0 };
  #areNumbered = true;

  /**
   * @param clock what the records before these have said of times; takes note of what these say.
   * @param base bytes of the file before the part.
   * @param rows take what is read; empty.
   * @param options.zero of the rows' times, in ns since the trace's first epoch.
   * @param options.traces takes the ids of traces; empty.
   * @param options.hashes whether attributes are hashed for searches.
   */
  constructor(
    clock: TraceClock,
    base: number,
    rows = new RowColumns(),
    { zero = 0n, hashes = true, traces = new TraceTable() } = {},
  ) {
    this.rows = rows;
    this.traces = traces;
    this.#clock = clock;
    this.#base = base;
    this.#zero = zero;
    this.#near = Number.isSafeInteger(Number(zero)) ? Number(zero) : NaN;
    this.#attributes = new AttributeScan(this.rows, hashes);
  }

  /** Takes the records that lie in bytes `from` to `to`, which begin `offset` bytes into the file. */
  take(bytes: Uint8Array, view: DataView, from: number, to: number, offset: number): void {
    for (let at = from; at < to;) {
      const size = view.getUint32(at + SIZE_OFFSET);
      if (!isEventAt(view, at)) {
        noteEpoch(this.#clock, bytes, view, at, size);
      } else {
        this.#event(bytes, view, at, at + size, offset + at - from);
      }
      at += size;
    }
  }

  /**
   * Takes a record that was open when it was read, after all others. It has no number yet: its bytes have the next
   * one of its thread, which may have recorded more than was read.
   */
  takeOpen(bytes: Uint8Array, offset: number): void {
    this.#areNumbered = false;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.take(bytes, view, 0, bytes.length, offset);
  }

  #event(bytes: Uint8Array, view: DataView, at: number, end: number, offset: number): void {
    const stream = view.getUint32(at + STREAM_OFFSET);
    const description = descriptionAt(at);
    const identity = attributesAt(view, at);
    if (identity > end) {
      this.noteFaulty(offset);
      if (this.unread.length < MAX_NOTES) this.unread.push(offset);
      return;
    }
    if (stream === DEFINITION_STREAM) {
      if (this.notes.length < MAX_NOTES) this.notes.push(offset);
      noteClock(this.#clock, bytes, view, at, end);
      return;
    }
    if (stream !== this.#lastStream) this.#setStream(stream, view.getUint32(at + COUNTER_OFFSET));
    else this.#count(view.getUint32(at + COUNTER_OFFSET));
    if (headAt(view, identity, end) === VERSION_HEAD) {
      if (this.notes.length < MAX_NOTES) this.notes.push(offset);
      noteClock(this.#clock, bytes, view, at, end);
      this.#collections(bytes, view, at, end, offset);
      return;
    }
    const { rows } = this;
    const row = rows.add();
    rows.track[row] = this.#lastTrack;
    rows.recordOffset[row] = offset - this.#base;
    rows.route[row] = NO_TEXT;
    const isSpan = isIdentity(view, identity, end);
    let rest = identity;
    if (isSpan) {
      this.#identity(view, at, identity, row);
      rest = identity + IDENTITY_BYTES;
    } else {
      rows.trace[row] = NO_TRACE;
      rows.flags[row] = 0;
      rows.spanId[2 * row] = rows.spanId[2 * row + 1] = 0;
      rows.parentId[2 * row] = rows.parentId[2 * row + 1] = 0;
    }
    const attributes = this.#attributes;
    if (!attributes.read(bytes, view, rest, end)) this.noteFaulty(offset);
    rows.hashEnd[row] = rows.hashCount;
    this.#times(view, at, row);
    const { texts } = attributes;
    if (texts[2 * ROUTE + 1] !== 0) {
      rows.route[row] = this.names.numberOf(bytes, texts[2 * ROUTE]!, texts[2 * ROUTE + 1]!);
    }
    const system = this.#systemNumber(bytes);
    rows.name[row] = this.names.numberOf(bytes, description, identity, system);
  }

  /** A row for each of the collections that an event lists. */
  #collections(bytes: Uint8Array, view: DataView, at: number, end: number, offset: number): void {
    const { rows } = this;
    for (const { name, start, duration } of collectionsIn(bytes, view, at, end)) {
      const row = rows.add();
      rows.track[row] = this.#lastTrack;
      rows.recordOffset[row] = offset - this.#base;
      rows.route[row] = NO_TEXT;
      rows.trace[row] = NO_TRACE;
      rows.flags[row] = 0;
      rows.spanId[2 * row] = rows.spanId[2 * row + 1] = 0;
      rows.parentId[2 * row] = rows.parentId[2 * row + 1] = 0;
      rows.hashEnd[row] = rows.hashCount;
      rows.name[row] = this.names.numberOfText(name);
      const from = start + this.#clock.offsetFromFirst(start) - this.#zero;
      rows.setTimes(row, from, from + duration);
    }
  }

  /** The number of the text that names the system of the operation. */
  #systemNumber(bytes: Uint8Array): number {
    const attributes = this.#attributes;
    const at = attributes.system;
    if (at !== -1) {
      const { texts } = attributes;
      return this.names.numberOf(bytes, texts[2 * at]!, texts[2 * at + 1]!);
    }
    return attributes.isHttp ? this.names.numberOf(HTTP_BYTES, 0, HTTP_BYTES.length) : NO_SYSTEM;
  }

  /** Notes a record that is not as the format says, or bytes between records. */
  noteFaulty(offset: number): void {
    if (this.faulty++ === 0) this.firstFaulty = offset;
  }

  #identity(view: DataView, at: number, identity: number, row: number): void {
    const { rows } = this;
    const flags = view.getUint32(identity + 3 * WORD_ATTRIBUTE + 9);
    const kind = (flags >> KIND_SHIFT) & SPAN_KIND_MASK;
    const status = (flags >> SPAN_STATUS_SHIFT) & SPAN_STATUS_MASK;
    rows.flags[row] =
      (kind < KINDS.length ? kind : 0) |
      ((status < STATUSES.length ? status : 0) << STATUS_SHIFT) |
      ((flags & UNFINISHED) === 0 ? 0 : UNFINISHED_BIT) |
      ((flags & PARENT_REMOTE) === 0 ? 0 : REMOTE_PARENT_BIT);
    rows.trace[row] = this.traces.numberOf(
      view.getInt32(identity + 5),
      view.getInt32(identity + 9),
      view.getInt32(at + SUBSTREAM_OFFSET),
      view.getInt32(at + SUBSTREAM_OFFSET + 4),
    );
    const spanId = identity + WORD_ATTRIBUTE + 5;
    rows.spanId[2 * row] = view.getUint32(spanId);
    rows.spanId[2 * row + 1] = view.getUint32(spanId + 4);
    const parentId = identity + 2 * WORD_ATTRIBUTE + 5;
    rows.parentId[2 * row] = view.getUint32(parentId);
    rows.parentId[2 * row + 1] = view.getUint32(parentId + 4);
  }

  #times(view: DataView, at: number, row: number): void {
    const startAt = at + START_OFFSET;
    const endAt = at + END_OFFSET;
    const { realStart, realEnd } = this.#attributes;
    if ((realStart | realEnd) === 0 && this.#clock.isPlain) {
      const start = view.getUint32(startAt) * TWO_32 + view.getUint32(startAt + 4);
      const end = view.getUint32(endAt) * TWO_32 + view.getUint32(endAt + 4);
      const fromZero = start - this.#near;
      if (
        Number.isSafeInteger(end) &&
        Number.isSafeInteger(start) &&
        Number.isSafeInteger(fromZero)
      ) {
        this.rows.start[row] = fromZero;
        this.rows.duration[row] = end > start ? end - start : 0;
        return;
      }
    }
    const own = view.getBigUint64(startAt);
    const start = realStart === 0 ? own : view.getBigInt64(realStart);
    const end = realEnd === 0 ? view.getBigUint64(endAt) : view.getBigInt64(realEnd);
    const offset = this.#clock.offsetFromFirst(own) - this.#zero;
    this.rows.setTimes(row, start + offset, end + offset);
  }

  #setStream(stream: number, counter: number): void {
    let track = this.#trackOf.get(stream);
    if (track === undefined) {
      const isOwn = this.tracks.length < MAX_TRACKS - 1;
      track = isOwn ? this.tracks.length : MAX_TRACKS - 1;
      if (isOwn) this.#trackOf.set(stream, track);
      if (track === this.tracks.length) {
        const name = isOwn ? nameOfStream(stream) : 'further threads';
        this.tracks.push({ kind: 'thread', name, thread: isOwn ? stream : FURTHER_STREAMS });
      }
    }
    this.#lastStream = stream;
    this.#lastTrack = track;
    if (!this.#areNumbered) return;
    let count = this.counts.get(stream);
    if (count !== undefined) {
      this.#lastCount = count;
      this.#count(counter);
      return;
    }
    count = { stream, first: counter, last: counter, missing: 0 };
    if (this.counts.size < MAX_TRACKS) this.counts.set(stream, count);
    this.#lastCount = count;
  }

  #count(counter: number): void {
    if (!this.#areNumbered) return;
    const count = this.#lastCount;
    const gap = (counter - count.last - 1) >>> 0;
    // A counter that goes back is no gap: the stream was begun again.
    if (gap < 0x8000_0000) count.missing += gap;
    count.last = counter;
  }
}
