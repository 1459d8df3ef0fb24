import {
  GROUP_FROM,
  GROUP_HIGH,
  GROUP_LOW,
  GROUP_STATE,
  GROUP_WORDS,
  UNDECIDED,
} from '../../core/ring/waiting-ring.js';
import type { Reclaimer, WaitingRing } from '../../core/ring/waiting-ring.js';
import { COUNTER_OFFSET, DESCRIPTION_OFFSET, SIZE_OFFSET } from '../../heph/layout.js';
import type { Stream } from '../../heph/write/stream.js';
import { KEEP_REASON_AFTER_NAME } from '../layout.js';

/** Of a trace, bits. */
export const FAILED = 1;
/** It is kept: what ends is copied at once. */
export const KEPT = 2;
/** It is released, though a local root is open. */
export const RELEASED = 4;
const MOVED = 8;
/** Its first span has a parent in this process that is not recorded. */
export const BEGINS_WITHIN = 16;

/** Traces that are remembered once they are decided, a power of two. */
const REMEMBERED = 1 << 14;
/** Part of the ring that one trace may have if it has to wait longer, and all of them. */
const MOST_OF_TRACE = 1 / 16;
const MOST_OF_SURVIVORS = 1 / 2;
/** Part of the ring from which on a trace is decided before its root ends. */
const LONGEST_TRACE = 1 / 4;

/** What decides about a trace that cannot wait any longer. */
export interface Judge {
  /** Whether it is certain by now that the trace is kept; the reason, or 0. */
  certain(trace: number): number;
  /** Whether it is among the share of all; the reason, or 0. */
  byRatio(trace: number): number;
}

/** Traces of a thread of which it is not known yet whether they are kept, by number; 0: none. */
export class WaitingTraces implements Reclaimer {
  readonly flags: Int32Array;
  readonly roots: Int32Array;
  /** When the first local root has started, in nanoseconds of the trace. */
  readonly starts: Float64Array;
  /** High and low half of the trace id, and the id of the first span. */
  readonly highs: Int32Array;
  readonly lows: Int32Array;
  readonly firstIds: Int32Array;
  /** Why a trace is kept. */
  readonly reasons: Int32Array;
  /** Traces that had to be decided by ratio because there was no room for them to wait. */
  cut = 0;
  judge: Judge | undefined;

  readonly #ring: WaitingRing;
  readonly #groups: Int32Array;
  readonly #to: Stream;
  readonly #mask: number;
  readonly #buckets: Int32Array;
  readonly #bucketMask: number;
  readonly #next: Int32Array;
  readonly #last: Int32Array;
  readonly #first: Int32Array;
  readonly #records: Int32Array;
  readonly #bytes: Int32Array;
  /** The position of the next record that belongs to no trace yet. */
  #linked = 0;
  #free = 1;
  /** Numbers from here on were never used. */
  #unused = 1;
  readonly #count: number;
  #positions = new Int32Array(64);
  readonly #kept = new Int32Array(2 * REMEMBERED);
  readonly #released = new Int32Array(2 * REMEMBERED);

  /** @param to the stream of kept spans. */
  constructor(ring: WaitingRing, to: Stream) {
    this.#ring = ring;
    this.#to = to;
    this.#groups = ring.groups;
    this.#mask = ring.capacity - 1;
    const count = ring.groups.length / GROUP_WORDS;
    this.#count = count;
    const buckets = 2 ** Math.ceil(Math.log2(count));
    this.#bucketMask = buckets - 1;
    this.#buckets = new Int32Array(buckets);
    const each = () => new Int32Array(count);
    this.flags = each();
    this.roots = each();
    this.highs = new Int32Array(2 * count);
    this.lows = new Int32Array(2 * count);
    this.firstIds = new Int32Array(2 * count);
    this.reasons = each();
    this.starts = new Float64Array(count);
    this.#next = each();
    this.#last = each();
    this.#first = each();
    this.#records = each();
    this.#bytes = each();
    this.#linked = ring.headWord;
    ring.reclaimer = this;
  }

  /** The trace with these low halves of its id; 0: it does not wait. */
  find(t2: number, t3: number): number {
    const groups = this.#groups;
    let trace = this.#buckets[t3 & this.#bucketMask]!;
    while (trace !== 0) {
      const at = trace * GROUP_WORDS;
      if (groups[at + GROUP_LOW] === t3 && groups[at + GROUP_HIGH] === t2) return trace;
      trace = this.#next[trace]!;
    }
    return 0;
  }

