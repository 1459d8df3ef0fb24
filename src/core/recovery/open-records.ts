import { core } from '../addon.js';
import { LITTLE } from '../byte-order.js';
import { TraceFormatError } from '../errors.js';
import type { WaitingRecords } from './waiting-records.js';

/** Kinds of stamps, by their numbers in native/ring/commit_stamp.h. */
const NATIVE_STAMP = 1;
const BIG_STAMP = 2;
const NUMBER_BYTES = 8;

/** A record that its thread had begun and not ended. */
interface OpenRecord {
  /** Where its slot and its bytes begin, from the start of the table. */
  slot: number;
  at: number;
  length: number;
  closing: boolean;
}

/** Where a ring has its table, and the records in it. */
export interface TableLayout {
  /** Bytes of the table, and of one slot of it. */
  bytes: number;
  stride: number;
  numberAt: number;
  /** Where a record has its length; 0: nowhere. */
  lengthAt: number;
  stampKind: number;
  stampOffset: number;
  epoch: bigint;
  series: number;
  nextNumber: number;
  /** When the process was last known to be alive. */
  lastSign: bigint;
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
  const slots = u32(control.openPlaces);
  if (slots === 0) return undefined;
  const stride = u32(control.openStride);
  const bytes = slots * stride;
  const room = controlBytes - control.openTable;
  const fits = stride > control.openHeadBytes && stride % 8 === 0 && bytes <= room;
  if (!fits || slots > control.mostOpenPlaces) {
    throw new TraceFormatError(
      path,
      control.openPlaces,
      `the table of open records must fit ${room} bytes, got ${slots} slots of ${stride} bytes`,
      { field: 'open slots', value: slots, limit: `${room} bytes` },
    );
  }
  const lastStamp = u64(control.lastStamp);
  const aliveAt = u64(control.aliveAt);
  return {
    bytes,
    stride,
    numberAt: page.getInt32(control.numberAt, LITTLE),
    lengthAt: u32(control.lengthAt),
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
 * without trusting it. Every reading of the same ring completes them to the same bytes.
 */
export class RingOpenRecords {
  readonly #layout: TableLayout;
  readonly #table: Buffer;

  /**
   * @param layout from {@link tableLayout}.
   * @param table its bytes; fewer where the ring's file ends.
   * @throws TraceFormatError when there are fewer.
   */
  constructor(path: string, layout: TableLayout, table: Buffer) {
    if (table.length < layout.bytes) {
      throw new TraceFormatError(path, core.control.openTable + table.length, 'the table ends');
    }
    this.#layout = layout;
    this.#table = table;
  }

  /** Whether a disk, or a copy, has left nothing of the table. */
  get isBlank(): boolean {
    return this.#table.every((byte) => byte === 0);
  }

  /**
   * Completes the records that are open where the stream ends: each ends at the last sign of life and
   * takes the next number of its series.
   *
   * @param end the position at which the stream ends.
   * @param uncommitted the first bytes after that in the ring.
   * @param isEnded whether the record is in the target whose final record was the next one at `end`.
   * @param isRecord whether bytes are a whole record of the format; others are skipped.
   * @param waiting records that nobody had decided about: they come first.
   */
  close(
    end: number,
    uncommitted: Buffer,
    isEnded: boolean,
    isRecord: (bytes: Buffer) => boolean,
    waiting?: WaitingRecords,
  ): Buffer[] {
    const { numberAt } = this.#layout;
    let number = this.#firstNumber(uncommitted, waiting?.isCopying === true);
    const closed: Buffer[] = [];
    for (const record of waiting?.records ?? []) {
      const bytes = Buffer.from(record);
      if (!isRecord(bytes)) continue;
      bytes.writeUInt32BE(number, numberAt + 4);
      number = (number + 1) >>> 0;
      closed.push(bytes);
    }
    for (const record of this.#openAt(end)) {
      const isCommitting = this.#isCommitting(record.slot);
      if (isEnded && isCommitting) continue;
      const bytes = this.#bytesOf(record);
      if (!isRecord(bytes)) continue;
      if (isCommitting && this.#waits(bytes, waiting?.last)) continue;
      if (this.#isOfSeries(bytes)) {
        bytes.writeUInt32BE(number, numberAt + 4);
        number = (number + 1) >>> 0;
      }
      if (!this.#hasEnded(record.slot)) this.#raiseStamp(bytes);
      closed.push(bytes);
    }
    return closed;
  }

  /** The records that their process has completed, and that have an offset in the target already. */
  closedAt(end: number, isRecord: (bytes: Buffer) => boolean): Buffer[] {
    return [...this.#openAt(end)]
      .filter(({ closing }) => closing)
      .map((record) => this.#bytesOf(record))
      .filter(isRecord);
  }

  /** The records in the table that the stream, which ends at `end`, does not have. */
  *#openAt(end: number): Generator<OpenRecord, void> {
    const { bytes, stride } = this.#layout;
    const { openClosing, openHeadBytes, openLength, openMark, openState } = core.control;
    for (let slot = 0; slot < bytes; slot += stride) {
      const length = this.#get(slot + openState) & openLength;
      if (length === 0 || length > stride - openHeadBytes) continue;
      const closing = this.#get(slot + openClosing) !== 0;
      const mayBeIn = closing || this.#isCommitting(slot);
      if (mayBeIn && this.#get(slot + openMark) !== end >>> 0) continue;
      yield { slot, at: slot + openHeadBytes, length, closing };
    }
  }

  /** Whether the final record of one that was being ended is the last of those that wait: all up to the stamp agrees. */
  #waits(open: Buffer, last: Buffer | undefined): boolean {
    const { numberAt, stampOffset } = this.#layout;
    if (last === undefined || last.length < stampOffset) return false;
    return (
      open.compare(
        last,
        numberAt + NUMBER_BYTES,
        stampOffset,
        numberAt + NUMBER_BYTES,
        stampOffset,
      ) === 0
    );
  }

  /**
   * A number that was taken for a record which never was committed is free again.
   *
   * @param isCopying whether it is the first of several, all of which lie after the head.
   */
  #firstNumber(uncommitted: Buffer, isCopying: boolean): number {
    const { nextNumber, numberAt } = this.#layout;
    if (!this.#isOfSeries(uncommitted)) return nextNumber;
    const number = uncommitted.readUInt32BE(numberAt + 4);
    if (isCopying) return Math.min(number, nextNumber);
    return number === (nextNumber - 1) >>> 0 ? number : nextNumber;
  }

  /** Memory that was never written is no record of series 0: the first word of a record is not zero. */
  #isOfSeries(bytes: Buffer): boolean {
    const { numberAt, series } = this.#layout;
    return (
      this.#isNumbered(bytes) &&
      bytes.readUInt32BE(0) !== 0 &&
      bytes.readUInt32BE(numberAt) === series
    );
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

  #isCommitting(slot: number): boolean {
    const { openCommitting, openState } = core.control;
    return (this.#get(slot + openState) & openCommitting) !== 0;
  }

  /** Whether the record has its stamp, and waits for a decision. */
  #hasEnded(slot: number): boolean {
    const { openEnded, openState } = core.control;
    return (this.#get(slot + openState) & openEnded) !== 0;
  }

  /** The bytes of a record. What they say of their length may be less than what was published. */
  #bytesOf({ at, length }: OpenRecord): Buffer {
    const { lengthAt } = this.#layout;
    const bytes = Buffer.from(this.#table.subarray(at, at + length));
    if (lengthAt !== 0 && lengthAt + 4 <= length) bytes.writeUInt32BE(length, lengthAt);
    return bytes;
  }

  #get(at: number): number {
    return LITTLE ? this.#table.readUInt32LE(at) : this.#table.readUInt32BE(at);
  }
}
