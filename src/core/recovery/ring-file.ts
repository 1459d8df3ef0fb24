import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, writeSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { core } from '../addon.js';
import { TraceFormatError, TracewrightError } from '../errors.js';
import { kindOf } from '../files/file-kind.js';
import { RingContent } from './feeding-ring.js';
import type { FeedingRing } from './feeding-ring.js';
import { DOUBTED_RING, UNREADABLE_RING } from './recovery-errors.js';
import { isRunning, ownerOf } from './ring-owner.js';
import type { Owner } from './ring-owner.js';
import { isOwn } from './process-identity.js';
import type { ProcessIdentity } from './process-identity.js';
import { isBlankPage, isRingPage, processOf, RingPage } from './ring-page.js';
import { doubtAbout, doubtInLooking, isOurs } from './ring-trust.js';

/** A ring that does not say whose it is becomes ready within milliseconds, or its process died over it. */
const LONGEST_UNREADY_MS = 10_000;

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

/** `look`: the ring is only read, and nothing is created next to it. */
type RingPurpose = 'recover' | 'look';

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
export class RingFile extends RingPage implements FeedingRing {
  readonly content: RingContent;
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
    this.content = new RingContent(fd);
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

  /** Reads its page once: nobody else changes it. */
  sample(): RingPage {
    return this;
  }

  releasedTo(): number {
    return this.tail;
  }

  isInPlace(): boolean {
    return true;
  }

  /** Notes that the end of the stream is being written after the head. */
  noteEnd(): void {
    const bytes = core.control.anyBytes;
    this.claim = { from: this.head, to: this.head + bytes, offset: bytes };
    const words = new BigUint64Array([this.claim.from, this.claim.to, bytes].map(BigInt));
    writeSync(this.#fd, words, 0, words.byteLength, core.control.claimFrom);
  }

  close(): void {
    if (this.#fd === -1) return;
    closeSync(this.#fd);
    this.#fd = -1;
  }
}

/** The format that a ring names; undefined if there is no ring, or none that can be read. */
export function ringFormatAt(
  path: string,
  trace?: string,
  purpose: RingPurpose = 'look',
): string | undefined {
  try {
    const ring = RingFile.open(path, trace, purpose);
    if (!(ring instanceof RingFile)) return undefined;
    ring.close();
    return ring.format;
  } catch (error) {
    if (!(error instanceof TracewrightError)) throw error;
    return undefined;
  }
}
