import { core } from '../addon.js';
import { LOW_HALF } from '../byte-order.js';
import { TracewrightError } from '../errors.js';
import type { WaitingCalls, WaitingFormat, WaitingShared } from '../native-ring.js';
import { Ring } from './ring.js';

/** Words of a group, by their numbers in it; see native/ring/waiting_records.h. */
export const GROUP_HIGH = 0;
export const GROUP_LOW = 1;
export const GROUP_STATE = 2;
export const GROUP_WORDS = core.control.groupBytes / 4;

/** Of `shared.words`: what a call is about, and what came of it; see native/ring/waiting_index.h. */
export const SLOT = 0;
export const WORD = 1;
export const KIND = 2;
export const HIGH = 3;
export const LOW = 4;
export const GROUP = 5;
export const REASON = 6;
export const CHOSEN_FROM = 7;
const CALL_WORDS = 8;
/** Instead of a slot or a group. */
export const DONE = -1;
export const ALL_TAKEN = -2;
export const TOO_LONG = -3;
/** Of `shared.times`, in nanoseconds. */
export const UNTIL = 0;
export const DURATION = 1;
export const DECIDED = 2;
const CALL_TIMES = 3;

/** Part of the ring that writers do not get: what has to wait longer moves there. */
const RESERVE = core.control.waitingReserve;

/** Decides about groups for which a ring has no room any more. */
export interface Reclaimer {
  /** A group has the oldest records: it is decided, or moves by `moveGroup`. */
  settle(group: number): void;
}

/**
 * Where records of another ring wait until it is known whether that gets them. It is written like any ring; nobody
 * drains it. Each record belongs to a group. Its tail moves when there is no room, and never waits for anything.
 */
export class WaitingRing extends Ring {
  /** The groups of its records, `GROUP_WORDS` each. */
  readonly groups: Int32Array;
  readonly shared: WaitingShared;
  declare readonly calls: WaitingCalls;
  reclaimer: Reclaimer | undefined;
  readonly #feeds: Ring;
  readonly #id: number;
  readonly #heads: Int32Array;
  readonly #tails: Int32Array;

  /** Where the records of a ring wait; undefined: it was opened without room for them. */
  static of(feeds: Ring, format: WaitingFormat): WaitingRing | undefined {
    const { control } = core;
    const { openRecords, pending } = feeds;
    if (openRecords === undefined || pending.buffer.byteLength < control.target) return undefined;
    const capacity = Number(new BigUint64Array(pending.buffer, control.waitingCapacity, 1)[0]);
    const count = new Uint32Array(pending.buffer, control.waitingGroups, 1)[0]!;
    if (capacity === 0) return undefined;
    const shared = sharedOf(count, openRecords.freeSlots);
    const ring = new WaitingRing(feeds, capacity, shared);
    const calls = core.indexWaiting(ring.#id, shared, format);
    if (calls === undefined) return undefined;
    Object.defineProperty(ring, 'calls', { value: calls });
    openRecords.relief = () => {
      ring.#relieve();
    };
    return ring;
  }

  private constructor(feeds: Ring, capacity: number, shared: WaitingShared) {
    super(closedError);
    const native = feeds.openWaiting();
    if (native === undefined) throw closedError();
    const { control } = core;
    const { buffer } = native;
    this.bind(native, capacity);
    this.openRecords = feeds.openRecords;
    this.#feeds = feeds;
    this.#id = native.id;
    this.shared = shared;
    this.groups = new Int32Array(buffer, control.waitingPage, shared.flags.length * GROUP_WORDS);
    this.#heads = new Int32Array(buffer, control.head + LOW_HALF, 1);
    this.#tails = new Int32Array(buffer, control.tail + LOW_HALF, 1);
    this.#measure();
  }

  /** Has records of a kind counted. */
  countIn(kind: number, counts: Uint8Array): void {
    core.countWaiting(this.#id, kind, counts);
  }

  /**
   * Records like the open one in a slot are of a kind: of the same writer, with the same variant in their word, and such
   * that a group begins with them, or not.
   */
  learn(slot: number, word: number, kind: number, isRoot: boolean): void {
    core.learnWaiting(this.#id, slot, word, kind, isRoot);
  }

  /** Publishes what waits of a group in the ring that this one feeds, or lets go of it if that has no room. */
  copyGroup(group: number, reason: number): void {
    const feeds = this.#feeds;
    for (;;) {
      const wanted = core.copyWaiting(this.#id, group, reason);
      feeds.moved();
      if (wanted === 0) return;
      if (!feeds.makeRoom(wanted)) break;
    }
    this.dropGroup(group);
  }

  /** Lets go of what waits of a group. */
  dropGroup(group: number): void {
    core.dropWaiting(this.#id, group);
  }

  /** The same of a group that was decided, which is remembered: why it is kept, or 0. */
  forgetGroup(group: number, reason: number): void {
    core.forgetWaiting(this.#id, group, reason);
  }

  /** Has a group wait at the head; false: it is too large. */
  moveGroup(group: number): boolean {
    const isMoved = core.moveWaiting(this.#id, group);
    this.moved();
    return isMoved;
  }

  /**
   * Whether no decision concerns a record that begins at `start`, of a group that does not wait. `shared` gets when and
   * why it was kept, or zeros.
   */
  isOver(high: number, low: number, start: number): boolean {
    return core.isOver(this.#id, high, low, start);
  }

  /** Slots are short: what waits in them waits here from now on. */
  #relieve(): void {
    let wanted: number;
    do {
      wanted = core.relieveSlots(this.#id);
      this.moved();
    } while (wanted > 0 && this.makeRoom(wanted));
  }

  override makeRoom(bytes: number): boolean {
    if (!this.#feeds.isOpen) throw closedError();
    if (bytes <= this.capacity / 2) {
      this.#measure();
      if (this.free < bytes) this.#reclaim(Math.max(bytes, this.capacity / RESERVE));
      if (this.free >= bytes) return true;
    }
    this.countDropped();
    return false;
  }

  #reclaim(bytes: number): void {
    let oldest: number;
    while ((oldest = core.reclaimWaiting(this.#id, bytes)) !== 0) this.reclaimer?.settle(oldest);
    this.#measure();
  }

  /** Native code may have moved both ends. */
  #measure(): void {
    const head = this.#heads[0]!;
    const used = (head - this.#tails[0]!) | 0;
    this.position = head & (this.capacity - 1);
    this.free = (this.capacity - this.capacity / RESERVE - used) | 0;
  }
}

function sharedOf(groups: number, freeSlots: Int32Array): WaitingShared {
  // Not on V8's heap: where it lies is a constant of optimised code then.
  return {
    words: new Int32Array(new ArrayBuffer(4 * CALL_WORDS)),
    times: new Float64Array(new ArrayBuffer(8 * CALL_TIMES)),
    flags: new Int32Array(groups),
    roots: new Int32Array(groups),
    freeSlots,
  };
}

function closedError(): TracewrightError {
  return new TracewrightError('ERR_CLOSED', 'the trace is closed', { field: 'trace' });
}
