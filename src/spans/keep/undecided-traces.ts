import {
  GROUP_FROM,
  GROUP_HIGH,
  GROUP_LOW,
  GROUP_STATE,
  GROUP_WORDS,
  UNDECIDED,
} from '../../core/ring/waiting-ring.js';
import type { WaitingRing } from '../../core/ring/waiting-ring.js';
import { LATE_NS } from './late-spans.js';
import { RememberedTraces } from './remembered-traces.js';
import { ThreadDecisions } from './thread-decisions.js';

/** Of a trace, bits. */
export const FAILED = 1;
/** It is kept: what ends is copied at once. */
export const KEPT = 2;
/** It is released, though a local root is open. */
export const RELEASED = 4;
export const MOVED = 8;
/** Its first span has a parent in this process that is not recorded. */
export const BEGINS_WITHIN = 16;
/** A local root of it has ended, and waits for another one. */
export const ROOT_WAITS = 32;
/** It is kept because a message said so. */
export const BY_MESSAGE = 64;
/** Nothing below it says that it is kept, because of the limit. */
export const LIMITED = 128;
/** Services that are called below it hear that it is kept. */
export const SENT = 256;

/** Of a trace: nothing is known, or nothing that concerns a span that begins now. */
export const OVER = 0;
export const WAS_KEPT = 1;
export const WAS_RELEASED = 2;

/** Sets of traces that are remembered. A thread releases more than it keeps. */
const KEPT_SETS = 1 << 11;
const RELEASED_SETS = 1 << 12;

const FREE = 0;
const UNUSED = 1;

/** Traces of a thread whose local roots are open, by number; 0: none. */
export abstract class UndecidedTraces {
  readonly flags: Int32Array;
  readonly roots: Int32Array;
  /** When the local root has started that did so last, in nanoseconds of the trace. */
  readonly starts: Float64Array;
  /** High half of the trace id. */
  readonly highs: Int32Array;
  /** The id of the first span, if its trace BEGINS_WITHIN. */
  readonly firstIds: Int32Array;
  /** Why a trace is kept, if it is KEPT. */
  readonly reasons: Int32Array;
  /** By trace that this thread decides about, its entry for other threads; 0: none. */
  readonly shared: Int32Array;
  readonly decisions = new ThreadDecisions();

  // Functions, not methods: to optimised code the arrays that they close over are constants, which takes half of the
  // instructions.
  /** The trace with these low halves of its id; 0: it does not wait. */
  readonly find: (t2: number, t3: number) => number;
  /** A trace begins to wait: its first local root has started. */
  readonly add: (t0: number, t1: number, t2: number, t3: number, start: number) => number;
  /** The last local root of a trace has ended. */
  readonly forget: (trace: number) => void;

  readonly ring: WaitingRing;
  protected readonly groups: Int32Array;
  /** The records of a trace that wait in the ring, and the bytes of all that wait. */
  protected readonly records: Int32Array;
  protected readonly bytes: Int32Array;
  /** Slots of open spans: of each trace that with its span that has ended last and waits there; 0: none does. */
  protected readonly ended: Int32Array;
  readonly #buckets: Int32Array;
  readonly #next: Int32Array;
  /** Two elements: the number that is free, and from which on none was ever used. */
  readonly #numbers = new Int32Array(new ArrayBuffer(8));
  readonly #kept = new RememberedTraces(KEPT_SETS);
  readonly #released = new RememberedTraces(RELEASED_SETS);