  /** A trace begins to wait. */
  add(
    t0: number,
    t1: number,
    t2: number,
    t3: number,
    s0: number,
    s1: number,
    start: number,
  ): number {
    const trace = this.#take();
    const bucket = t3 & this.#bucketMask;
    this.#next[trace] = this.#buckets[bucket]!;
    this.#buckets[bucket] = trace;
    this.flags[trace] = 0;
    this.roots[trace] = 0;
    this.starts[trace] = start;
    this.highs[2 * trace] = t0;
    this.highs[2 * trace + 1] = t1;
    this.firstIds[2 * trace] = s0;
    this.firstIds[2 * trace + 1] = s1;
    this.reasons[trace] = 0;
    this.#records[trace] = 0;
    this.#bytes[trace] = 0;
    const groups = this.#groups;
    const at = trace * GROUP_WORDS;
    groups[at + GROUP_HIGH] = t2;
    groups[at + GROUP_LOW] = t3;
    groups[at + GROUP_FROM] = this.#ring.headWord;
    groups[at + GROUP_STATE] = UNDECIDED;
    return trace;
  }

  idOf(trace: number): readonly [number, number, number, number] {
    const at = trace * GROUP_WORDS;
    const groups = this.#groups;
    return [
      this.highs[2 * trace]!,
      this.highs[2 * trace + 1]!,
      groups[at + GROUP_HIGH]!,
      groups[at + GROUP_LOW]!,
    ];
  }

