import { existsSync, mkdirSync, rmSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { constants, endianness } from 'node:os';
import { replaceFile } from '../../core/files/replace-file.js';
import { ringTag } from '../../core/ring/ring-tag.js';
import { systemThreadId } from '../../core/system-thread.js';
import type { RingSetup } from '../../core/ring/ring.js';
import { outOfRange, wrongOrder } from '../../core/errors.js';
import { ownIdentity } from '../../core/recovery/process-identity.js';
import type { TracewrightError } from '../../core/errors.js';
import { Ring } from '../../core/ring/ring.js';
import { holdingSignals } from '../../core/signals.js';
import { wrapSystemError, hasCode } from '../../core/files/system-error.js';
import { wellFormedJson } from '../../core/json.js';
import {
  CLOCK_OFFSET,
  HEADER_BYTES,
  MAX_PAYLOAD_BYTES,
  PAYLOAD_OFFSET,
  STREAM_HEADER_BYTES,
  STREAM_MAGIC,
  STREAM_VERSION,
  payloadSizeCode,
} from '../layout.js';
import { library } from '../library.js';
import { ringIsThere, WRITER } from '../stream-owner.js';
import type { StreamOwner } from '../stream-owner.js';
import { MarkStacks } from '../mark-stacks.js';
import { models } from '../catalog.js';
import { OwedEvents } from './owed-events.js';
import {
  moveProcessMetadata,
  moveToTrace,
  removeEmptyWorkDir,
  writeProcessMetadata,
} from './process.js';
import type { CpuEntry, OvniProcess } from './process.js';
import { codeOf } from '../read/reader.js';
import { isLegal, transitionOf } from '../thread-state.js';
import type { ThreadState } from '../thread-state.js';

/** Payloads and clocks are in the machine's byte order. */
export const LITTLE = endianness() === 'LE';

/** The first four bytes of an event as a little-endian u32: flags and size code, then the MCV. */
export function headerOf(flags: number, mcv: string): number {
  return flags | (mcv.charCodeAt(0) << 8) | (mcv.charCodeAt(1) << 16) | (mcv.charCodeAt(2) << 24);
}

/** A mark type as one thread has defined it. */
export interface MarkDefinition {
  title: string;
  stack: boolean;
  labels: Map<string, string>;
  /** The lower halves of the labelled values, by which the emulator tells them apart. */
  labelled: Set<bigint>;
}

const LONGEST_OWED_BYTES = HEADER_BYTES + MAX_PAYLOAD_BYTES;
const NO_PAYLOAD = new Uint8Array(0);

/** Refuses an event with a clock of its own. */
export function clockBackwards(clock: bigint | undefined): never {
  throw outOfRange('clock', clock, 'not before the last event of the stream');
}

const FLUSH_BEGIN = headerOf(0, 'OF[');
const FLUSH_END = headerOf(0, 'OF]');

/** One commit for both, for a thread can be terminated between two. */
function recordFlush(ring: Ring, times: Uint32Array): void {
  const { position } = ring;
  flushEvent(ring, position, FLUSH_BEGIN, times[0]!, times[1]!);
  flushEvent(ring, position + HEADER_BYTES, FLUSH_END, times[2]!, times[3]!);
  ring.commitExplicit(2 * HEADER_BYTES, HEADER_BYTES);
}

function flushEvent(
  { view }: Ring,
  at: number,
  header: number,
  first: number,
  second: number,
): void {
  view.setUint32(at, header, true);
  // Two halves of a u64 in the machine's order, copied as they stand.
  view.setUint32(at + CLOCK_OFFSET, first, LITTLE);
  view.setUint32(at + CLOCK_OFFSET + 4, second, LITTLE);
}

function bareEvent(mcv: string): Uint8Array {
  const event = new Uint8Array(HEADER_BYTES);
  new DataView(event.buffer).setUint32(0, headerOf(0, mcv), true);
  return event;
}

/** What ends a thread, by its state; the position in this list counts from 1. */
const EPILOGUES = [['OHe'], ['OHr', 'OHe'], ['OHp', 'OHr', 'OHe']].map((mcvs) =>
  mcvs.map(bareEvent),
);
const END_NOW = 1;
const RESUME_AND_END = 2;
const PAUSE_RESUME_AND_END = 3;

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

/** Above every pid_max of Linux: a thread number that the system gives twice is moved by this. */
const TID_STEP = 1 << 22;

/** Long enough for a burst of labels to end, short against a reader's patience. */
const METADATA_DELAY_MS = 50;
const METADATA_RETRY_MS = 1000;

/**
 * One stream of a trace: the events of one thread, on their way through a ring, and the metadata
 * beside them.
 */
export class StreamWriter {
  /** A ring of its own every time that the stream is opened. */
  ring: Ring = this.#newRing();
  tid = 0;
  /** Undefined while the stream is closed. */
  process: OvniProcess | undefined;
  /** Mark types by number, as this thread has defined them. */
  readonly marks: (MarkDefinition | undefined)[] = [];
  readonly markStacks = new MarkStacks();
  /** Attributes outside the names that ovni keeps for itself. */
  attributes: Record<string, unknown> = {};
  readonly required = new Map<string, string>([['ovni', models.ovni.version]]);
  cpus: CpuEntry[] = [];
  #state: ThreadState = 'unknown';
  /**
   * While anything is owed the ring has no free byte in the eyes of emitters, so that each asks here
   * first.
   */
  #owed = new OwedEvents();
  #metadataTimer: NodeJS.Timeout | undefined;
  /** Who finishes the stream, for whoever finds it without its ring. */
  #writer: StreamOwner | undefined;
  #ended = false;

  /**
   * @param tid 1 to 2^31 - 1; undefined: the number that the system gives the calling thread.
   * @param metadataOf a stream whose attributes, marks and the like the new one begins with; it may
   *   be this one.
   */
  open(process: OvniProcess, tid: number | undefined, metadataOf?: StreamWriter): void {
    const { version, workDir, ring } = process;
    this.tid = this.#claim(process, tid);
    this.process = process;
    // Emitters know a ring by what it was when they were compiled.
    this.ring = this.#newRing();
    this.#ended = false;
    this.#state = 'unknown';
    this.#owed.clear();
    if (metadataOf === undefined) this.#forgetMetadata();
    else if (metadataOf !== this) this.#copyMetadata(metadataOf);

    const name = `thread.${this.tid}`;
    const directory = version === 3 ? join(workDir, name) : workDir;
    const hidden = version === 3 ? '.stream.ring' : `.${name}.ring`;
    const ringPath =
      ring.ringDir === undefined
        ? join(directory, hidden)
        : join(ring.ringDir, `tracewright-${ringTag(this.tid)}.ring`);
    const common = {
      path: ringPath,
      capacity: ring.ringBytes,
      format: `ovni ${version}`,
      group: process.group,
      stampOffset: CLOCK_OFFSET,
      stamp: 'native',
      kernelClock: ring.clock === 'monotonic',
      removeIfEmpty: true,
      full: ring.onFull,
      blockLimitMs: ring.blockLimitMs,
    } as const;
    this.#writer = { ...ownIdentity(), ring: ringPath };
    try {
      this.#begin(version, directory, name, common);
    } catch (error) {
      // Nothing has begun: neither the thread nor readers shall see a stream.
      this.process = undefined;
      this.ring.close();
      if (version === 3) rmSync(directory, { recursive: true, force: true });
      throw error;
    }
    this.ring.setEpilogues(EPILOGUES);
  }

  #forgetMetadata(): void {
    this.marks.length = 0;
    this.markStacks.clear();
    this.attributes = {};
    this.required.clear();
    this.required.set('ovni', models.ovni.version);
    this.cpus = [];
  }

  #copyMetadata({ marks, markStacks, attributes, required, cpus }: StreamWriter): void {
    this.#forgetMetadata();
    this.marks.push(...marks);
    this.markStacks.kinds.set(markStacks.kinds);
    this.attributes = attributes;
    for (const [model, version] of required) this.required.set(model, version);
    this.cpus = cpus;
  }

  /**
   * Goes on in the files of `next`, which has begun with the metadata of this stream, and leaves it
   * its own for `next.close()`. Marks that are pushed are popped at the end of the old files and
   * pushed in the new ones, where the thread comes to the state that it is in.
   */
  exchangeFiles(next: StreamWriter): void {
    this.markStacks.depths.forEach((depth, type) => {
      if (depth === 0) return;
      this.#owed.oweStack(type, this.markStacks);
      next.#owed.oweStack(type, next.markStacks);
    });
    if (next.#state !== this.#state) {
      next.#owed.oweState(undefined);
      next.#state = this.#state;
    }
    [this.ring, next.ring] = [next.ring, this.ring];
    [this.tid, next.tid] = [next.tid, this.tid];
    [this.process, next.process] = [next.process, this.process];
    [this.#owed, next.#owed] = [next.#owed, this.#owed];
    [this.#writer, next.#writer] = [next.#writer, this.#writer];
    if (this.#owed.any) this.#payOwed(undefined);
  }

  #newRing(): Ring {
    const ring: Ring = new Ring(() => this.#closed('emit'), {
      bytes: 2 * HEADER_BYTES,
      record: (times) => {
        recordFlush(ring, times);
      },
    });
    return ring;
  }

  #begin(version: 1 | 3, directory: string, name: string, common: Omit<RingSetup, 'target'>): void {
    if (version === 3) {
      const preamble = Buffer.alloc(STREAM_HEADER_BYTES);
      preamble.write(STREAM_MAGIC);
      new DataView(preamble.buffer, preamble.byteOffset).setUint32(4, STREAM_VERSION, LITTLE);
      this.ring.open({
        ...common,
        target: join(directory, 'stream.obs'),
        preamble,
        finishFrom: join(directory, '.stream.json.finished'),
        finishTo: join(directory, 'stream.json'),
      });
    } else {
      this.ring.open({ ...common, target: join(directory, name) });
    }
    // Before the first event, so that a stream that breaks can be told; after the stream's file, for
    // a thread may be terminated in between, and readers refuse metadata without a stream.
    this.writeMetadata();
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
    if (version === undefined) throw this.#closed(mcv);
    if (!isLegal(transition, this.#state, version)) {
      const from = transition.from.filter((state) => isLegal(transition, state, version));
      const now = this.#state === 'unknown' ? 'unknown, having emitted no OHx yet' : this.#state;
      throw wrongOrder(mcv, `the thread is ${now}; it must be ${from.join(' or ')}`);
    }
    return transition.to;
  }

  /** Takes note of the thread's new state, and of what would end the stream from there. */
  settle(state: ThreadState): void {
    this.#state = state;
    this.#owed.stateWritten(state);
    this.#chooseEpilogue();
  }

  #chooseEpilogue(): void {
    if (this.process !== undefined) {
      this.ring.epilogue[0] = epilogueOf(this.#owed.written, this.process.version);
    }
  }

  /**
   * Gets `bytes` free bytes, or says no: the event is dropped, and counted. What the stream owes is
   * written first.
   *
   * @param clock of the event, if it brings one.
   */
  makeRoom(bytes: number, clock?: bigint): boolean {
    if (this.#owed.any && !this.#payOwed(clock)) return false;
    const { ring } = this;
    return ring.free >= bytes || ring.makeRoom(bytes, clock !== undefined);
  }

  /** As `makeRoom`, for an event that is owed if it cannot be written. */
  forceRoom(bytes: number, clock?: bigint): boolean {
    const { ring } = this;
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
   * Takes note of the thread's new state, for whose event there was no room.
   *
   * @param start the arguments, if the event was an `OHx`.
   */
  oweState(state: ThreadState, start: Uint8Array | undefined): void {
    this.#state = state;
    this.#owed.oweState(start);
    this.ring.free = 0;
  }

  /** Takes note that there was no room for a push or a pop; before it is taken into `markStacks`. */
  oweStack(type: number): void {
    this.#owed.oweStack(type, this.markStacks);
    this.ring.free = 0;
  }

  /** Takes note that there was no room for a mark that sets a value. */
  oweSet(type: number, low: number, high: number): void {
    this.#owed.oweSet(type, low, high);
    this.ring.free = 0;
  }

  /** Writes out what is committed, on this thread. */
  flush(): boolean {
    const complete = this.ring.flush();
    if (!this.#owed.any) return complete;
    if (complete) return this.#payOwed(undefined) && this.ring.flush();
    this.ring.free = 0;
    return false;
  }

  /** Writes what is owed, at `clock` or now; whether all of it could be. */
  #payOwed(clock: bigint | undefined): boolean {
    const { ring } = this;
    let paid = false;
    try {
      // Most often there is none, which must not cost more than it does an event that is dropped.
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
    if (clock === undefined) {
      ring.advance(bytes);
      ring.commit();
      return true;
    }
    ring.view.setBigUint64(at + CLOCK_OFFSET, clock, LITTLE);
    if (!ring.commitExplicit(bytes)) clockBackwards(clock);
    return true;
  }

  /** Writes an event that is longer than the ring can hold. */
  writeThrough(head: Uint8Array, body: Uint8Array, clock: bigint | undefined): void {
    if (this.#owed.any && !this.#payOwed(clock)) return;
    try {
      this.ring.writeThrough(head, body, clock !== undefined);
    } catch (error) {
      if ((error as { errno?: number }).errno !== constants.errno.ERANGE) throw error;
      clockBackwards(clock);
    }
  }

  /** Brings metadata that changed often (labels) to disk soon. */
  metadataChanged(delayMs = METADATA_DELAY_MS): void {
    this.#metadataTimer ??= setTimeout(() => {
      try {
        this.writeMetadata();
      } catch {
        // A full disk, say. Nobody is there to catch it.
        this.metadataChanged(METADATA_RETRY_MS);
      }
    }, delayMs).unref();
  }

  /**
   * Writes the metadata now, for the running stream and for its end.
   *
   * @param ending nobody will have to finish the stream for this process.
   */
  writeMetadata(ending = false): void {
    clearTimeout(this.#metadataTimer);
    this.#metadataTimer = undefined;
    const { process, tid } = this;
    if (process === undefined) return;
    if (process.version === 1) {
      const { ovni, ...others } = this.#metadata(true);
      const owned = ending ? ovni : { ...(ovni as object), [WRITER]: this.#writer };
      writeProcessMetadata(process, { tid, metadata: { ovni: owned, ...others } });
      return;
    }
    const directory = join(process.workDir, `thread.${tid}`);
    wrapSystemError('stream.json', directory, () => {
      // A signal between the two would complete the stream with metadata that this replaces.
      holdingSignals(() => {
        replaceFile(join(directory, 'stream.json'), this.#streamJson(false));
        replaceFile(join(directory, '.stream.json.finished'), this.#streamJson(true));
      });
    });
  }

  /** Drains and completes the stream. */
  close(): void {
    const { process, tid } = this;
    if (process === undefined) return;
    if (this.#owed.any) this.flush();
    try {
      this.writeMetadata(true);
    } finally {
      this.#end(process, tid);
    }
  }

  #end(process: OvniProcess, tid: number): void {
    this.#ended = true;
    this.process = undefined;
    this.ring.close();
    if (process.workDir === process.procDir) return;
    const name = `thread.${tid}`;
    // A ring stays as long as it holds what the disk refused: recovery finds its stream beside it.
    const isComplete = !ringIsThere(this.#writer!);
    const names = process.version === 1 ? [name] : [`${name}/stream.obs`, `${name}/stream.json`];
    // A stream without events has left nothing.
    if (isComplete && existsSync(join(process.workDir, names[0]!))) moveToTrace(process, names);
    // After procFini this thread has written the metadata of the process once more.
    if (process.version === 1 && process.finished) moveProcessMetadata(process);
    if (process.version === 3 && isComplete) {
      try {
        rmdirSync(join(process.workDir, name));
      } catch {
        // Already gone with an empty stream.
      }
    }
    if (process.finished) removeEmptyWorkDir(process);
  }

  /** Takes the stream's place in the directory of the process; a taken one is never entered. */
  #claim(process: OvniProcess, tid: number | undefined): number {
    for (let number = tid ?? systemThreadId(); ; number += TID_STEP) {
      const place = join(process.workDir, `thread.${number}`);
      const final = join(process.procDir, `thread.${number}`);
      if (!existsSync(final)) {
        try {
          if (process.version === 3) mkdirSync(place);
          else if (existsSync(place)) throw Object.assign(new Error(place), { code: 'EEXIST' });
          return number;
        } catch (error) {
          if (!hasCode(error, 'EEXIST')) {
            wrapSystemError('thread', place, () => {
              throw error;
            });
          }
        }
      }
      if (tid !== undefined) {
        throw outOfRange('tid', tid, 'a number that no other thread of the process has used');
      }
    }
  }

  /** Everything about the thread that is neither its identity nor the process's. */
  #metadata(finished: boolean): Record<string, unknown> {
    const ovni: Record<string, unknown> = { require: Object.fromEntries(this.required) };
    const marks = this.marks.flatMap((mark, type) =>
      mark === undefined
        ? []
        : [
            [
              String(type),
              {
                title: mark.title,
                chan_type: mark.stack ? 'stack' : 'single',
                labels: Object.fromEntries(mark.labels),
              },
            ] as const,
          ],
    );
    if (marks.length > 0) ovni['mark'] = Object.fromEntries(marks);
    if (finished) ovni['finished'] = 1;
    return { ovni, ...this.attributes };
  }

  #streamJson(finished: boolean): string {
    const { app, epoch, loom, pid, rank } = this.process!;
    const { ovni, ...others } = this.#metadata(finished);
    return `${wellFormedJson(
      {
        version: 3,
        ovni: {
          // Readers want a version and a commit here and take the rest as it comes.
          lib: { ...library, epoch, ...(finished ? {} : { [WRITER]: this.#writer }) },
          part: 'thread',
          tid: this.tid,
          pid,
          loom,
          app_id: app,
          ...rank,
          ...(this.cpus.length > 0 ? { loom_cpus: this.cpus } : {}),
          ...(ovni as object),
        },
        ...others,
      },
      2,
    )}\n`;
  }

  #closed(call: string): TracewrightError {
    return wrongOrder(
      call,
      this.#ended ? 'the thread has ended with threadFree' : 'threadInit must be called first',
    );
  }
}
