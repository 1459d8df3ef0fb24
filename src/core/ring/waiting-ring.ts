import { core } from '../addon.js';
import { LOW_HALF } from '../byte-order.js';
import { TracewrightError } from '../errors.js';
import type { UsualEnds, WaitingIndex } from '../native-ring.js';
import { Ring } from './ring.js';

/** Words of a group, by their numbers in it; see native/ring/waiting_records.h. */
export const GROUP_HIGH = 0;
export const GROUP_LOW = 1;
export const GROUP_STATE = 2;
const GROUP_MARK = 3;
export const GROUP_FROM = 4;
const GROUP_UPTO = 5;
export const GROUP_WORDS = core.control.groupBytes / 4;

/** Of a group's state. */
export const UNDECIDED = 1;
const COPYING = 2;
const MOVING = 3;

/** Where records that wait in slots go. */
const TO_NOWHERE = 0;
const TO_RING = 1;
const TO_TARGET = 2;

/** Part of the ring that writers do not get: what has to wait longer moves there. */
const RESERVE = 8;

/** Makes room in a ring whose records wait. */
export interface Reclaimer {
  /** Lets go of records from the tail on, by `releaseTo`, until so many bytes are free or none can be. */
  reclaim(bytes: number): void;
}

/**
 * Where records of another ring wait until it is known whether that gets them. It is written like any ring; nobody
 * drains it. Its tail moves when its `reclaimer` says so, and never waits for anything.
 */
export class WaitingRing extends Ring {
  /** The groups of its records, `GROUP_WORDS` each. */
  readonly groups: Int32Array;
  reclaimer: Reclaimer | undefined;
  readonly #feeds: Ring;
  readonly #id: number;
  readonly #reserve: number;
  /** The tail as another process sees it. */
  readonly #published: BigUint64Array;
  /** @internal One element: see `headWord`. */
  readonly heads: Int32Array;
  readonly #feedsHead: Int32Array;
  #tail = 0;

  /** Where the records of a ring wait; undefined: it was opened without room for them. */
  static of(feeds: Ring): WaitingRing | undefined {
    const { control } = core;
    const page = new DataView(feeds.pending.buffer);
    if (page.byteLength < control.target) return undefined;
    const words = new BigUint64Array(feeds.pending.buffer, control.waitingCapacity, 1);
    const capacity = Number(words[0]);
    const count = new Uint32Array(feeds.pending.buffer, control.waitingGroups, 1)[0]!;
    return capacity === 0 ? undefined : new WaitingRing(feeds, capacity, count);
  }

  private constructor(feeds: Ring, capacity: number, groups: number) {
    super(closedError);
    const native = feeds.openWaiting();
    if (native === undefined) throw closedError();
    const { control } = core;
    const { buffer } = native;
    this.bind(native, capacity);
    this.openRecords = feeds.openRecords;
    this.#feeds = feeds;
    this.#id = native.id;
    this.#reserve = capacity / RESERVE;
    this.free = capacity - this.#reserve;
    this.groups = new Int32Array(buffer, control.waitingPage, groups * GROUP_WORDS);
    this.#published = new BigUint64Array(buffer, control.tail, 1);
    this.heads = new Int32Array(buffer, control.head + LOW_HALF, 1);
    this.#feedsHead = new Int32Array(feeds.pending.buffer, control.head + LOW_HALF, 1);
  }

  /** Has usual ends of what waits go by arrays of the caller; undefined: the core cannot. */
  index(index: WaitingIndex): UsualEnds | undefined {
    return core.indexWaiting(this.#id, index);
  }

  /** Has records of a kind that end usually counted. */
  countIn(kind: number, counts: Uint8Array): void {
    core.countWaiting(this.#id, kind, counts);
  }

  /** Lets go of the records of a group that have ended in their slots. */
  dropEnded(group: number): void {
    core.moveEnded(this.#id, group, TO_NOWHERE, 0);
  }

  /** Has them wait here, for which there is room of one at least. Returns their bytes. */
  moveEnded(group: number): number {
    const bytes = core.moveEnded(this.#id, group, TO_RING, this.free);
    this.advance(bytes);
    return bytes;
  }

  /** Publishes them in the ring that this one feeds, as far as that has room. Returns their bytes. */
  copyEnded(group: number, reason: number): number {
    const bytes = core.moveEnded(this.#id, group, TO_TARGET, reason);
    this.#feeds.advance(bytes);
    return bytes;
  }

  /** Where the next record goes, as the low half of a position: `& (capacity - 1)` is its offset. */
  get headWord(): number {
    return this.heads[0]!;
  }

  override makeRoom(bytes: number): boolean {
    if (!this.#feeds.isOpen) throw closedError();
    if (bytes <= this.capacity / 2) {
      this.#measure();
      if (this.free < bytes) this.reclaimer?.reclaim(Math.max(bytes, this.capacity / RESERVE));
      this.#measure();
      if (this.free >= bytes) return true;
    }
    this.countDropped();
    return false;
  }

  /** Lets go of everything before a position of which this is the low half. */
  releaseTo(position: number): void {
    this.#tail += (position - this.#tail) | 0;
    this.#published[0] = BigInt(this.#tail);
    this.#measure();
  }

  #measure(): void {
    const used = (this.heads[0]! - this.#tail) | 0;
    this.free = this.capacity - this.#reserve - used;
  }

  /** Bytes that can be moved to the head now. */
  get movable(): number {
    return this.free + this.#reserve;
  }

  /**
   * Publishes, in the ring that it feeds, `bytes` of the records of a group; those below `upto` wait no longer then.
   *
   * @param group the index of its first word.
   * @param counter becomes `next`, which the record after those gets.
   */
  commitCopies(
    group: number,
    bytes: number,
    upto: number,
    counter: Uint32Array,
    next: number,
  ): void {
    const { groups } = this;
    const state = groups[group + GROUP_STATE]!;
    groups[group + GROUP_MARK] = this.#feedsHead[0]!;
    groups[group + GROUP_UPTO] = upto;
    groups[group + GROUP_STATE] = COPYING;
    counter[0] = next;
    this.#feeds.commitAsIs(bytes);
    groups[group + GROUP_FROM] = upto;
    groups[group + GROUP_STATE] = state;
  }

  /** Publishes `bytes` at the head: the records of a group, which have moved there. */
  commitMoved(group: number, bytes: number): void {
    const { groups } = this;
    const upto = this.heads[0]!;
    groups[group + GROUP_MARK] = upto;
    groups[group + GROUP_UPTO] = upto;
    groups[group + GROUP_STATE] = MOVING;
    this.advance(bytes);
    core.commitAsIs(this.#id);
    groups[group + GROUP_FROM] = upto;
    groups[group + GROUP_STATE] = UNDECIDED;
  }
}

function closedError(): TracewrightError {
  return new TracewrightError('ERR_CLOSED', 'the trace is closed', { field: 'trace' });
}