  /** The record that was committed last waits for the decision about a trace. */
  link(trace: number): void {
    const at = this.#linked;
    const ring = this.#ring;
    const head = ring.headWord;
    if (head === at) return;
    ring.view.setInt32((at & this.#mask) + COUNTER_OFFSET, this.#last[trace]!);
    if (this.#records[trace] === 0) this.#first[trace] = at;
    this.#last[trace] = at;
    this.#records[trace]!++;
    this.#bytes[trace]! += (head - at) | 0;
    this.#linked = head;
    if (this.#bytes[trace]! > ring.capacity * LONGEST_TRACE && (this.flags[trace]! & KEPT) === 0) {
      this.#decideNow(trace);
    }
  }

  /** The last record belongs to a trace that was decided: it goes to the file. */
  copyLate(reason: number): void {
    this.#records[0] = 0;
    this.#bytes[0] = 0;
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
    this.#records[trace] = 0;
    this.#bytes[trace] = 0;
  }

  /** The last local root of a trace has ended. */
  forget(trace: number): void {
    const groups = this.#groups;
    const at = trace * GROUP_WORDS;
    groups[at + GROUP_STATE] = 0;
    const t2 = groups[at + GROUP_HIGH]!;
    const t3 = groups[at + GROUP_LOW]!;
    const known = (this.flags[trace]! & KEPT) === 0 ? this.#released : this.#kept;
    const place = 2 * (t3 & (REMEMBERED - 1));
    known[place] = t2;
    known[place + 1] = t3;
    this.#records[trace] = 0;
    this.#bytes[trace] = 0;
    const bucket = t3 & this.#bucketMask;
    let before = this.#buckets[bucket]!;
    if (before === trace) this.#buckets[bucket] = this.#next[trace]!;
    else {
      while (this.#next[before] !== trace) before = this.#next[before]!;
      this.#next[before] = this.#next[trace]!;
    }
    this.#next[trace] = this.#free === this.#unused ? 0 : this.#free;
    this.#free = trace;
  }

  wasKept(t2: number, t3: number): boolean {
    const place = 2 * (t3 & (REMEMBERED - 1));
    return this.#kept[place] === t2 && this.#kept[place + 1] === t3;
  }

  wasReleased(t2: number, t3: number): boolean {
    const place = 2 * (t3 & (REMEMBERED - 1));
    return this.#released[place] === t2 && this.#released[place + 1] === t3;
  }

  /** Keeps all that is not decided: the thread ends. */
  keepAll(reason: number): void {
    for (let trace = 1; trace < this.#unused; trace++) {
      if (this.#groups[trace * GROUP_WORDS + GROUP_STATE] === 0) continue;
      if ((this.flags[trace]! & (KEPT | RELEASED)) === 0) this.keep(trace, reason);
    }
  }

  /** Copies what waits of a trace to the file's ring, where it gets its numbers. */
  copy(trace: number, reason: number): void {
    const count = this.#records[trace]!;
    if (count === 0) return;
    const positions = this.#positionsOf(trace);
    const { ring: to, counter } = this.#to;
    const from = this.#ring;
    let next = 0;
    while (next < count) {
      let bytes = 0;
      const begin = next;
      for (; next < count; next++) {
        const size = this.#sizeAt(positions[next]!);
        if (next > begin && bytes + size > to.longestRecord) break;
        bytes += size;
      }
      if (bytes > to.longestRecord) {
        to.countRefused();
        continue;
      }
      if (to.free < bytes && !to.makeRoom(bytes)) break;
      let at = to.position;
      let number = counter[0]!;
      for (let i = begin; i < next; i++) {
        const offset = positions[i]! & this.#mask;
        const size = from.view.getInt32(offset + SIZE_OFFSET);
        from.bytes.copy(to.bytes, at, offset, offset + size);
        to.view.setUint32(at + COUNTER_OFFSET, number);
        const name = to.view.getUint16(at + DESCRIPTION_OFFSET);
        to.view.setInt16(at + DESCRIPTION_OFFSET + 2 + name + KEEP_REASON_AFTER_NAME, reason);
        number = (number + 1) >>> 0;
        at += size;
      }
      const upto = next === count ? from.headWord : positions[next]!;
      from.commitCopies(trace * GROUP_WORDS, bytes, upto, counter, number);
    }
    this.#records[trace] = 0;
    this.#bytes[trace] = 0;
  }

  /** Makes room: everything before the oldest record that waits is let go. */
  reclaim(bytes: number): void {
    const ring = this.#ring;
    for (;;) {
      let oldest = 0;
      let back = 0;
      const head = ring.headWord;
      for (let trace = 1; trace < this.#unused; trace++) {
        if (this.#records[trace] === 0) continue;
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
    const bytes = this.#bytes[trace]!;
    const { capacity, movable } = this.#ring;
    const reason = this.judge?.certain(trace) ?? 0;
    if (reason !== 0) {
      this.keep(trace, reason);
    } else if (
      bytes <= Math.min(movable, capacity * MOST_OF_TRACE) &&
      this.#survivors(trace) + bytes <= capacity * MOST_OF_SURVIVORS
    ) {
      this.#move(trace);
    } else {
      this.#decideNow(trace);
    }
  }

  #decideNow(trace: number): void {
    const reason = this.judge?.certain(trace) || (this.judge?.byRatio(trace) ?? 0);
    if (reason === 0) {
      this.cut++;
      this.release(trace);
    } else {
      this.keep(trace, reason);
    }
  }

  #survivors(but: number): number {
    let sum = 0;
    for (let trace = 1; trace < this.#unused; trace++) {
      const isOne = trace !== but && (this.flags[trace]! & MOVED) !== 0;
      if (isOne) sum += this.#bytes[trace]!;
    }
    return sum;
  }

  #move(trace: number): void {
    const ring = this.#ring;
    const count = this.#records[trace]!;
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
      before = at;
      at = (at + size) | 0;
    }
    ring.commitMoved(trace * GROUP_WORDS, (at - head) | 0);
    this.flags[trace]! |= MOVED;
    this.#first[trace] = head;
    this.#last[trace] = before;
    this.#linked = ring.headWord;
  }

  #sizeAt(position: number): number {
    return this.#ring.view.getInt32((position & this.#mask) + SIZE_OFFSET);
  }

  /** Where the records of a trace lie, the oldest first. */
  #positionsOf(trace: number): Int32Array {
    const count = this.#records[trace]!;
    if (this.#positions.length < count) this.#positions = new Int32Array(2 * count);
    let at = this.#last[trace]!;
    for (let i = count - 1; i >= 0; i--) {
      this.#positions[i] = at;
      at = this.#ring.view.getInt32((at & this.#mask) + COUNTER_OFFSET);
    }
    return this.#positions;
  }

  #take(): number {
    let trace = this.#free;
    if (trace === this.#unused) {
      if (trace === this.#count) {
        this.#decideOldest();
        trace = this.#free;
      } else {
        this.#unused++;
        this.#free = this.#unused;
        return trace;
      }
    }
    const next = this.#next[trace]!;
    this.#free = next === 0 ? this.#unused : next;
    return trace;
  }

  /** There are more local roots than numbers: some never end. */
  #decideOldest(): void {
    let oldest = 1;
    for (let trace = 2; trace < this.#count; trace++) {
      if (this.starts[trace]! < this.starts[oldest]!) oldest = trace;
    }
    if ((this.flags[oldest]! & (KEPT | RELEASED)) === 0) this.#decideNow(oldest);
    this.forget(oldest);
  }
}
