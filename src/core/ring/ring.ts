import { core } from '../addon.js';
import { LOW_HALF } from '../byte-order.js';
import type { RingCounts } from '../no-counts.js';
import type { NativeRing, NativeRingOptions } from '../native-ring.js';
import type { TracewrightError } from '../errors.js';
import { ownOptions } from '../options/argument.js';
import { hasCode, wrapSystemError } from '../files/system-error.js';
import { KnownFull } from './known-full.js';
import type { OpenRecordOptions, OpenRecords } from './open-records.js';
import type { SharedTarget } from './shared-target.js';
import { watchTargets } from './target-health.js';
import type { FaultHandler } from './target-health.js';

/** How a format opens a ring. Without `stampOffset` no record of the ring has a stamp. */
export type RingSetup = Omit<NativeRingOptions, 'stampOffset'> & {
  stampOffset?: number;
  openRecords?: OpenRecordOptions;
};

/** There is nothing to publish to; records find out by `free`. */
const closedCommit = (): void => undefined;
const NOWHERE = new ArrayBuffer(8);
/** Answers of the core when there is no room. */
const CLOSED = -1;
const FULL = -2;
/** Numbers of the stamp area. */
const STAMP_AREA = 8;

/**
 * Rings that the process opens from now on take memory as they fill: opening one costs 1 to 3 ms and
 * 8 MB less, and the first record in each page a page fault.
 */
export function mapPagesLate(): void {
  core.mapPagesLate();
}

/**
 * The producer's end of a ring. A writer encodes a record at `position` and commits it:
 *
 *     if (ring.free < bytes && !ring.makeRoom(bytes)) return;   // dropped, and counted
 *     ring.view.setUint32(ring.position, ...);
 *     ring.advance(bytes);
 *     ring.commit();
 *
 * A closed ring has no free byte, so the one comparison that every record makes anyway also finds
 * out that there is nothing to write to.
 */
export class Ring {
  /** The data region, twice in a row: a record never wraps. */
  view = new DataView(NOWHERE);
  bytes = Buffer.from(NOWHERE);
  /** Where the next record goes, in bytes from the start of `view`. */
  position = 0;
  /** Bytes that are known to be free; there may be more. */
  free = 0;
  capacity = 0;
  /** One element: bytes of the record that the next commit publishes. */
  pending = new Int32Array(NOWHERE, 0, 1);
  /** One element: which of the ring's epilogues applies. */
  epilogue = new Int32Array(NOWHERE, 0, 1);
  /** One element: nanoseconds since the epoch, as `readStamp` left them. */
  stamp = new Float64Array(NOWHERE, 0, 1);
  /** Memory that the ring's kind of stamp shares with its writer; see native/ring/commit_stamp.h. */
  stampArea = new Float64Array(STAMP_AREA);
  /** One element, of unfinished-target.ts. A ring that is finished while it is not 0 leaves its file to recovery. */
  unfinished = new Int32Array(NOWHERE, 0, 1);
  /** The data as 32-bit words of the machine's byte order, and what `putWords` is to do with them. */
  words = new Int32Array(NOWHERE);
  wordsToPut = new Int32Array(NOWHERE, 0, 2);
  /**
   * Puts words where they need not be aligned, as big-endian ones: `wordsToPut[1]` of them at
   * `wordsToPut[0]`, in bytes from the start of `view`. They have been stored in `words` at the next
   * multiple of 4 bytes. Only of a ring that was opened with `words`.
   */
  putWords: () => void = closedCommit;
  /** Of a ring that was opened with them. */
  openRecords: OpenRecords | undefined;
  commit: () => void = closedCommit;
  /** @internal As `readStamp`, where an open record begins: see compiled-slots.ts. */
  beginOpen: () => void = closedCommit;
  /** @internal Publishes an open record: see compiled-slots.ts. */
  publishOpen: () => void = closedCommit;
  readStamp: () => void = closedCommit;

