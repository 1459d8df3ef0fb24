import { core } from '../addon.js';
import { LOW_HALF } from '../byte-order.js';
import type { NativeOpenRecordOptions } from '../native-ring.js';

/** How a format opens a ring with a table of open records; see {@link OpenRecords}. */
export type OpenRecordOptions = NativeOpenRecordOptions & {
  /** How many of them are for what records have in common; see `takeCopied`. */
  copied?: number;
};

/** Bounds of a table. */
export const MOST_SLOTS = core.control.mostOpenPlaces;
export const LONGEST_RECORD = core.control.longestOpen;

/** Bytes of a slot for records of at most `longest` bytes: see OpenRecords::stride. */
export function slotBytes(longest: number): number {
  return Math.ceil((core.control.openHeadBytes + longest) / 64) * 64;
}

/** Of a slot's state: what differs from one of its records to the next. */
export const GENERATION = 0x80000;

/**
 * The records that the thread has begun and not ended: a table of slots in the ring's mapping. A slot holds a
 * whole record, in the bytes that the trace gets if nobody ends it: its stamp says when it ends at the
 * earliest. After a kill recovery writes it, and after any other end the process itself; both raise
 * the stamp to the last sign of life, and give it the next number of its series.
 *
 *     const at = open.take();
 *     if (at !== -1) {
 *       // At most `longest` bytes from `at` of `view` and `bytes`.
 *       open.publish(at, encode(open.view, open.bytes, at));
 *     }
 *     ...
 *     if (at !== -1) open.ending(at);   // right before the commit of its final record
 *     ring.commit();
 *     if (at !== -1) open.release(at);
 *
 * Compiled functions do all three for a record of which all is final but a word: see compiled-slots.ts. What a
 * record's own bytes say of its length may be less than what was published: its last writer makes it right.
 *
 * A kill finds a record whole or not at all, because V8 keeps the order of stores to memory outside of
 * its heap, and the machine the order in which a thread retires them; see native/ring/open_records.h.
 */
export class OpenRecords {
  /** From the start of the table, where `take` leads to, to the end of the mapping. */
  readonly view: DataView;
  readonly bytes: Buffer;
  /** Bytes of the longest record. */
  readonly longest: number;
  /** @internal All bits of an offset in the table. V8 knows by them that `view` has room after it. */
  readonly mask: number;
  /** Two elements: the series whose numbers its records take, and the next number. */
  readonly #numbers: Uint32Array<ArrayBuffer>;

  /** Free slots of those for what records have in common. */
  readonly #copied: number[];
  readonly #id: number;
  /** Heads of the slots, by the byte offsets of their records divided by 4. */
  readonly #words: Int32Array;
  /** Slots, the free ones from `taken` on. It has room for the largest table, as have the bytes. */
  readonly #slots: Int32Array;
  /** The control page. */
  readonly #control: Int32Array;
  readonly #unkept: Float64Array;
  /** Frees slots of records that can be kept elsewhere. */
  relief: (() => void) | undefined;
  /** After a relief in vain: how many records find no slot before the next one. */
  #unrelieved = 0;
  /** Slots that there are, and what differs from one record of a slot to the next. */
  readonly #counts: Int32Array;
  readonly #stride: number;
  /** Slots of the table, reserved ones included, and how many it may have. */
  #present = 0;
  #most: number;
  /** After an attempt to grow in vain: how many records find no slot before the next one, and how many did. */
  #pause = 0;
  #paused = 0;
  #writers = 0;

  /** @internal Of a ring that was opened with such a table. */
  constructor(id: number, buffer: ArrayBuffer, options: OpenRecordOptions) {
    const { control } = core;
    const stride = new Uint32Array(buffer, control.openStride, 1)[0]!;
    const most = Math.max(options.places, options.most ?? 0);
    const tableBytes = most * stride;
    this.#id = id;
    this.view = new DataView(buffer, control.openTable);
    this.bytes = Buffer.from(buffer, control.openTable);
    // After the table comes the ring, twice: at least as much again.
    this.mask = 2 ** Math.ceil(Math.log2(tableBytes)) - 1;
    this.longest = options.longest;
    this.#numbers = new Uint32Array(buffer, control.series, 2);
    this.#words = new Int32Array(buffer, control.openTable, tableBytes / 4);
    // Not on V8's heap: where it lies is a constant then.
    this.#counts = new Int32Array(new ArrayBuffer(8));
    this.#slots = new Int32Array(most);
    this.#stride = stride;
    this.#most = most;
    this.#addSlots(options.places);
    this.#control = new Int32Array(buffer, 0, control.openTable / 4);
    this.#unkept = new Float64Array(buffer, control.unkeptRecords, 1);
    this.#copied = Array.from({ length: options.copied ?? 0 }, () => this.reserve());
  }

