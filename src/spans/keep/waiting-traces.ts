import {
  ALL_TAKEN,
  DECIDED,
  GROUP,
  GROUP_HIGH,
  GROUP_LOW,
  GROUP_STATE,
  GROUP_WORDS,
  HIGH,
  KIND,
  LOW,
  REASON,
  TOO_LONG,
} from '../../core/ring/waiting-ring.js';
import type { Reclaimer, WaitingRing } from '../../core/ring/waiting-ring.js';
import type { WaitingFormat } from '../../core/native-ring.js';
import { COUNTER_OFFSET, DESCRIPTION_OFFSET, START_OFFSET } from '../../heph/layout.js';
import { FLAGS_AFTER_NAME, KEEP_REASON_AFTER_NAME, KIND_SHIFT } from '../layout.js';
import type { Span } from '../span.js';
import { RANDOM_HIGH } from './keep-decision.js';
import { LATE_NS } from './late-spans.js';
import type { Numbering } from './released-figures.js';
import { FAILED_BIT } from './span-flags.js';
import { ThreadDecisions } from './thread-decisions.js';

/** Of a trace, bits. */
export const FAILED = 1;
/** It is kept: what ends is copied at once. */
export const KEPT = 2;
/** It is released, though a local root is open. */
export const RELEASED = 4;
/** This thread or another one decides about it for all. */
const SHARED = 8;
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

/** Where native code finds the fields of records that wait. */
export const WAITING_FORMAT: WaitingFormat = {
  decided: KEPT | RELEASED,
  linkAt: COUNTER_OFFSET,
  startAt: START_OFFSET,
  nameAt: DESCRIPTION_OFFSET,
  wordAfterName: FLAGS_AFTER_NAME,
  reasonAfterName: KEEP_REASON_AFTER_NAME,
  failedBit: FAILED_BIT,
  chosenMask: RANDOM_HIGH,
  variantShift: KIND_SHIFT,
  late: LATE_NS,
};

/** Decides about a trace that cannot wait any longer. */
export interface Judge {
  /** Whether it is certain by now that the trace is kept; the reason, or 0. */
  certain(trace: number): number;
  /** Whether it is among the share of all; the reason, or 0. */
  byRatio(trace: number): number;
  /** It is decided, and forgotten with the local roots of it that have ended. */
  forget(trace: number): void;
}

/**
 * Traces of a thread whose local roots are open, by number; 0: none. Their records wait in a ring, whose native code
 * knows which these are: a trace is a group there.
 */
export class WaitingTraces implements Reclaimer, Numbering {
  judge: Judge | undefined;

  readonly ring: WaitingRing;
  readonly flags: Int32Array;
  /** How many local roots are open. */
  readonly roots: Int32Array;
  /** When the local root has started that did so last, in nanoseconds of the trace. */
  readonly starts: Float64Array;
  /** The id of the first span, if its trace BEGINS_WITHIN. */
  readonly firstIds: Int32Array;
  /** Why a trace is kept, if it is KEPT. */
  readonly reasons: Int32Array;
  /** Of a trace that is SHARED, and that this thread decides about: its entry for other threads. */
  readonly shared: Int32Array;
  readonly decisions = new ThreadDecisions();

  // Functions, not methods: to optimised code the arrays that they close over are constants, which takes half of the
  // instructions.
  /** The trace with these low halves of its id; 0: it does not wait. */
  readonly find: (t2: number, t3: number) => number;
  /** A trace begins to wait: its first local root has started. Returns 0 if the ring is closed. */
  readonly add: (t0: number, t1: number, t2: number, t3: number, start: number) => number;
  /** The record that was committed last waits for the decision about a trace, and is counted by a number. */
  readonly link: (trace: number, number: number) => void;

  /** High half of the trace id. */
  readonly #highs: Int32Array;
  /** Kinds that native code counts. */
  #counted = 0;

