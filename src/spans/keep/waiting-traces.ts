import type { Reclaimer, WaitingRing } from '../../core/ring/waiting-ring.js';
import { GROUP_WORDS } from '../../core/ring/waiting-ring.js';
import type { UsualEnds } from '../../core/native-ring.js';
import {
  COUNTER_OFFSET,
  DESCRIPTION_OFFSET,
  SIZE_OFFSET,
  START_OFFSET,
} from '../../heph/layout.js';
import type { Stream } from '../../heph/write/stream.js';
import { FLAGS_AFTER_NAME, KEEP_REASON_AFTER_NAME, KIND_MASK, KIND_SHIFT } from '../layout.js';
import type { Span } from '../span.js';
import { RANDOM_HIGH } from './keep-decision.js';
import type { Numbering } from './released-figures.js';
import { FAILED_BIT, kindOf } from './span-flags.js';
import { KEPT, MOVED, RELEASED, UndecidedTraces } from './undecided-traces.js';

/** Part of the ring that one trace may have if it has to wait longer, and all of them. */
const MOST_OF_TRACE = 1 / 16;
const MOST_OF_SURVIVORS = 1 / 2;
/** Part of the ring from which on a trace is decided before its root ends. */
const LONGEST_TRACE = 1 / 4;

/** Decides about a trace that cannot wait any longer. */
export interface Judge {
  /** Whether it is certain by now that the trace is kept; the reason, or 0. */
  certain(trace: number): number;
  /** Whether it is among the share of all; the reason, or 0. */
  byRatio(trace: number): number;
  /** It is decided, and forgotten with the local roots of it that have ended. */
  forget(trace: number): void;
}

/** The most writers of open records whose kinds are noted. */
const MOST_WRITERS = 1 << 12;
const KINDS = KIND_MASK + 1;
const ALL_KINDS = MOST_WRITERS * KINDS;
/** Words and times of a native call. */
const CALL = 8;
/** Of `call`: how many records were copied. */
const COUNT = 3;

/** Each record is longer than this power of two, so that those of a ring have a number each. */
export const RECORD_SHIFT = 6;

/** The records of undecided traces, which wait in a ring. */
export class WaitingTraces extends UndecidedTraces implements Reclaimer, Numbering {
  judge: Judge | undefined;

  readonly #to: Stream;
  readonly #mask: number;
  readonly #last: Int32Array;
  readonly #first: Int32Array;
  /** One element: the position of the next record that belongs to no trace yet. */
  readonly #linked = new Int32Array(new ArrayBuffer(4));
  #positions = new Int32Array(64);
  /** Bytes from which on a trace is decided before its root ends. */
  readonly longest: number;
  /** By the offset of a record: what is noted of it. */
  readonly #marks: Uint16Array;
  /**
   * By the writer of an open record, and the kind of its span: what will be noted of it; 0: nothing is known. First of
   * spans below local roots, then of these.
   */
  readonly #kinds = new Uint16Array(2 * ALL_KINDS);
  /** Kinds that native code counts. */
  #counted = 0;
  /** The arguments of `ends`; undefined: they cannot be called. */
  readonly call = new Int32Array(new ArrayBuffer(4 * CALL));
  readonly times = new Float64Array(new ArrayBuffer(8 * CALL));
  readonly ends: UsualEnds | undefined;

  /** @param to the stream of kept spans. */
  constructor(ring: WaitingRing, to: Stream) {
    super(ring);
    this.#to = to;
    this.#mask = ring.capacity - 1;
    this.#marks = new Uint16Array(ring.capacity >> RECORD_SHIFT);
    this.#last = new Int32Array(this.flags.length);
    this.#first = new Int32Array(this.flags.length);
    this.#linked[0] = ring.headWord;
    this.longest = ring.capacity * LONGEST_TRACE;
    ring.reclaimer = this;
    this.ends = this.#index();
    if (ring.openRecords === undefined) return;
    ring.openRecords.relief = () => {
      this.#relieve();
    };
  }

