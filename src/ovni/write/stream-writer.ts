import { existsSync } from 'node:fs';
import { LITTLE } from '../../core/byte-order.js';
import { outOfRange, wrongOrder } from '../../core/errors.js';
import type { TracewrightError } from '../../core/errors.js';
import { Ring } from '../../core/ring/ring.js';
import {
  CLOCK_OFFSET,
  HEADER_BYTES,
  MAX_PAYLOAD_BYTES,
  PAYLOAD_OFFSET,
  codeOf,
  headerOf,
  payloadSizeCode,
} from '../layout.js';
import { MarkStacks } from '../mark-stacks.js';
import { isLegal, transitionOf } from '../thread-state.js';
import type { ThreadState } from '../thread-state.js';
import { hasCode } from '../../core/files/system-error.js';
import { hookStream } from './hook-stream.js';
import { OwedEvents } from './owed-events.js';
import type { OvniProcess } from './process-note.js';
import { StreamMetadata } from './stream-metadata.js';
import { StreamDirectory } from './stream-directory.js';

const BEGIN = headerOf(0, 'OF[');
const END = headerOf(0, 'OF]');

/** Bytes of the two events that record a flush. */
const FLUSH_EVENTS_BYTES = 2 * HEADER_BYTES;

/**
 * Records for which time the thread wrote its ring out. Both events are one commit, because a thread
 * can be terminated between two.
 *
 * @param times low and high halves of the first and the last nanosecond.
 */
function recordFlush(ring: Ring, times: Uint32Array): void {
  const { position } = ring;
  writeEvent(ring, position, BEGIN, times[0]!, times[1]!);
  writeEvent(ring, position + HEADER_BYTES, END, times[2]!, times[3]!);
  ring.commitExplicit(FLUSH_EVENTS_BYTES, HEADER_BYTES);
}

function writeEvent(
  { view }: Ring,
  at: number,
  header: number,
  first: number,
  second: number,
): void {
  view.setUint32(at, header, true);
  // The halves of a u64 in the machine's order, in which the core has stored them.
  view.setUint32(at + CLOCK_OFFSET, first, LITTLE);
  view.setUint32(at + CLOCK_OFFSET + 4, second, LITTLE);
}

function bareEvent(mcv: string): Uint8Array {
  const event = new Uint8Array(HEADER_BYTES);
  new DataView(event.buffer).setUint32(0, headerOf(0, mcv), true);
  return event;
}

/**
 * Events that end a thread, for a thread that is terminated before it can write them. A ring counts
 * them from 1.
 */
const ENDS = [['OHe'], ['OHr', 'OHe'], ['OHp', 'OHr', 'OHe']];
const EPILOGUES = ENDS.map((mcvs) => mcvs.map(bareEvent));
/** Those that end a region of unordered events first. */
const REGION_EPILOGUES = ENDS.map((mcvs) => ['OU]', ...mcvs].map(bareEvent));
const END_NOW = 1;
const RESUME_AND_END = 2;
const PAUSE_RESUME_AND_END = 3;

/** The epilogue that ends a thread in this state; 0 if it needs none. */
function epilogueOf(state: ThreadState, version: 1 | 3): number {
  switch (state) {
    case 'running':
      return END_NOW;
    case 'cooling':
      // The reader of version 1 refuses an end from here.
      return version === 3 ? END_NOW : PAUSE_RESUME_AND_END;
    case 'paused':
    case 'warming':
      return RESUME_AND_END;
    default:
      return 0;
  }
}

const LONGEST_OWED_BYTES = HEADER_BYTES + MAX_PAYLOAD_BYTES;
const NO_PAYLOAD = new Uint8Array(0);

/** @throws TracewrightError for an event with a clock before the last one. */
export function clockBackwards(clock: bigint | undefined): never {
  throw outOfRange('clock', clock, 'not before the last event of the stream, outside OU[ and OU]');
}

/**
 * Commits the event that begins at the ring's position, by its own clock if it has one.
 *
 * @param unordered whether that may lie before the last event.
 */
export function commitEvent(
  ring: Ring,
  bytes: number,
  clock: bigint | undefined,
  unordered = false,
): void {
  if (clock === undefined) {
    ring.advance(bytes);
    ring.commit();
    return;
  }
  ring.view.setBigUint64(ring.position + CLOCK_OFFSET, clock, LITTLE);
  if (!ring.commitExplicit(bytes, 0, unordered)) clockBackwards(clock);
}

/** False if the directory is taken. */
function opened(ring: Ring, directory: StreamDirectory): boolean {
  try {
    ring.open(directory.ringOptions());
    return true;
  } catch (error) {
    const { process, files } = directory;
    const isTaken =
      process.version === 3 && hasCode(error, 'EEXIST') && existsSync(files.directory);
    if (!isTaken) throw error;
    return false;
  }
}