  constructor(ring: WaitingRing) {
    const { begin, find, link } = ring.calls;
    const { flags, roots, words } = ring.shared;
    const count = flags.length;
    this.ring = ring;
    this.flags = flags;
    this.roots = roots;
    const starts = (this.starts = new Float64Array(count));
    const highs = (this.#highs = new Int32Array(2 * count));
    this.firstIds = new Int32Array(2 * count);
    this.reasons = new Int32Array(count);
    this.shared = new Int32Array(count);
    ring.reclaimer = this;

    this.find = (t2, t3) => {
      words[HIGH] = t2;
      words[LOW] = t3;
      words[GROUP] = 0;
      find();
      return words[GROUP];
    };
    this.add = (t0, t1, t2, t3, start) => {
      words[HIGH] = t2;
      words[LOW] = t3;
      words[GROUP] = 0;
      begin();
      let trace = words[GROUP];
      if (trace === ALL_TAKEN) {
        this.#decideOldest();
        trace = this.add(t0, t1, t2, t3, start);
      }
      starts[trace] = start;
      highs[2 * trace] = t0;
      highs[2 * trace + 1] = t1;
      return trace;
    };
    this.link = (trace, number) => {
      words[GROUP] = trace;
      words[KIND] = number;
      link();
      if (words[GROUP] === TOO_LONG && (flags[trace]! & KEPT) === 0) this.#decideNow(trace);
    };
  }

  numberOf(counts: Uint8Array): number {
    this.#counted += 1;
    this.ring.countIn(this.#counted, counts);
    return this.#counted;
  }

  /** Spans like one in a slot have a number from here on: of the same writer and kind, and local roots like it. */
  learn({ flags, slot }: Span, number: number, isRoot: boolean): void {
    this.ring.learn(slot, flags, number, isRoot);
  }

  idOf(trace: number): readonly [number, number, number, number] {
    const at = trace * GROUP_WORDS;
    const { groups } = this.ring;
    return [
      this.#highs[2 * trace]!,
      this.#highs[2 * trace + 1]!,
      groups[at + GROUP_HIGH]!,
      groups[at + GROUP_LOW]!,
    ];
  }

  /** Nanoseconds of the trace. */
  now(): number {
    const { ring } = this;
    ring.readStamp();
    return ring.stamp[0]!;
  }

  /** Whether nothing is known of a trace that does not wait, or nothing that concerns a span that begins at `start`. */
  isOver(t2: number, t3: number, start: number): boolean {
    return this.ring.isOver(t2, t3, start);
  }

  /** Why a trace was kept that is decided; 0: it was not, or is not known. */
  pastReasonOf(t2: number, t3: number): number {
    this.ring.isOver(t2, t3, 0);
    return this.ring.shared.words[REASON]!;
  }

  /** When a trace was decided that is kept, or up to 17 ms later; 0: it is not, or not known. */
  keptAt(t2: number, t3: number): number {
    this.ring.isOver(t2, t3, 0);
    return this.ring.shared.times[DECIDED]!;
  }

  /** Other threads may get a part of a trace: they see what becomes of it. */
  share(trace: number): void {
    if ((this.flags[trace]! & SHARED) !== 0) return;
    const [, , t2, t3] = this.idOf(trace);
    this.shared[trace] = this.decisions.begin(t2, t3);
    this.flags[trace]! |= SHARED;
  }

  /** The other threads hear what becomes of a trace. */
  #tell(trace: number): void {
    if ((this.flags[trace]! & SHARED) === 0 || this.shared[trace]! <= 0) return;
    const [, , t2, t3] = this.idOf(trace);
    this.decisions.end(this.shared[trace]!, t2, t3, (this.flags[trace]! & KEPT) !== 0);
  }

  /** The last record belongs to a trace that was decided: it goes to the file. */
  copyLate(reason: number): void {
    this.flags[0] = KEPT;
    this.link(0, 0);
    this.copy(0, reason);
  }

  /** Copies what waits of a trace to the file's ring, where it gets its numbers. */
  copy(trace: number, reason: number): void {
    this.ring.copyGroup(trace, reason);
  }

  /** A trace is kept: what waits goes to the file, and so does what ends from now on. */
  keep(trace: number, reason: number): void {
    this.flags[trace]! |= KEPT;
    this.reasons[trace] = reason;
    this.copy(trace, reason);
  }

  /** Nothing of a trace goes to the file. */
  #release(trace: number): void {
    this.flags[trace]! |= RELEASED;
    this.ring.dropGroup(trace);
  }

  /** The last local root of a trace has ended. */
  forget(trace: number): void {
    this.#tell(trace);
    this.shared[trace] = 0;
    const isKept = (this.flags[trace]! & KEPT) !== 0;
    this.ring.forgetGroup(trace, isKept ? this.reasons[trace]! : 0);
  }

  /** Keeps all that is not decided: the thread ends. */
  keepAll(reason: number): void {
    for (let trace = 1; trace < this.flags.length; trace++) {
      if (this.ring.groups[trace * GROUP_WORDS + GROUP_STATE] === 0) continue;
      if ((this.flags[trace]! & (KEPT | RELEASED)) === 0) this.keep(trace, reason);
      this.#tell(trace);
    }
  }

  settle(trace: number): void {
    const reason = this.judge?.certain(trace) ?? 0;
    if (reason !== 0) this.keep(trace, reason);
    else if (!this.ring.moveGroup(trace)) this.#decideNow(trace);
  }

  #decideNow(trace: number): void {
    const reason = this.judge?.certain(trace) || (this.judge?.byRatio(trace) ?? 0);
    if (reason === 0) this.#release(trace);
    else this.keep(trace, reason);
  }

  /** There are more local roots than numbers: some never end. */
  #decideOldest(): void {
    const { starts } = this;
    let oldest = 1;
    for (let trace = 2; trace < starts.length; trace++) {
      if (starts[trace]! < starts[oldest]!) oldest = trace;
    }
    if ((this.flags[oldest]! & (KEPT | RELEASED)) === 0) this.#decideNow(oldest);
    if (this.judge === undefined) this.forget(oldest);
    else this.judge.forget(oldest);
  }
}
