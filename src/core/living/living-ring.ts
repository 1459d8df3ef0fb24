import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { core } from '../addon.js';
import { LITTLE } from '../byte-order.js';
import { TraceFormatError } from '../errors.js';
import { kindOf } from '../files/file-kind.js';
import { hasCode } from '../files/system-error.js';
import { RingContent } from '../recovery/feeding-ring.js';
import type { FeedingRing } from '../recovery/feeding-ring.js';
import { isRunning } from '../recovery/ring-owner.js';
import {
  blankRing,
  frontBytes,
  isBlankPage,
  isRingPage,
  numberAt,
  RingFront,
  RingPage,
} from '../recovery/ring-page.js';
import type { NotedChunk } from '../recovery/ring-page.js';
import { isOfTraceOwner } from '../recovery/ring-trust.js';

/** The fields that change while a ring is used lie before the paths. */
const HOT_BYTES = 4096;
/** Readings of a page until two of them agree; a drain changes it for some nanoseconds. */
const MOST_READINGS = 10_000;
/** A page that is wrong so often is not only being changed. */
const MOST_FAULTS = 10;

/**
 * A ring as its reader sees it while a process writes to it, or a recovery empties it. It is opened for
 * reading only: nothing of it changes, and nobody waits for its reader.
 */
export class LivingRing implements FeedingRing {
  readonly path: string;
  /** Whether the process that writes to it runs. */
  readonly isRunning: boolean;
  readonly pid: number;
  readonly content: RingContent;
  /** Its first bytes, as they were when it was opened. */
  readonly front: RingFront;
  readonly #fd: number;
  readonly #status: Stats;
  /** All of it, once it is needed. */
  #page: Buffer | undefined;
  #isOpen = true;

  /**
   * @param trace what `fstat` says of the file that the ring feeds.
   * @throws TraceFormatError when it contradicts itself.
   * @returns undefined if there is none, if it is not ready, or if it is not of the trace's owner.
   */
  static open(path: string, trace: Stats): LivingRing | undefined {
    // First: opening a device or a pipe can have effects.
    const before = kindOf(path);
    if (before === undefined || !isOfTraceOwner(before, trace)) return undefined;
    let fd: number;
    try {
      fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    } catch (error) {
      // Deleted meanwhile, or of another user.
      if (['ENOENT', 'EACCES', 'ELOOP'].some((code) => hasCode(error, code))) return undefined;
      throw error;
    }
    let keeps = false;
    try {
      const status = fstatSync(fd);
      if (!isOfTraceOwner(status, trace)) return undefined;
      const front = readStart(fd, Math.min(frontBytes(), status.size));
      const isRing = isRingPage(front);
      if (isRing === undefined) {
        if (isBlankPage(readStart(fd, pageBytes(status)))) throw blankRing(path);
        return undefined;
      }
      if (!isRing) throw new TraceFormatError(path, 0, 'this is not a ring', { field: 'magic' });
      const ring = new LivingRing(path, fd, front, status);
      keeps = true;
      return ring;
    } finally {
      if (!keeps) closeSync(fd);
    }
  }

  private constructor(path: string, fd: number, front: Buffer, status: Stats) {
    this.path = path;
    this.#fd = fd;
    this.content = new RingContent(fd);
    this.#status = status;
    const isWhole = front.length === frontBytes();
    // What is too short, or of a dead process, is judged as a whole.
    this.front = isWhole ? new RingFront(front) : this.sample();
    const { process } = this.front;
    this.pid = process.pid;
    this.isRunning = isRunning(fd, process);
    if (!this.isRunning) this.sample();
  }

  /** The chunk that it noted last: see `RingPage.notedChunk`. @throws TraceFormatError if it changes all the time. */
  get notedChunk(): NotedChunk | undefined {
    for (let i = 0; i < MOST_READINGS; i++) {
      const earlier = new RingFront(readStart(this.#fd, frontBytes()));
      const front = new RingFront(readStart(this.#fd, frontBytes()));
      if (isDeepStrictEqual(front.notedChunk, earlier.notedChunk)) return front.notedChunk;
    }
    throw changesAlways(this.path);
  }

  /**
   * Reads the page as it is now. Head, tail and claim belong together: the page is read until two readings agree.
   *
   * @throws TraceFormatError when it contradicts itself however often it is read.
   */
  sample(): RingPage {
    const { control } = core;
    let fault = changesAlways(this.path);
    const page = (this.#page ??= readStart(this.#fd, pageBytes(this.#status)));
    let faults = 0;
    for (let i = 0; i < MOST_READINGS && faults < MOST_FAULTS; i++) {
      const earlier = this.#hot();
      const hot = this.#hot();
      const isSame = [control.tail, control.endedAt].every((at) => wordsAgree(earlier, hot, at, 8));
      if (!isSame || !wordsAgree(earlier, hot, control.claimFrom, 24)) continue;
      // Read once more: a copy of a word that changes need not be of one moment.
      const head = this.#word(control.head);
      if (head < numberAt(hot, control.head)) putWord(hot, control.head, head);
      hot.copy(page);
      try {
        return new RingPage(this.path, Buffer.from(page), this.#status.size);
      } catch (error) {
        if (!(error instanceof TraceFormatError)) throw error;
        fault = error;
        faults++;
      }
    }
    throw fault;
  }

  releasedTo(): number {
    const { tail } = core.control;
    const [first, second] = [this.#word(tail), this.#word(tail)];
    return Number(first > second ? first : second);
  }

  isInPlace(): boolean {
    const there = kindOf(this.path);
    return there?.ino === this.#status.ino && there.dev === this.#status.dev;
  }

  close(): void {
    if (this.#isOpen) closeSync(this.#fd);
    this.#isOpen = false;
  }

  #hot(): Buffer {
    return readStart(this.#fd, HOT_BYTES);
  }

  #word(at: number): bigint {
    const bytes = Buffer.alloc(8);
    readSync(this.#fd, bytes, 0, bytes.length, at);
    return numberAt(bytes, 0);
  }
}

/** Bytes of a page, or of a file that is shorter. */
function pageBytes({ size }: Stats): number {
  return Math.min(core.control.bytes, size);
}

/** The first bytes of a file; zeros where it is shorter. */
function readStart(fd: number, count: number): Buffer {
  const bytes = Buffer.alloc(count);
  readSync(fd, bytes, 0, count, 0);
  return bytes;
}

function changesAlways(path: string): TraceFormatError {
  return new TraceFormatError(path, core.control.tail, 'the ring changes all the time');
}

function wordsAgree(a: Buffer, b: Buffer, at: number, bytes: number): boolean {
  return a.compare(b, at, at + bytes, at, at + bytes) === 0;
}

function putWord(bytes: Buffer, at: number, value: bigint): void {
  if (LITTLE) bytes.writeBigUInt64LE(value, at);
  else bytes.writeBigUInt64BE(value, at);
}
