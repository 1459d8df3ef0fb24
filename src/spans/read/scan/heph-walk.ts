import { nextSeen, readSeen } from '../../../core/files/file-view.js';
import type { RegularFile } from '../../../core/files/regular-file.js';
import { PACKET_HEAD_BYTES, SIZE_OFFSET } from '../../../heph/layout.js';
import { nextEvent } from '../../../heph/read/next-event.js';
import { isEventAt, packetBytes } from '../../../heph/read/packet-head.js';
import { noteClock, noteEpoch } from '../clock-record.js';
import type { TraceClock } from '../trace-clock.js';

/** As much as the processor's caches hold: a record is read twice, for its size and for its content. */
const WINDOW_BYTES = 256 << 10;

/** Whole records in memory. */
export interface Records {
  bytes: Buffer;
  view: DataView;
  /** The first byte of the first record, and the first byte after the last, in `bytes`. */
  from: number;
  to: number;
  /** Bytes of the file before them. */
  offset: number;
  /** How many they are. */
  count: number;
  /** Bytes before them that are no records. */
  passedOver: number;
}

/** Why a walk has ended before the end of the file: behind bytes that are no record it goes on, if one follows. */
export type WalkEnd = 'end' | 'incomplete' | 'damaged';

/** Reads a stretch of a Heph file as runs of whole records, by the records' heads alone. */
export class HephWalk {
  /** Where the next record begins. */
  offset: number;
  ended: WalkEnd = 'end';
  readonly #file: RegularFile;
  readonly #end: number;
  readonly #clock: TraceClock | undefined;
  #count = 0;
  #bytes: Buffer;
  #view: DataView;
  #filled = 0;
  #at = 0;

  /**
   * @param clock takes note of what the records say of times, if they are not read otherwise.
   * @param end where the stretch ends: the size of the file, or the beginning of a record.
   */
  constructor(file: RegularFile, from: number, end: number, clock?: TraceClock) {
    this.#clock = clock;
    this.#file = file;
    this.offset = from;
    this.#end = end;
    this.#bytes = Buffer.allocUnsafeSlow(Math.min(WINDOW_BYTES, Math.max(1, end - from)));
    this.#view = viewOf(this.#bytes);
  }

  /** The next run of records; undefined at the end. Valid until the next call. */
  next(): Records | undefined {
    this.#refill();
    let passedOver = 0;
    for (;;) {
      const to = this.#wholeRecords();
      if (to > this.#at) {
        const from = this.#at;
        const { offset } = this;
        const count = this.#count;
        const records = {
          bytes: this.#bytes,
          view: this.#view,
          from,
          to,
          offset,
          count,
          passedOver,
        };
        this.offset += to - from;
        this.#at = to;
        return records;
      }
      if (this.ended !== 'damaged' && this.#enlarge()) continue;
      const passed = this.ended === 'end' ? undefined : this.#passOver();
      if (passed === undefined) return undefined;
      passedOver += passed;
    }
  }

  /** Goes on behind what is no record; undefined: no record follows. */
  #passOver(): number | undefined {
    const { offset } = this;
    const { fd, view } = this.#file;
    const file = {
      readAt: (into: Buffer, at: number) => readSeen(fd, view, into, 0, into.length, at),
      nextData: (at: number) => nextSeen(fd, view, at),
    };
    const found = nextEvent(file, offset + 1, this.#end);
    if (found === undefined) return undefined;
    this.offset = found;
    this.ended = 'end';
    this.#filled = 0;
    this.#at = 0;
    this.#fill();
    return found - offset;
  }

  /** The end of the last whole record in memory. */
  #wholeRecords(): number {
    const view = this.#view;
    const filled = this.#filled;
    let at = this.#at;
    this.#count = 0;
    while (at + PACKET_HEAD_BYTES <= filled) {
      const size = packetBytes(view, at);
      if (size === 0) {
        this.ended = 'damaged';
        break;
      }
      if (at + size > filled) break;
      if (this.#clock !== undefined) this.#note(this.#clock, at, size);
      at += size;
      this.#count++;
    }
    return at;
  }

  #note(clock: TraceClock, at: number, size: number): void {
    if (isEventAt(this.#view, at)) noteClock(clock, this.#bytes, this.#view, at, at + size);
    else noteEpoch(clock, this.#bytes, this.#view, at, size);
  }

  /** Moves what is left to the front and reads on. */
  #refill(): void {
    const left = this.#filled - this.#at;
    this.#bytes.copyWithin(0, this.#at, this.#filled);
    this.#filled = left;
    this.#at = 0;
    this.#fill();
  }

  #fill(): void {
    while (this.#filled < this.#bytes.length) {
      const offset = this.offset + this.#filled;
      const count = Math.min(this.#bytes.length - this.#filled, this.#end - offset);
      if (count <= 0) return;
      const { fd, view } = this.#file;
      const read = readSeen(fd, view, this.#bytes, this.#filled, count, offset);
      if (read === 0) return;
      this.#filled += read;
    }
  }

  /** Makes room for a record that is larger than the window; false: there is none. */
  #enlarge(): boolean {
    const left = this.#filled - this.#at;
    if (left === 0) return false;
    const size = left < PACKET_HEAD_BYTES ? Infinity : this.#view.getUint32(this.#at + SIZE_OFFSET);
    if (this.offset + size > this.#end || this.#bytes.length - this.#at >= size) {
      this.ended = 'incomplete';
      return false;
    }
    const larger = Buffer.allocUnsafeSlow(size);
    this.#bytes.copy(larger, 0, this.#at, this.#filled);
    this.#bytes = larger;
    this.#view = viewOf(larger);
    this.#filled = left;
    this.#at = 0;
    this.#fill();
    if (this.#filled < size) this.ended = 'incomplete';
    return this.#filled >= size;
  }
}

function viewOf(bytes: Buffer): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}