  /**
   * Takes a slot. The table grows if none is free.
   *
   * @returns where its record goes, in bytes from the start of `view`; -1 if the table has reached its bound, or the
   *   disk has no room.
   */
  take(): number {
    const control = this.#control;
    if (this.taken >= this.slots && !this.#grow() && !this.#relieve()) return -1;
    const taken = control[TAKEN]!;
    control[TAKEN] = taken + 1;
    this.attend();
    const at = this.#slots[taken]!;
    this.#words[(at >> 2) - HEAD_WORDS + WRITER] = 0;
    return at;
  }

  /** False: the table is as it was. */
  #grow(): boolean {
    if (this.#present >= this.#most || this.#paused++ < this.#pause) return false;
    this.#paused = 0;
    if (this.#addSlots(core.growOpenRecords(this.#id))) return true;
    // A full disk is not asked again for each record.
    this.#pause = 2 * this.#pause + 1;
    return false;
  }

  #relieve(): boolean {
    if (this.relief === undefined || this.#unrelieved-- > 0) return false;
    this.relief();
    if (this.taken < this.slots) return true;
    this.#unrelieved = this.slots;
    return false;
  }

  #addSlots(present: number): boolean {
    const before = this.#present;
    const counts = this.#counts;
    for (let i = before; i < present; i++) {
      this.#slots[counts[0]!] = i * this.#stride + core.control.openHeadBytes;
      counts[0]! += 1;
    }
    this.#present = Math.max(present, before);
    return present > before;
  }

  /**
   * @internal What does not change while the table is open, by the names that compiled functions have for it: see
   * compiled-slots.ts.
   */
  get constants(): Record<string, unknown> {
    return {
      control: this.#control,
      counts: this.#counts,
      slots: this.#slots,
      slotWords: this.#words,
      attend: () => {
        core.attend(this.#id);
      },
    };
  }

  /**
   * The number of another function that writes records. A slot keeps the number of the function that has written it
   * last, which finds there what is the same in all of its records.
   */
  newWriter(): number {
    this.#writers += 1;
    return this.#writers;
  }

  /**
   * Takes a slot for good, for records that only native code lets count: it is not among those that
   * are taken.
   *
   * @returns as `take`; -1 without a count.
   */
  reserve(): number {
    if (this.taken >= this.slots) return -1;
    this.#counts[0]! -= 1;
    return this.#slots[this.slots]!;
  }

  /**
   * Takes a slot for bytes that many records have in common: native code copies them in less time than V8, and from
   * there alone. -1: there is none.
   */
  takeCopied(): number {
    return this.#copied.pop() ?? -1;
  }

  /** Such a slot is free again. */
  releaseCopied(at: number): void {
    this.#copied.push(at);
  }

  /**
   * Has the record at `at`, a reserved slot, count as soon as the thread's event loop stalls.
   *
   * @param startAt where it has its start, u64; `causeAt`: four bytes that become one of `causes`.
   * @param textAt where a u16 length and a text may follow. The bytes from `length` to there count with the text alone.
   */
  prepareStall(
    at: number,
    length: number,
    startAt: number,
    causeAt: number,
    causes: Uint32Array,
    textAt: number,
  ): void {
    const state = length | this.#nextGeneration();
    core.prepareStall(this.#id, at, state, startAt, causeAt, causes, textAt);
  }

  /**
   * Has the record at `at`, a reserved slot, count if the process runs out of heap.
   *
   * @param startAt where it has its start, u64; `limitAt`: four bytes that become the limit in MiB.
   */
  prepareHeapEnd(at: number, length: number, startAt: number, limitAt: number): void {
    core.prepareHeapEnd(this.#id, at, length | this.#nextGeneration(), startAt, limitAt);
  }

  /** The record in a reserved slot counts no longer. */
  vacate(at: number): void {
    this.#words[(at >> 2) - HEAD_WORDS] = 0;
  }

  /** Before a reserved slot changes, as `take` and `release` do: it never returns if the process ends. */
  attend(): void {
    if (this.#control[ATTENTION] !== 0) core.attend(this.#id);
  }

  /** Counts records that are open without a slot: one more (1), or one less (-1), for it has ended. */
  countUnkept(more: number): void {
    if (this.isOpen) this.#unkept[0]! += more;
  }

  /** The record at `at` is whole, and counts from here on. */
  publish(at: number, length: number): void {
    this.#words[(at >> 2) - HEAD_WORDS] = length | this.#nextGeneration();
  }

  #nextGeneration(): number {
    const next = (this.#counts[1]! + GENERATION) | 0;
    this.#counts[1] = next;
    return next;
  }

  /** The record at `at` counts no more, for another one does. Its slot stays taken. */
  withdraw(at: number): void {
    this.#words[(at >> 2) - HEAD_WORDS] = 0;
  }

  /** The record at `at` has `length` bytes from here on: those that it had, and more after them. */
  grow(at: number, length: number): void {
    const head = (at >> 2) - HEAD_WORDS;
    this.#words[head] = (this.#words[head]! & ~LENGTH) | length;
  }

  /** Number of the writer (`newWriter`) of the record at `at`; 0: of another one. */
  writerOf(at: number): number {
    return this.#words[(at >> 2) - HEAD_WORDS + WRITER]!;
  }

  /** Notes what has written the record at `at`. */
  noteWriter(at: number, writer: number): void {
    this.#words[(at >> 2) - HEAD_WORDS + WRITER] = writer;
  }

  /** @internal The slots by their offsets, the free ones from `taken` on. */
  get freeSlots(): Int32Array {
    return this.#slots;
  }

  /** Bytes of the record at `at`. */
  lengthOf(at: number): number {
    return this.#words[(at >> 2) - HEAD_WORDS]! & LENGTH;
  }

  /** The next commit is that of the final record. */
  ending(at: number): void {
    const head = (at >> 2) - HEAD_WORDS;
    const words = this.#words;
    words[head + MARK] = this.#control[HEAD]!;
    words[head] = words[head]! | COMMITTING;
  }

  /** Takes back `ending`: other records may be committed before the final one. */
  notEnding(at: number): void {
    const head = (at >> 2) - HEAD_WORDS;
    this.#words[head] = this.#words[head]! & ~COMMITTING;
  }

  /** Frees a slot, whatever became of its record. */
  release(at: number): void {
    const control = this.#control;
    this.attend();
    this.#words[(at >> 2) - HEAD_WORDS] = 0;
    const taken = control[TAKEN]! - 1;
    this.#slots[taken] = at;
    control[TAKEN] = taken;
  }

  /**
   * The records that are completed take the numbers of this series: those after what is committed.
   *
   * @returns one element: the next number. A writer stores a number in its record first, and the next
   *   one here after that.
   */
  numbersOf(series: number): Uint32Array<ArrayBuffer> {
    this.#numbers[0] = series;
    return this.#numbers.subarray(1);
  }

  /** Slots that there are. */
  get slots(): number {
    return this.#counts[0]!;
  }

  /** Slots that are taken. */
  get taken(): number {
    return this.#control[TAKEN]!;
  }

  /** False: the ring is closed, and what its table has is being written. */
  get isOpen(): boolean {
    return this.#most > 0;
  }

  /** @internal The ring is closed: there is no slot any more. */
  close(): void {
    this.#counts[0] = 0;
    this.#most = 0;
  }
}

/** Offsets in the control page, in words. Of the head its low half. */
export const HEAD = (core.control.head + LOW_HALF) / 4;
export const PENDING = core.control.pending / 4;
export const TAKEN = core.control.openRecords / 4;
export const ATTENTION = core.control.attention / 4;
export const ENDING_AT = core.control.endingAt / 4;
export const COPIED_FROM = core.control.copiedFrom / 4;
/** Words of the head of a slot, and what is where in it. */
export const HEAD_WORDS = core.control.openHeadBytes / 4;
export const MARK = core.control.openMark / 4;
/** The last word is JavaScript's own. */
export const WRITER = HEAD_WORDS - 1;
/** Of a slot's state. */
export const LENGTH = core.control.openLength;
export const COMMITTING = core.control.openCommitting;