/** One stream of a trace: the events of one thread, which go through a ring, and their metadata. */
export class StreamWriter {
  /** Another ring each time the stream is opened: emitters are compiled for one. */
  ring: Ring = this.#newRing();
  /** Undefined while the stream is closed. */
  process: OvniProcess | undefined;
  readonly metadata = new StreamMetadata(
    () => this.#directory,
    () => this.ring,
  );
  readonly markStacks = new MarkStacks();
  #directory: StreamDirectory | undefined;
  #state: ThreadState = 'unknown';
  /** While anything is owed, `ring.free` is 0, so that each emitter calls `makeRoom` first. */
  #owed = new OwedEvents();
  #ended = false;
  #unordered = false;
  /** The call that is waiting for room, for the error of a closed stream. */
  #call = 'emit';

  /** The number of the thread; 0 while the stream is closed. */
  get tid(): number {
    return this.#directory?.tid ?? 0;
  }

  /** Whether the stream is between an `OU[` and its `OU]`, where clocks may be earlier ones. */
  get unordered(): boolean {
    return this.#unordered;
  }

  set unordered(unordered: boolean) {
    this.#unordered = unordered;
    // The thread may be terminated in between.
    this.ring.epilogue[0] = 0;
    this.ring.setEpilogues(unordered ? REGION_EPILOGUES : EPILOGUES);
    this.#chooseEpilogue();
  }

  // By the thread's own events, whether or not these found room.
  get state(): ThreadState {
    return this.#state;
  }

  /**
   * @param tid 1 to 2^31 - 1. Default: the system's number of the calling thread.
   * @param keepsMetadata whether the stream begins with the metadata that it has.
   */
  open(process: OvniProcess, tid?: number, keepsMetadata = false): void {
    let directory = (this.#directory = new StreamDirectory(process, tid));
    this.process = process;
    this.ring = this.#newRing();
    this.#ended = false;
    this.#state = 'unknown';
    this.#unordered = false;
    this.#owed.clear();
    if (!keepsMetadata) this.metadata.clear();
    this.markStacks.clear();
    try {
      while (!opened(this.ring, directory)) {
        // Another thread was faster.
        directory = this.#directory = new StreamDirectory(process, tid);
      }
      // Before the first event, so that a broken stream has metadata. After the stream's file, because
      // a thread may be terminated in between, and readers refuse metadata without a stream.
      this.metadata.write();
    } catch (error) {
      // Nothing has begun: neither the thread nor a reader shall see a stream.
      this.#directory = undefined;
      this.process = undefined;
      this.ring.close();
      throw error;
    }
    this.ring.setEpilogues(EPILOGUES);
  }

  #newRing(): Ring {
    const ring: Ring = new Ring(() => this.closed(this.#call), {
      bytes: FLUSH_EVENTS_BYTES,
      record: (times) => {
        recordFlush(ring, times);
      },
    });
    return ring;
  }