  constructor(ring: WaitingRing) {
    const { groups, heads } = ring;
    this.ring = ring;
    this.groups = groups;
    const count = groups.length / GROUP_WORDS;
    const buckets = new Int32Array(2 ** Math.ceil(Math.log2(count)));
    const mask = buckets.length - 1;
    this.#buckets = buckets;
    const each = () => new Int32Array(count);
    const flags = (this.flags = each());
    const roots = (this.roots = each());
    const highs = (this.highs = new Int32Array(2 * count));
    this.firstIds = new Int32Array(2 * count);
    const reasons = (this.reasons = each());
    const shared = (this.shared = each());
    const starts = (this.starts = new Float64Array(count));
    const records = (this.records = each());
    const bytes = (this.bytes = each());
    const ended = (this.ended = each());
    const nexts = (this.#next = each());
    const numbers = this.#numbers;
    numbers[FREE] = 1;
    numbers[UNUSED] = 1;
    const kept = this.#kept;
    const released = this.#released;

    this.find = (t2, t3) => {
      let trace = buckets[t3 & mask]!;
      while (trace !== 0) {
        const at = trace * GROUP_WORDS;
        if (groups[at + GROUP_LOW] === t3 && groups[at + GROUP_HIGH] === t2) return trace;
        trace = nexts[trace]!;
      }
      return 0;
    };
    this.add = (t0, t1, t2, t3, start) => {
      if (numbers[FREE] === count) this.#decideOldest();
      const trace = numbers[FREE]!;
      if (trace === numbers[UNUSED]) {
        numbers[UNUSED] = trace + 1;
        numbers[FREE] = trace + 1;
      } else {
        const next = nexts[trace]!;
        numbers[FREE] = next === 0 ? numbers[UNUSED]! : next;
      }
      const bucket = t3 & mask;
      nexts[trace] = buckets[bucket]!;
      buckets[bucket] = trace;
      flags[trace] = 0;
      roots[trace] = 1;
      starts[trace] = start;
      highs[2 * trace] = t0;
      highs[2 * trace + 1] = t1;
      const at = trace * GROUP_WORDS;
      groups[at + GROUP_HIGH] = t2;
      groups[at + GROUP_LOW] = t3;
      groups[at + GROUP_FROM] = heads[0]!;
      groups[at + GROUP_STATE] = UNDECIDED;
      return trace;
    };
    this.forget = (trace) => {
      const at = trace * GROUP_WORDS;
      groups[at + GROUP_STATE] = 0;
      const t2 = groups[at + GROUP_HIGH]!;
      const t3 = groups[at + GROUP_LOW]!;
      const isKept = (flags[trace]! & KEPT) !== 0;
      if (isKept) kept.add(t2, t3, this.now(), reasons[trace]!);
      else released.add(t2, t3, this.now(), 0);
      if (shared[trace] !== 0) {
        this.tell(trace, isKept);
        shared[trace] = 0;
      }
      if (ended[trace] !== 0) ring.dropEnded(trace);
      records[trace] = 0;
      bytes[trace] = 0;
      const bucket = t3 & mask;
      let before = buckets[bucket]!;
      if (before === trace) buckets[bucket] = nexts[trace]!;
      else {
        while (nexts[before] !== trace) before = nexts[before]!;
        nexts[before] = nexts[trace]!;
      }
      nexts[trace] = numbers[FREE] === numbers[UNUSED] ? 0 : numbers[FREE]!;
      numbers[FREE] = trace;
    };
  }

  /** Numbers from here on were never used. */
  protected get unused(): number {
    return this.#numbers[UNUSED]!;
  }

  /** The arrays that native code shares. */
  protected get ownIndex() {
    const { bytes, ended, flags, records, roots, shared } = this;
    const { entries: released, oldest } = this.#released;
    const [buckets, nexts, numbers] = [this.#buckets, this.#next, this.#numbers];
    return {
      buckets,
      nexts,
      numbers,
      flags,
      roots,
      shared,
      records,
      bytes,
      ended,
      released,
      oldest,
    };
  }

  /** Decides about a trace whose number is needed. */
  protected abstract decideNow(trace: number): void;

  /** Forgets a trace although local roots of it are open. */
  protected abstract giveUp(trace: number): void;

  idOf(trace: number): readonly [number, number, number, number] {
    const at = trace * GROUP_WORDS;
    const { groups } = this;
    return [
      this.highs[2 * trace]!,
      this.highs[2 * trace + 1]!,
      groups[at + GROUP_HIGH]!,
      groups[at + GROUP_LOW]!,
    ];
  }

  /** Whether a trace is undecided yet. */
  protected isOpen(trace: number): boolean {
    return this.groups[trace * GROUP_WORDS + GROUP_STATE] !== 0;
  }

  /** Other threads may get a part of a trace: they see what becomes of it. */
  share(trace: number): void {
    if (this.shared[trace] !== 0) return;
    const at = trace * GROUP_WORDS;
    const { groups } = this;
    this.shared[trace] = this.decisions.begin(groups[at + GROUP_HIGH]!, groups[at + GROUP_LOW]!);
  }

  /** The other threads hear what becomes of a trace. */
  protected tell(trace: number, isKept: boolean): void {
    const entry = this.shared[trace]!;
    if (entry <= 0) return;
    const at = trace * GROUP_WORDS;
    this.decisions.end(entry, this.groups[at + GROUP_HIGH]!, this.groups[at + GROUP_LOW]!, isKept);
  }

  /** Nanoseconds of the trace. */
  now(): number {
    const { ring } = this;
    ring.readStamp();
    return ring.stamp[0]!;
  }

  /** The decision about a trace that does not wait, for a span of it that begins at `start`. */
  pastOf(t2: number, t3: number, start: number): number {
    const since = start - LATE_NS;
    const kept = this.#kept.timeOf(t2, t3);
    if (kept !== undefined && kept >= since) return WAS_KEPT;
    const released = this.#released.timeOf(t2, t3);
    if (released !== undefined) return released >= since ? WAS_RELEASED : OVER;
    if (kept !== undefined) return OVER;
    // Rather too few are recorded.
    const isUnsure =
      this.#kept.mayHaveForgotten(t3, since) || this.#released.mayHaveForgotten(t3, since);
    return isUnsure ? WAS_RELEASED : OVER;
  }

  /** Why a trace was kept that is decided; 0: it was not, or is not known. */
  pastReasonOf(t2: number, t3: number): number {
    return this.#kept.reasonOf(t2, t3);
  }

  /** When a trace was decided that is kept; undefined: it is not, or not known. */
  keptAt(t2: number, t3: number): number | undefined {
    return this.#kept.timeOf(t2, t3);
  }

  /** There are more local roots than numbers: some never end. */
  #decideOldest(): void {
    let oldest = 1;
    for (let trace = 2; trace < this.unused; trace++) {
      if (this.starts[trace]! < this.starts[oldest]!) oldest = trace;
    }
    if ((this.flags[oldest]! & (KEPT | RELEASED)) === 0) this.decideNow(oldest);
    this.giveUp(oldest);
  }
}