  #id = -1;
  #dropped = new Float64Array(NOWHERE, 0, 1);
  #refused = new Float64Array(NOWHERE, 0, 1);
  #stalled = new Int32Array(NOWHERE, 0, 1);
  #nativePosition = new Int32Array(NOWHERE, 0, 1);
  #stall = new Uint32Array(NOWHERE, 0, 2);
  #reserve = 0;
  /** Sizes that are known to find no room, now and even if the ring is written out. */
  #head = new Int32Array(NOWHERE, 0, 1);
  #tail = new Int32Array(NOWHERE, 0, 1);
  #full = new KnownFull(NOWHERE, 0);
  #stuck = new KnownFull(NOWHERE, 0);
  #unwatch: (() => void) | undefined;
  readonly #whenClosed: () => TracewrightError;
  readonly #onStall: ((times: Uint32Array) => void) | undefined;

  /**
   * @param whenClosed makes the error for a record that finds the ring closed.
   * @param stalls where a format records that the thread stood still: its record's bytes, and what
   *   writes it. It receives four u32: low and high halves of the first and the last nanosecond.
   */
  constructor(
    whenClosed: () => TracewrightError,
    stalls?: { bytes: number; record: (times: Uint32Array) => void },
  ) {
    this.#whenClosed = whenClosed;
    this.#onStall = stalls?.record;
    this.#reserve = stalls?.bytes ?? 0;
  }

  get isOpen(): boolean {
    return this.#id !== -1;
  }

  /** Longest record that goes through the ring; a longer one takes `writeThrough`. */
  get longestRecord(): number {
    return this.capacity / 2;
  }

  /** @param onFault hears when the target fails and when it works again, instead of a warning. */
  open(options: RingSetup, target?: SharedTarget, onFault?: FaultHandler): void {
    const { control } = core;
    // An offset past the record: recovery stamps nothing either.
    const setup = ownOptions({ stampOffset: control.epilogueStride, ...options });
    const native = wrapSystemError('target', setup.target, () =>
      core.openRing(setup, target?.native),
    );
    this.bind(native, setup.capacity);
    const { openRecords } = setup;
    // Without a native binary there is no table.
    const hasTable =
      openRecords !== undefined && new Uint32Array(native.buffer, control.openPlaces, 1)[0]! > 0;
    this.openRecords = hasTable ? newOpenRecords(native.id, native.buffer, openRecords) : undefined;
    this.#unwatch = watchTargets(setup.group ?? setup.target, onFault);
  }

  /** @internal Where the records of this ring wait; undefined: nowhere. */
  openWaiting(): NativeRing | undefined {
    return this.#id === -1 ? undefined : core.openWaiting(this.#id);
  }

  /** Has the ring be one that native code has opened. */
  protected bind(native: NativeRing, capacity: number): void {
    const { control } = core;
    const { buffer } = native;
    this.#id = native.id;
    this.view = new DataView(buffer, native.dataOffset);
    this.bytes = Buffer.from(buffer, native.dataOffset);
    // Small integers to V8 as well: what Math computes is a double, and `position` and `free` would
    // become doubles with it, which costs 5 ns an event.
    this.capacity = capacity | 0;
    this.position = 0;
    this.free = native.spent ? 0 : this.capacity;
    this.pending = new Int32Array(buffer, control.pending, 1);
    this.epilogue = new Int32Array(buffer, control.epilogue, 1);
    this.stamp = new Float64Array(buffer, control.stamp, 1);
    this.stampArea = new Float64Array(buffer, control.stampArea, STAMP_AREA);
    this.unfinished = new Int32Array(buffer, control.unfinished, 1);
    this.words = new Int32Array(buffer, native.dataOffset);
    this.wordsToPut = new Int32Array(buffer, control.wordsAt, 2);
    this.putWords = native.putWords ?? closedCommit;
    this.commit = native.commit;
    this.beginOpen = native.beginOpen ?? closedCommit;
    this.publishOpen = native.commitOpen ?? closedCommit;
    this.readStamp = native.readStamp;
    this.#dropped = new Float64Array(buffer, control.droppedEvents, 1);
    this.#refused = new Float64Array(buffer, control.refusedEvents, 1);
    this.#stalled = new Int32Array(buffer, control.stalled, 1);
    this.#nativePosition = new Int32Array(buffer, control.position, 1);
    this.#stall = new Uint32Array(buffer, control.stallFrom, 4);
    this.#head = new Int32Array(buffer, control.head + LOW_HALF, 1);
    this.#tail = new Int32Array(buffer, control.tail + LOW_HALF, 1);
    this.#full = new KnownFull(buffer, control.tail);
    this.#stuck = new KnownFull(buffer, control.tail);
  }

