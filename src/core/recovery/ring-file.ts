import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, writeSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { core } from '../addon.js';
import { LITTLE } from '../byte-order.js';
import { TraceFormatError, TracewrightError } from '../errors.js';
import { kindOf } from '../files/file-kind.js';
import { RingOpenRecords } from './open-records.js';
import type { TableStorage } from './open-records.js';
import { DOUBTED_RING, UNREADABLE_RING } from './recovery-errors.js';
import { isRunning, ownerOf } from './ring-owner.js';
import type { Owner } from './ring-owner.js';
import { isOwn } from './process-identity.js';
import type { ProcessIdentity } from './process-identity.js';
import { isBlankPage, isRingPage, processOf, RingPage } from './ring-page.js';
import type { Claim } from './ring-page.js';
import { doubtAbout, doubtInLooking, isOurs } from './ring-trust.js';

/** A ring that does not say whose it is becomes ready within milliseconds, or its process died over it. */
const LONGEST_UNREADY_MS = 10_000;
/** A record has its number within so many bytes. */
const FIRST_BYTES = 1024;

/** A ring that is not ready: nothing can have been recorded in it. */
export interface UnreadyRing {
  path: string;
  /** Dead: it will never be ready. */
  owner: Owner;
  pid: number;
  /** Whether that is this very process. */
  isOwn: boolean;
  /** Whether its file has bytes, but none of the page does. */
  isBlank: boolean;
}

/** The table of a ring whose file is open for reading and writing. */
function tableIn(fd: number): TableStorage {
  return {
    read(offset, count) {
      const bytes = Buffer.alloc(count);
      return bytes.subarray(0, readSync(fd, bytes, 0, count, offset));
    },
    write: (offset, bytes) => void writeSync(fd, bytes, 0, bytes.length, offset),
  };
}

function readable<T>(path: string, call: () => T): T {
  try {
    return call();
  } catch (error) {
    const message = `${path} cannot be read, so its trace is left alone: ${(error as Error).message}`;
    const details = { field: UNREADABLE_RING, value: path, cause: error };
    throw new TracewrightError('ERR_SYSTEM', message, details);
  }
}

function doubted(path: string, doubt: string): TracewrightError {
  const details = { field: DOUBTED_RING, value: path, limit: 'the user of this process' };
  return new TracewrightError('ERR_SYSTEM', `${path} is ignored as a ring: it ${doubt}`, details);
}

/** What a ring is opened for. `look`: only to be read, and nothing is created next to it. */
export type RingPurpose = 'recover' | 'look';

/** @throws TracewrightError of the field `DOUBTED_RING` for a ring that is not believed. */
function refuseDoubted(
  path: string,
  status: Stats,
  trace: string | undefined,
  purpose: RingPurpose,
): void {
  const fed = trace === undefined ? undefined : { path: trace, status: kindOf(trace) };
  const doubt =
    purpose === 'look' ? doubtInLooking(status, fed?.status) : doubtAbout(path, status, fed);
  if (doubt !== undefined) throw doubted(path, doubt);
}

function ownerFor(
  fd: number,
  process: ProcessIdentity,
  purpose: RingPurpose,
): { owner: Owner; isOwn: boolean } {
  if (purpose === 'recover') return ownerOf(fd, process);
  return { owner: isRunning(fd, process) ? 'alive' : 'dead', isOwn: isOwn(process) };
}

/** The file of a ring that its process left, open to be completed. */
export class RingFile extends RingPage {
  /** The records that were open. */
  readonly openRecords: RingOpenRecords | undefined;
  /** Which file the ring itself is. */
  readonly file: string;
  readonly owner: Owner;
  readonly pid: number;
  /** Whether that is this very process. */
  readonly isOwn: boolean;
  /** A recovery takes no ring of a process that runs. */
  readonly isRunning = false;
  #fd: number;
  readonly #status: Stats;
  readonly #purpose: RingPurpose;

  /**
   * @param trace the file that the ring feeds, where its name says so. Of any other ring `doubt` must be
   *   asked as soon as its trace is known.
   * @throws TracewrightError `ERR_SYSTEM` of the field `DOUBTED_RING` when it is not believed, and of the
   *   field `UNREADABLE_RING` when it cannot be read; TraceFormatError when the file is not a ring, or
   *   contradicts itself.
   * @returns the ring, or whose it is where it is not ready: its process makes it, or died over it.
   */
  static open(
    path: string,
    trace?: string,
    purpose: RingPurpose = 'recover',
  ): RingFile | UnreadyRing {
    // First: opening a device or a pipe can have effects.
    const before = readable(path, () => lstatSync(path));
    refuseDoubted(path, before, undefined, purpose);
    const { O_RDONLY, O_RDWR, O_NOFOLLOW, O_NONBLOCK } = constants;
    const access = purpose === 'look' ? O_RDONLY : O_RDWR;
    const fd = readable(path, () => openSync(path, access | O_NOFOLLOW | O_NONBLOCK));
    let keeps = false;
    try {
      const status = fstatSync(fd);
      refuseDoubted(path, status, trace, purpose);
      const page = Buffer.alloc(Math.min(core.control.bytes, status.size));
      readable(path, () => readSync(fd, page, 0, page.length, 0));
      const isRing = isRingPage(page);
      if (isRing === undefined) {
        // What it feeds it cannot say, so nobody but its owner knows.
        if (purpose === 'recover' && trace === undefined && !isOurs(path, status)) {
          throw doubted(path, `belongs to another user (${status.uid})`);
        }
        const process = processOf(page);
        const { pid } = process;
        const isBlank = isBlankPage(page);
        if (pid !== 0) return { path, pid, isBlank, ...ownerFor(fd, process, purpose) };
        const age = Date.now() - status.mtimeMs;
        const owner = age < LONGEST_UNREADY_MS ? 'alive' : 'dead';
        return { path, owner, pid, isOwn: false, isBlank };
      }
      if (!isRing) {
        throw new TraceFormatError(path, 0, 'this is not a ring', { field: 'magic' });
      }
      const ring = new RingFile(path, fd, page, status, purpose);
      keeps = true;
      return ring;
    } catch (error) {
      // A ring of ours that is damaged is a fault; what others have put there is not.
      const isFault = purpose === 'look' || !(error instanceof TraceFormatError);
      if (isFault || isOurs(path, before)) throw error;
      throw doubted(path, `belongs to another user (${before.uid})`);
    } finally {
      if (!keeps) closeSync(fd);
    }
  }

