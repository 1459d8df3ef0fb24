import { core } from '../addon.js';
import { LITTLE } from '../byte-order.js';
import { TraceFormatError } from '../errors.js';

/** Kinds of stamps, by their numbers in native/ring/commit_stamp.h. */
const NATIVE_STAMP = 1;
const BIG_STAMP = 2;
const NUMBER_BYTES = 8;

/** A record that its thread had begun and not ended. */
interface OpenRecord {
  /** Where its place and its bytes begin, from the start of the table. */
  place: number;
  at: number;
  length: number;
  closing: boolean;
}

/** Where a table of open records is read from, and what completes its records is stored. */
export interface TableStorage {
  /** Bytes of the ring's file from an offset on; fewer where it ends. */
  read(offset: number, count: number): Buffer;
  /** Absent: the ring is only read, and what completes its records stays in memory. */
  write?: (offset: number, bytes: Buffer) => void;
}

/** What a ring says of its table and of the records in it. */
export interface TableLayout {
  /** Bytes of the table, and of one place of it. */
  bytes: number;
  stride: number;
  numberAt: number;
  stampKind: number;
  stampOffset: number;
  epoch: bigint;
  series: number;
  nextNumber: number;
  /** When the process was last known to be alive. */
  lastSign: bigint;
}

/** Records, as they follow each other. */
export interface ClosedRecords {
  bytes: Buffer;
  records: number;
}

/**
 * What a control page says of its table.
 *
 * @param page of the ring.
 * @param controlBytes what lies in front of the data.
 * @throws TraceFormatError when the page contradicts itself.
 * @returns undefined for a ring without a table.
 */
export function tableLayout(
  path: string,
  page: DataView,
  controlBytes: number,
): TableLayout | undefined {
  const { control } = core;
  const u32 = (at: number) => page.getUint32(at, LITTLE);
  const u64 = (at: number) => page.getBigUint64(at, LITTLE);
  const places = u32(control.openPlaces);
  if (places === 0) return undefined;
  const stride = u32(control.openStride);
  const bytes = places * stride;
  const room = controlBytes - control.openTable;
  const fits = stride > control.openHeadBytes && stride % 8 === 0 && bytes <= room;
  if (!fits || places > control.mostOpenPlaces) {
    throw new TraceFormatError(
      path,
      control.openPlaces,
      `the table of open records must fit ${room} bytes, got ${places} places of ${stride} bytes`,
      { field: 'open places', value: places, limit: `${room} bytes` },
    );
  }
  const lastStamp = u64(control.lastStamp);
  const aliveAt = u64(control.aliveAt);
  return {
    bytes,
    stride,
    numberAt: page.getInt32(control.numberAt, LITTLE),
    stampKind: u32(control.stampKind),
    stampOffset: u32(control.stampOffset),
    epoch: u64(control.epoch),
    series: u32(control.series),
    nextNumber: u32(control.nextNumber),
    lastSign: aliveAt > lastStamp ? aliveAt : lastStamp,
  };
}

/**
 * The records that were open when their process died: the table of native/ring/open_records.h, read
 * without trusting it. A recovery stores what completes them in the ring's file first, so that one that
 * is interrupted goes on with the same bytes.
 */
export class RingOpenRecords {
  readonly #path: string;
  readonly #storage: TableStorage;
  readonly #layout: TableLayout;
  #held: Buffer | undefined;

  /** @param layout from {@link tableLayout}. */
  constructor(path: string, storage: TableStorage, layout: TableLayout) {
    this.#path = path;
    this.#storage = storage;
    this.#layout = layout;
  }

  /** Most bytes that its records can take. */
  get mostBytes(): number {
    return this.#layout.bytes;
  }

  /**
   * Ensures that a disk, or a copy, has left something of the table.
   *
   * @param count records that were open, as their process counted them.
   * @throws TraceFormatError when the table has nothing but zeros.
   */
  refuseBlank(count: number): void {
    if (count <= 0 || this.#table.some((byte) => byte !== 0)) return;
    const message = `the ring is filled with zeros: the ${count} open records that it held are lost`;
    throw new TraceFormatError(this.#path, core.control.openTable, message, {
      field: 'open places',
    });
  }

  /**
   * Completes the records that are open where the stream ends: each ends at the last sign of life and
   * takes the next number of its series.
   *
   * @param end the position at which the stream ends.
   * @param uncommitted the first bytes after that in the ring.
   * @param isRecord whether bytes are a whole record of the format; others are skipped.
   */
  close(end: number, uncommitted: Buffer, isRecord: (bytes: Buffer) => boolean): ClosedRecords {
    const { numberAt, series } = this.#layout;
    let number = this.#firstNumber(uncommitted);
    const closed: OpenRecord[] = [];
    for (const record of this.#openAt(end)) {
      const bytes = this.#bytesOf(record);
      if (!isRecord(bytes)) continue;
      if (this.#isNumbered(bytes) && bytes.readUInt32BE(numberAt) === series) {
        bytes.writeUInt32BE(number, numberAt + 4);
        number = (number + 1) >>> 0;
      }
      this.#raiseStamp(bytes);
      this.#store(record.at, record.length);
      closed.push(record);
    }
    for (const { place } of closed) {
      this.#put(place + core.control.openMark, end >>> 0);
      this.#put(place + core.control.openClosing, 1);
    }
    return this.#closed(closed);
  }