  /** Stores the records that end the stream if its thread cannot. `epilogue[0]` selects one, from 1; 0 is none. */
  setEpilogues(epilogues: readonly (readonly Uint8Array[])[]): void {
    const { control } = core;
    epilogues.forEach((records, index) => {
      const at = control.epilogues + (index + 1) * control.epilogueStride;
      const head = new Uint32Array(this.pending.buffer, at, 2);
      const bytes = new Uint8Array(this.pending.buffer, at + control.epilogueHeadBytes);
      records.forEach((record, i) => {
        bytes.set(record, i * record.length);
      });
      head[1] = records[0]?.length ?? 0;
      head[0] = records.length;
    });
  }

  /** Counts the record at `position` as written; the next commit publishes it. */
  advance(bytes: number): void {
    this.free -= bytes;
    // Without a branch: one that is first taken at the end of the ring would have V8 discard the compiled code then.
    this.position = (this.position + bytes) & (this.capacity - 1);
    this.pending[0] = bytes;
  }

  /**
   * Gets `bytes` free bytes, or says no: the record is dropped, and counted here.
   *
   * @param stamped the record brings its own clock. No stall is recorded in front of it: the stall's
   *   clock is now, and would be later than the record's.
   * @throws what `whenClosed` makes, when the ring is closed.
   */
  makeRoom(bytes: number, stamped = false): boolean {
    if (this.dropIfFull(bytes)) return false;
    this.#full.beforeAsking();
    const room = core.makeRoom(this.#id, bytes + this.#reserve);
    if (room === FULL) this.#full.note(bytes, this.#freeBytes());
    return this.#takeRoom(room, bytes, stamped);
  }

  /** Drops a record of at least `bytes` bytes, and counts it, if the ring is known to have no room for it. */
  dropIfFull(bytes: number): boolean {
    return this.#full.isFor(bytes) && !this.countDropped();
  }

  /** As `makeRoom`, but writes the ring out whatever the policy: for a record without which later ones say else. */
  forceRoom(bytes: number, stamped = false): boolean {
    if (this.#stuck.isFor(bytes)) return this.countDropped();
    this.#stuck.beforeAsking();
    let room = core.makeRoom(this.#id, bytes + this.#reserve);
    if (room < bytes && this.#id !== -1) {
      core.flush(this.#id);
      const stalled = this.#stalled[0]!;
      room = core.makeRoom(this.#id, bytes + this.#reserve);
      this.#stalled[0] = stalled;
      if (room === FULL) this.#stuck.note(bytes, this.#freeBytes());
    }
    return this.#takeRoom(room, bytes, stamped);
  }

  /** Publishes a record whose writer has put all of its times. */
  commitAsIs(bytes: number): void {
    this.advance(bytes);
    core.commitAsIs(this.#id);
  }

  /**
   * Publishes records that carry their own clocks, all or none; false when the first of them lies
   * before the last record of the ring.
   *
   * @param lastRecord where the last of them begins, in bytes from the first.
   * @param unordered whether they may lie before it all the same.
   */
  commitExplicit(bytes: number, lastRecord = 0, unordered = false): boolean {
    this.pending[0] = bytes;
    if (!core.commitExplicit(this.#id, lastRecord, unordered)) return false;
    this.advance(bytes);
    return true;
  }

  /** After a commit that moved its record: the next record asks the core where it goes. */
  moved(): void {
    this.free = 0;
  }

  /** Counts of the format's own, which outlive the process with the ring: at most 2,048. */
  noteCounts(count: number): Uint32Array<ArrayBuffer> {
    return new Uint32Array(this.pending.buffer, core.control.note, count);
  }

  /**
   * Writes a record longer than `longestRecord` after all before it. False: the target fails, the record is dropped.
   *
   * @param unordered whether its own clock may lie before the last one.
   * @throws the native error ERANGE when the record's own clock lies before the last one.
   */
  writeThrough(head: Uint8Array, body: Uint8Array, stamped: boolean, unordered = false): boolean {
    if (this.#id === -1) throw this.#whenClosed();
    try {
      core.writeThrough(this.#id, head, body, stamped, unordered);
    } catch (error) {
      if (hasCode(error, 'ERANGE')) throw error;
      return this.countDropped();
    }
    this.position = this.#nativePosition[0]!;
    this.free = this.capacity;
    if (!stamped) this.#recordStall();
    return true;
  }

  /** Writes out what is committed, on this thread. */
  flush(): boolean {
    if (this.#id === -1) throw this.#whenClosed();
    const complete = core.flush(this.#id);
    const stalled = this.#stalled[0]!;
    const room = core.makeRoom(this.#id, this.#reserve);
    if (room < 0) return complete;
    this.free = room;
    this.position = this.#nativePosition[0]!;
    this.#stalled[0] = stalled;
    this.#recordStall();
    return complete;
  }

  /** Resolves to whether what is committed has left within `limitMs`. */
  drained(limitMs: number): Promise<boolean> {
    return this.#id === -1 ? Promise.resolve(true) : core.waitDrained(this.#id, limitMs);
  }

  /** A record that is left out, such as one that lacks something else which found no room. */
  countDropped(): boolean {
    this.#dropped[0]! += 1;
    return false;
  }

  /** A record that its format or target cannot hold; it counts as refused. */
  countRefused(): void {
    this.#refused[0]! += 1;
  }

  get droppedEvents(): number {
    return this.#dropped[0]!;
  }

  get refusedEvents(): number {
    return this.#refused[0]!;
  }

  /** Whether the target's path still names the file that this ring feeds. Another trace may lie there. */
  get inPlace(): boolean {
    return core.inPlace(this.#id);
  }

  counts(): RingCounts | undefined {
    return this.#id === -1 ? undefined : core.ringCounts(this.#id);
  }

  /** See `setEndMetadata` of the native core. */
  setEndMetadata(
    keys: readonly number[],
    texts: readonly string[],
    whole: boolean,
    due: boolean,
  ): void {
    if (this.#id !== -1) core.setEndMetadata(this.#id, keys, texts, whole, due);
  }

  /** Drains, completes the stream and lets go of the ring. Waits `limitMs` at most for a socket. */
  close(limitMs = 1000): void {
    if (this.#id === -1) return;
    const id = this.#id;
    // First, so that nothing that runs meanwhile finds room.
    this.#id = -1;
    this.free = 0;
    this.#full = new KnownFull(NOWHERE, 0);
    this.#stuck = new KnownFull(NOWHERE, 0);
    this.commit = closedCommit;
    this.beginOpen = closedCommit;
    this.publishOpen = closedCommit;
    this.readStamp = closedCommit;
    this.putWords = closedCommit;
    this.openRecords?.close();
    core.finish(id, limitMs);
    this.#unwatch?.();
  }

  #takeRoom(room: number, bytes: number, stamped: boolean): boolean {
    if (room >= bytes) {
      this.free = room;
      this.position = this.#nativePosition[0]!;
      if (!stamped) this.#recordStall();
      return true;
    }
    if (this.#id === -1 || room === CLOSED) throw this.#whenClosed();
    return this.countDropped();
  }

  /** Bytes that a record can have, by the low halves of head and tail. */
  #freeBytes(): number {
    return this.capacity - this.#reserve - ((this.#head[0]! - this.#tail[0]!) >>> 0);
  }

  #recordStall(): void {
    if (this.#stalled[0] === 0) return;
    this.#stalled[0] = 0;
    this.#onStall?.(this.#stall);
  }
}

/** Loaded for a ring that has them: those of ovni have none. */
function newOpenRecords(...args: ConstructorParameters<typeof OpenRecords>): OpenRecords {
  const late = require('./open-records.js') as typeof import('./open-records.js');
  return new late.OpenRecords(...args);
}