  #index(): UsualEnds | undefined {
    const { ring } = this;
    const { openRecords } = ring;
    const ends = ring.index({
      ...this.ownIndex,
      call: this.call,
      times: this.times,
      firsts: this.#first,
      lasts: this.#last,
      linked: this.#linked,
      marks: this.#marks,
      kinds: this.#kinds.subarray(0, ALL_KINDS),
      rootKinds: this.#kinds.subarray(ALL_KINDS),
      freeSlots: openRecords?.freeSlots ?? new Int32Array(1),
      recordShift: RECORD_SHIFT,
      decided: KEPT | RELEASED,
      longest: this.longest,
      linkAt: COUNTER_OFFSET,
      startAt: START_OFFSET,
      nameAt: DESCRIPTION_OFFSET,
      wordAfterName: FLAGS_AFTER_NAME,
      reasonAfterName: KEEP_REASON_AFTER_NAME,
      failedBit: FAILED_BIT,
      chosenMask: RANDOM_HIGH,
      variantShift: KIND_SHIFT,
    });
    return openRecords === undefined ? undefined : ends;
  }

  numberOf(counts: Uint8Array): number {
    this.#counted += 1;
    this.ring.countIn(this.#counted, counts);
    return this.#counted;
  }

  /** Spans like one in a slot have a number from here on: of the same writer and kind, and local roots like it. */
  learn({ flags, slot }: Span, number: number, isRoot: boolean): void {
    const writer = this.ring.openRecords!.writerOf(slot);
    if (writer === 0 || writer >= MOST_WRITERS) return;
    this.#kinds[(isRoot ? ALL_KINDS : 0) + writer * KINDS + kindOf(flags)] = number;
  }

  /**
   * The record that was committed last waits for the decision about a trace.
   *
   * @returns where it lies; -1: it was dropped.
   */
  link(trace: number): number {
    const at = this.#linked[0]!;
    const { ring } = this;
    const head = ring.headWord;
    if (head === at) return -1;
    ring.view.setInt32((at & this.#mask) + COUNTER_OFFSET, this.#last[trace]!);
    if (this.records[trace] === 0) this.#first[trace] = at;
    this.#last[trace] = at;
    this.records[trace]!++;
    this.bytes[trace]! += (head - at) | 0;
    this.#linked[0] = head;
    this.#marks[(at & this.#mask) >> RECORD_SHIFT] = 0;
    if (this.bytes[trace]! > this.longest && (this.flags[trace]! & KEPT) === 0) {
      this.decideNow(trace);
    }
    return at & this.#mask;
  }

  /** The last record belongs to a trace that was decided: it goes to the file. */
  copyLate(reason: number): void {
    this.records[0] = 0;
    this.bytes[0] = 0;
    this.flags[0] = KEPT;
    this.link(0);
    this.copy(0, reason);
  }

  /** A trace is kept: what waits goes to the file, and so does what ends from now on. */
  keep(trace: number, reason: number): void {
    this.flags[trace]! |= KEPT;
    this.reasons[trace] = reason;
    this.copy(trace, reason);
  }

  /** Nothing of a trace goes to the file. */
  release(trace: number): void {
    this.flags[trace]! |= RELEASED;
    if (this.ended[trace] !== 0) this.ring.dropEnded(trace);
    this.records[trace] = 0;
    this.bytes[trace] = 0;
  }

  /** Notes a number above 0 of the record that was linked last, at `at`. */
  mark(at: number, mark: number): void {
    this.#marks[at >> RECORD_SHIFT] = mark;
  }

  /** Keeps all that is not decided: the thread ends. */
  keepAll(reason: number): void {
    for (let trace = 1; trace < this.unused; trace++) {
      if (!this.isOpen(trace)) continue;
      if ((this.flags[trace]! & (KEPT | RELEASED)) === 0) this.keep(trace, reason);
      this.tell(trace, (this.flags[trace]! & KEPT) !== 0);
    }
  }

  /** Copies what waits of a trace to the file's ring, where it gets its numbers. */
  copy(trace: number, reason: number): void {
    if (this.records[trace]! > 0) this.#copyRecords(trace, reason);
    if (this.ended[trace] !== 0) this.#copyEnded(trace, reason);
    this.records[trace] = 0;
    this.bytes[trace] = 0;
  }

  /** Those that wait in slots, which are free then. */
  #copyEnded(trace: number, reason: number): void {
    const { ring } = this;
    const { ring: to } = this.#to;
    const { longest } = ring.openRecords!;
    while (to.free >= longest || to.makeRoom(longest)) {
      const bytes = ring.copyEnded(trace, reason);
      if (this.ended[trace] === 0) return;
      if (bytes === 0) break;
    }
    ring.dropEnded(trace);
  }

  #copyRecords(trace: number, reason: number): void {
    const count = this.records[trace]!;
    const positions = this.#positionsOf(trace);
    const { ring: to, counter } = this.#to;
    const from = this.ring;
    let next = 0;
    while (next < count) {
      const most = Math.min(this.bytes[trace]!, to.longestRecord);
      if (to.free < most && !to.makeRoom(most)) break;
      const number = counter[0]!;
      const bytes = to.copyFrom(from, positions, next, count - next, number, reason);
      const copied = this.call[COUNT]!;
      if (bytes === 0) {
        if (copied > 0) break;
        to.countRefused();
        next++;
        continue;
      }
      next += copied;
      const upto = next === count ? from.headWord : positions[next]!;
      from.commitCopies(trace * GROUP_WORDS, bytes, upto, counter, (number + copied) >>> 0);
    }
  }

  /** Slots are short: what waits in them waits in the ring from here on. */
  #relieve(): void {
    const { ended, ring } = this;
    const { isOpen, longest } = ring.openRecords!;
    for (let trace = 1; isOpen && trace < this.unused; trace++) {
      while (ended[trace] !== 0) {
        if (ring.free < longest && !ring.makeRoom(longest)) return;
        // Room for it may have come from a decision about this trace.
        if (ring.moveEnded(trace) === 0) break;
      }
    }
  }

  /** Makes room: everything before the oldest record that waits is let go. */
  reclaim(bytes: number): void {
    const ring = this.ring;
    for (;;) {
      let oldest = 0;
      let back = 0;
      const head = ring.headWord;
      for (let trace = 1; trace < this.unused; trace++) {
        if (this.records[trace] === 0) continue;
        const distance = (head - this.#first[trace]!) | 0;
        if (distance > back) {
          back = distance;
          oldest = trace;
        }
      }
      ring.releaseTo((head - back) | 0);
      if (ring.free >= bytes || oldest === 0) return;
      this.#settle(oldest);
    }
  }

  /** A trace holds the oldest records: it is kept, moves on, or is decided by ratio. */
  #settle(trace: number): void {
    const bytes = this.bytes[trace]!;
    const { capacity, movable } = this.ring;
    const reason = this.judge?.certain(trace) ?? 0;
    if (reason !== 0) {
      this.keep(trace, reason);
    } else if (
      bytes <= Math.min(movable, capacity * MOST_OF_TRACE) &&
      this.#survivors(trace) + bytes <= capacity * MOST_OF_SURVIVORS
    ) {
      this.#move(trace);
    } else {
      this.decideNow(trace);
    }
  }

  protected override decideNow(trace: number): void {
    const reason = this.judge?.certain(trace) || (this.judge?.byRatio(trace) ?? 0);
    if (reason === 0) this.release(trace);
    else this.keep(trace, reason);
  }

  protected override giveUp(trace: number): void {
    if (this.judge === undefined) this.forget(trace);
    else this.judge.forget(trace);
  }

  #survivors(but: number): number {
    let sum = 0;
    for (let trace = 1; trace < this.unused; trace++) {
      const isOne = trace !== but && (this.flags[trace]! & MOVED) !== 0;
      if (isOne) sum += this.bytes[trace]!;
    }
    return sum;
  }

  #move(trace: number): void {
    const ring = this.ring;
    const count = this.records[trace]!;
    const positions = this.#positionsOf(trace);
    const head = ring.headWord;
    let at = head;
    let before = 0;
    for (let i = 0; i < count; i++) {
      const offset = positions[i]! & this.#mask;
      const size = ring.view.getInt32(offset + SIZE_OFFSET);
      const to = ring.position + ((at - head) | 0);
      ring.bytes.copy(ring.bytes, to, offset, offset + size);
      ring.view.setInt32(to + COUNTER_OFFSET, before);
      this.#marks[(at & this.#mask) >> RECORD_SHIFT] = this.#marks[offset >> RECORD_SHIFT]!;
      before = at;
      at = (at + size) | 0;
    }
    ring.commitMoved(trace * GROUP_WORDS, (at - head) | 0);
    this.flags[trace]! |= MOVED;
    this.#first[trace] = head;
    this.#last[trace] = before;
    this.#linked[0] = ring.headWord;
  }

  /** Where the records of a trace lie, the oldest first. */
  #positionsOf(trace: number): Int32Array {
    const count = this.records[trace]!;
    if (this.#positions.length < count) this.#positions = new Int32Array(2 * count);
    let at = this.#last[trace]!;
    for (let i = count - 1; i >= 0; i--) {
      this.#positions[i] = at;
      at = this.ring.view.getInt32((at & this.#mask) + COUNTER_OFFSET);
    }
    return this.#positions;
  }
}