  /**
   * The state after a thread state event (`OH*`), for {@link settle} once it is written.
   *
   * @throws TracewrightError when the emulator would not accept the event in the present state.
   */
  stateAfter(mcv: string): ThreadState {
    const transition = transitionOf(codeOf(mcv));
    if (transition === undefined) return this.#state;
    const version = this.process?.version;
    if (version === undefined) throw this.closed(mcv);
    if (!isLegal(transition, this.#state, version)) {
      const from = transition.from.filter((state) => isLegal(transition, state, version));
      const now = this.#state === 'unknown' ? 'unknown, having emitted no OHx yet' : this.#state;
      throw wrongOrder(mcv, `the thread is ${now}; it must be ${from.join(' or ')}`);
    }
    return transition.to;
  }

  /** Stores the thread's new state, and the epilogue that would end the stream. */
  settle(state: ThreadState): void {
    this.#state = state;
    this.#owed.stateWritten(state);
    this.#chooseEpilogue();
  }

  #chooseEpilogue(): void {
    if (this.process === undefined) return;
    this.ring.epilogue[0] = epilogueOf(this.#owed.written, this.process.version);
  }

  /** Has the stream begin if it is yet to begin, under the register hook. */
  begin(): void {
    if (this.process === undefined) hookStream.begin?.();
  }

  /**
   * Makes `bytes` bytes free, after what the stream owes. If that fails, the event is counted as
   * dropped.
   *
   * @param call the caller, for the error `ERR_ORDER` of a closed stream.
   * @param clock the event's own clock, if it has one.
   */
  makeRoom(call: string, bytes: number, clock?: bigint): boolean {
    this.#call = call;
    if (this.#owed.any && !this.#payOwed(clock)) return false;
    const { ring } = this;
    return ring.free >= bytes || ring.makeRoom(bytes, clock !== undefined);
  }

  /** As `makeRoom`, for an event that is owed if it cannot be written. */
  forceRoom(call: string, bytes: number, clock?: bigint): boolean {
    const { ring } = this;
    this.#call = call;
    if (this.#owed.any) {
      if (!ring.forceRoom(LONGEST_OWED_BYTES, clock !== undefined)) {
        ring.free = 0;
        return false;
      }
      if (!this.#payOwed(clock)) return false;
    }
    return ring.free >= bytes || ring.forceRoom(bytes, clock !== undefined);
  }

  /**
   * Stores the thread's new state, whose event found no room.
   *
   * @param start the arguments, if the event was an `OHx`.
   */
  oweState(state: ThreadState, start: Uint8Array | undefined): void {
    this.#state = state;
    this.#owed.oweState(start);
    this.ring.free = 0;
  }

  /** Stores that a push or a pop found no room; before it changes `markStacks`. */
  oweStack(type: number): void {
    this.#owed.oweStack(type, this.markStacks);
    this.ring.free = 0;
  }

  /** Stores the value of a mark that found no room. */
  oweSet(type: number, low: number, high: number): void {
    this.#owed.oweSet(type, low, high);
    this.ring.free = 0;
  }

  /** Writes the ring's events, on this thread. */
  flush(): boolean {
    const complete = this.ring.flush();
    if (!this.#owed.any) return complete;
    if (complete) return this.#payOwed(undefined) && this.ring.flush();
    this.ring.free = 0;
    return false;
  }

  /** Writes what is owed, at `clock` or now; returns whether all was written. */
  #payOwed(clock: bigint | undefined): boolean {
    const { ring } = this;
    let paid = false;
    try {
      // Usually there is no room, which must not cost more than an event that is dropped.
      if (
        ring.free < LONGEST_OWED_BYTES &&
        !ring.makeRoom(LONGEST_OWED_BYTES, clock !== undefined)
      ) {
        return false;
      }
      paid = this.#owed.write(this.#state, this.process?.version ?? 3, this.markStacks, {
        state: (mcv, payload) => this.#writeOwed(mcv, payload ?? NO_PAYLOAD, clock),
        mark: (mcv, type, low, high) => {
          const payload = new DataView(new ArrayBuffer(12));
          payload.setInt32(LITTLE ? 0 : 4, low, LITTLE);
          payload.setInt32(LITTLE ? 4 : 0, high, LITTLE);
          payload.setInt32(8, type, LITTLE);
          return this.#writeOwed(mcv, new Uint8Array(payload.buffer), clock);
        },
      });
    } finally {
      if (!paid) ring.free = 0;
      this.#chooseEpilogue();
    }
    return paid;
  }

  #writeOwed(mcv: string, payload: Uint8Array, clock: bigint | undefined): boolean {
    const { ring } = this;
    const bytes = HEADER_BYTES + payload.length;
    if (ring.free < bytes && !ring.makeRoom(bytes, clock !== undefined)) return false;
    const at = ring.position;
    ring.view.setUint32(at, headerOf(payloadSizeCode(payload.length), mcv), true);
    ring.bytes.set(payload, at + PAYLOAD_OFFSET);
    commitEvent(ring, bytes, clock);
    return true;
  }

  /** Writes an event that the ring cannot hold. */
  writeThrough(head: Uint8Array, body: Uint8Array, clock: bigint | undefined): void {
    if (this.#owed.any && !this.#payOwed(clock)) return;
    try {
      this.ring.writeThrough(head, body, clock !== undefined, this.#unordered);
    } catch (error) {
      if (!hasCode(error, 'ERANGE')) throw error;
      clockBackwards(clock);
    }
  }

  /**
   * Drains and completes the stream.
   *
   * @param process the process as it is known now; it may have ended since the stream began.
   */
  close(process = this.process): void {
    const directory = this.#directory;
    if (directory === undefined || process === undefined) return;
    directory.process = process;
    if (this.#owed.any) this.flush();
    try {
      this.metadata.write(true);
    } finally {
      this.#ended = true;
      this.#directory = undefined;
      this.process = undefined;
      this.ring.close();
      directory.moveToTrace();
    }
  }

  /**
   * Writes the metadata of the end. The thread ends without a call of `close`: the native core completes
   * the stream, and knows nothing of its metadata.
   */
  writeEnd(): void {
    if (this.process === undefined) return;
    try {
      this.metadata.write(true);
    } catch {
      // A full disk: recovery finds the ring.
    }
  }

  /** The error for a call while the stream is closed. */
  closed(call: string): TracewrightError {
    return wrongOrder(
      call,
      this.#ended ? 'the thread has ended with threadFree' : 'threadInit must be called first',
    );
  }
}