  private constructor(path: string, fd: number, page: Buffer, status: Stats, purpose: RingPurpose) {
    super(path, page, status.size);
    this.#purpose = purpose;
    this.#fd = fd;
    this.#status = status;
    const { dev, ino } = fstatSync(fd, { bigint: true });
    this.file = `${dev}:${ino}`;
    if (this.openTable !== undefined) {
      this.openRecords = new RingOpenRecords(path, tableIn(fd), this.openTable);
    }
    ({ owner: this.owner, isOwn: this.isOwn } = ownerFor(fd, this.process, purpose));
    this.pid = this.process.pid;
  }

  /**
   * Why this ring is not believed to feed a file; undefined if it is.
   *
   * @param status of the file, where it is open.
   */
  doubt(path: string, status = kindOf(path)): TracewrightError | undefined {
    const doubt =
      this.#purpose === 'look'
        ? doubtInLooking(this.#status, status)
        : doubtAbout(this.path, this.#status, { path, status });
    return doubt === undefined ? undefined : doubted(this.path, doubt);
  }

  /** What its page says: nobody else changes it. */
  sample(): RingPage {
    return this;
  }

  /** The bytes at ring positions [from, to), which may wrap. */
  read(from: number, to: number): Buffer {
    const bytes = Buffer.alloc(to - from);
    let done = 0;
    while (done < bytes.length) {
      const at = (from + done) % this.capacity;
      const count = Math.min(bytes.length - done, this.capacity - at);
      const offset = this.offsetOf(at);
      const read = readSync(this.#fd, bytes, done, count, offset);
      if (read === 0) throw new TraceFormatError(this.path, offset, 'the ring ends');
      done += read;
    }
    return bytes;
  }

  /** The first bytes after the head: of a record that was never committed, or anything. */
  afterHead(): Buffer {
    const most = Math.min(this.capacity, FIRST_BYTES);
    return this.read(this.head, this.head + most);
  }

  /** The first bytes of the format's own note. */
  note(count: number): Buffer {
    const bytes = Buffer.alloc(count);
    readSync(this.#fd, bytes, 0, count, core.control.note);
    return bytes;
  }

  /** Notes where a chunk goes before it is written, as the process itself would have. */
  noteClaim(claim: Claim): void {
    const bytes = Buffer.alloc(24);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    view.setBigUint64(0, BigInt(claim.from), LITTLE);
    view.setBigUint64(8, BigInt(claim.to), LITTLE);
    view.setBigUint64(16, BigInt(claim.offset), LITTLE);
    writeSync(this.#fd, bytes, 0, bytes.length, core.control.claimFrom);
    this.claim = claim;
  }

  /** Forgets a place in a file that does not reach it any more. What the ring holds needs another one. */
  forgetPlace(): void {
    const at = this.hasOpenPlace ? this.head : this.tail;
    this.noteClaim({ from: at, to: at, offset: 0 });
  }

  /** Notes that the end of the stream is being written after the head. */
  noteEnd(): void {
    const bytes = core.control.anyBytes;
    this.noteClaim({ from: this.head, to: this.head + bytes, offset: bytes });
  }

  /** Notes up to where the ring has surely reached its target. */
  noteTail(position: number): void {
    const bytes = Buffer.alloc(8);
    new DataView(bytes.buffer, bytes.byteOffset, 8).setBigUint64(0, BigInt(position), LITTLE);
    writeSync(this.#fd, bytes, 0, bytes.length, core.control.tail);
    this.tail = position;
  }

  /** Notes that the records that were open are in the target: the stream ends after them. */
  noteOpenWritten(bytes: number): void {
    this.noteTail(this.head + bytes);
    this.head += bytes;
    const end = Buffer.alloc(8);
    new DataView(end.buffer, end.byteOffset, 8).setBigUint64(0, BigInt(this.head + 1), LITTLE);
    writeSync(this.#fd, end, 0, end.length, core.control.endedAt);
    this.openRecords?.discardClosed();
  }

  close(): void {
    if (this.#fd === -1) return;
    closeSync(this.#fd);
    this.#fd = -1;
  }
}