  /** The records that were completed before and have a place in the target already. */
  closedAt(end: number, isRecord: (bytes: Buffer) => boolean): ClosedRecords {
    return this.#closed(
      [...this.#openAt(end)].filter((record) => record.closing && isRecord(this.#bytesOf(record))),
    );
  }

  /** Frees the places of records that are in the target: all that were completed. */
  discardClosed(): void {
    for (const { place, closing } of this.#records()) {
      if (closing) this.#put(place + core.control.openState, 0);
    }
  }

  /** Frees the place of the record whose final record was the next one at `end`: it is in the target. */
  discardCommitting(end: number): void {
    for (const { place } of this.#records()) {
      if (this.#isCommitting(place) && this.#markOf(place) === end >>> 0) {
        this.#put(place + core.control.openState, 0);
      }
    }
  }

  get #table(): Buffer {
    if (this.#held !== undefined) return this.#held;
    const { openTable } = core.control;
    const table = this.#storage.read(openTable, this.#layout.bytes);
    if (table.length < this.#layout.bytes)
      throw new TraceFormatError(this.#path, openTable + table.length, 'the table ends');
    this.#held = table;
    return table;
  }

  /** The records in the table that the stream, which ends at `end`, does not have. */
  *#openAt(end: number): Generator<OpenRecord, void> {
    for (const record of this.#records()) {
      const mayBeIn = record.closing || this.#isCommitting(record.place);
      if (!mayBeIn || this.#markOf(record.place) === end >>> 0) yield record;
    }
  }

  *#records(): Generator<OpenRecord, void> {
    const { bytes, stride } = this.#layout;
    const { openClosing, openHeadBytes, openLength, openState } = core.control;
    for (let place = 0; place < bytes; place += stride) {
      const length = this.#get(place + openState) & openLength;
      if (length === 0 || length > stride - openHeadBytes) continue;
      const closing = this.#get(place + openClosing) !== 0;
      yield { place, at: place + openHeadBytes, length, closing };
    }
  }

  #closed(records: readonly OpenRecord[]): ClosedRecords {
    const bytes = Buffer.concat(records.map((record) => this.#bytesOf(record)));
    return { bytes, records: records.length };
  }

  /** A number that was taken for a record which never was committed is free again. */
  #firstNumber(uncommitted: Buffer): number {
    const { nextNumber, numberAt, series } = this.#layout;
    const last = (nextNumber - 1) >>> 0;
    const isLast =
      this.#isNumbered(uncommitted) &&
      uncommitted.readUInt32BE(numberAt) === series &&
      uncommitted.readUInt32BE(numberAt + 4) === last;
    return isLast ? last : nextNumber;
  }

  #isNumbered(bytes: Buffer): boolean {
    const { numberAt } = this.#layout;
    return numberAt >= 0 && numberAt + NUMBER_BYTES <= bytes.length;
  }

  /** As CommitStamp::raise of native/ring/commit_stamp.h. */
  #raiseStamp(bytes: Buffer): void {
    const { epoch, lastSign, stampKind, stampOffset } = this.#layout;
    if (stampOffset + 8 > bytes.length) return;
    if (stampKind === BIG_STAMP) {
      const stamp = lastSign > epoch ? lastSign - epoch : 0n;
      if (bytes.readBigUInt64BE(stampOffset) < stamp) bytes.writeBigUInt64BE(stamp, stampOffset);
    } else if (stampKind === NATIVE_STAMP) {
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
      if (view.getBigUint64(stampOffset, LITTLE) < lastSign) {
        view.setBigUint64(stampOffset, lastSign, LITTLE);
      }
    }
  }

  #isCommitting(place: number): boolean {
    const { openCommitting, openState } = core.control;
    return (this.#get(place + openState) & openCommitting) !== 0;
  }

  #markOf(place: number): number {
    return this.#get(place + core.control.openMark);
  }

  #bytesOf({ at, length }: OpenRecord): Buffer {
    return this.#table.subarray(at, at + length);
  }

  #get(at: number): number {
    return LITTLE ? this.#table.readUInt32LE(at) : this.#table.readUInt32BE(at);
  }

  #put(at: number, value: number): void {
    if (LITTLE) this.#table.writeUInt32LE(value, at);
    else this.#table.writeUInt32BE(value, at);
    this.#store(at, 4);
  }

  /** Stores bytes of the table in the ring's file. */
  #store(at: number, count: number): void {
    this.#storage.write?.(core.control.openTable + at, this.#table.subarray(at, at + count));
  }
}
