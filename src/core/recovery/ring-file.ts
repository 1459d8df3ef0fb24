import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, writeSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { core } from '../addon.js';
import { LITTLE } from '../byte-order.js';
import { TraceFormatError, TracewrightError } from '../errors.js';
import { kindOf } from '../files/file-kind.js';
import { RingOpenRecords } from './open-records.js';
import type { ProcessIdentity } from './process-identity.js';
import { DOUBTED_RING, UNREADABLE_RING } from './recovery-errors.js';
import { ownerOf } from './ring-owner.js';
import type { Owner } from './ring-owner.js';
import { doubtAbout, isOurs } from './ring-trust.js';

const MAGIC = 'TWRING\r\n';
/** The second has a table of open records. */
const VERSION = 2;
const LARGEST_CAPACITY = 2 ** 30;
const LARGEST_CONTROL = 1 << 26;
const LARGEST_PREAMBLE = 1 << 16;
/** A ring that does not say whose it is becomes ready within milliseconds, or its process died over it. */
const LONGEST_UNREADY_MS = 10_000;
/** A record has its number within so many bytes. */
const FIRST_BYTES = 1024;

/** What feeds the target of a ring; the numbers are those of native/ring/control_page.h. */
export type TargetKind = 'own-file' | 'shared-file' | 'socket';
const TARGET_KINDS: readonly (TargetKind | undefined)[] = [
  undefined,
  'own-file',
  'shared-file',
  'socket',
];

/**
 * What was being written, in ring positions: of a file that several rings feed a chunk and its place
 * there, of a file of the ring's own so many bytes (`offset`) that never were in the ring.
 */
export interface Claim {
  from: number;
  to: number;
  offset: number;
}

/** A ring that is not ready: nothing can have been recorded in it. */
export interface UnreadyRing {
  path: string;
  /** Dead: it will never be ready. */
  owner: Owner;
  pid: number;
  /** Whether that is this very process. */
  isOwn: boolean;
}

/** Whether a chunk follows all that its ring contained up to `head`. */
function isAfter({ from, to }: Claim, head: number): boolean {
  return from === head && to > head;
}

/** A page's number; of a file that ends in front of it, 0. */
function numberAt(page: Buffer, at: number): bigint {
  if (page.length < at + 8) return 0n;
  return LITTLE ? page.readBigUInt64LE(at) : page.readBigUInt64BE(at);
}

function textAt(page: Buffer, at: number, bytes: number): string {
  const piece = page.subarray(at, at + bytes);
  const end = piece.indexOf(0);
  return piece.toString('utf8', 0, end === -1 ? piece.length : end);
}

/** The process that a ring names. */
function processOf(page: Buffer): ProcessIdentity {
  const { control } = core;
  const pid = Number(numberAt(page, control.pid));
  const start = String(numberAt(page, control.processStart));
  return { pid, start, boot: textAt(page, control.bootId, 48) };
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

/** @throws TracewrightError of the field `DOUBTED_RING` for a ring that is not believed. */
function refuseDoubted(path: string, status: Stats, trace: string | undefined): void {
  const fed = trace === undefined ? undefined : { path: trace, status: kindOf(trace) };
  const doubt = doubtAbout(path, status, fed);
  if (doubt !== undefined) throw doubted(path, doubt);
}

/**
 * The file of a ring that its process left: what native/ring/control_page.h lays out, read
 * without trusting it. Every number is checked against the file's size and the others.
 */
export class RingFile {
  readonly path: string;
  /** The format's word for itself: `ovni 3`, `heph`. */
  readonly format: string;
  readonly targetKind: TargetKind;
  readonly capacity: number;
  readonly stampOffset: number;
  /** Offset of ring position 0 in a file of the ring's own. */
  readonly baseOffset: number;
  /** Bytes committed, and bytes that are surely in the target. */
  head: number;
  tail: number;
  /** The records that were open. */
  readonly openRecords: RingOpenRecords | undefined;
  /** Clock of the last record that its ring stamped or checked. */
  readonly lastStamp: bigint;
  claim: Claim;
  /** Records that end the stream from the state in which it was left. */
  readonly epilogue: { records: number; bytes: Buffer };
  /** The target's path as the process knew it. */
  readonly target: string;
  /**
   * The number of the file that the ring feeds and its birth in ns since 1970 (0: the file system does
   * not say), whatever path it has by now. Number 0: not noted.
   */
  readonly targetFile: { inode: bigint; born: bigint };
  /** Which file the ring itself is. */
  readonly file: string;
  readonly owner: Owner;
  readonly pid: number;
  /** Whether that is this very process. */
  readonly isOwn: boolean;
  readonly process: ProcessIdentity;
  #fd: number;
  readonly #controlBytes: number;

  readonly #status: Stats;

  /**
   * @param trace the file that the ring feeds, where its name says so. Of any other ring `doubt` must be
   *   asked as soon as its trace is known.
   * @throws TracewrightError `ERR_SYSTEM` of the field `DOUBTED_RING` when it is not believed, and of the
   *   field `UNREADABLE_RING` when it cannot be read; TraceFormatError when the file is not a ring, or
   *   contradicts itself.
   * @returns the ring, or whose it is where it is not ready: its process makes it, or died over it.
   */
  static open(path: string, trace?: string): RingFile | UnreadyRing {
    // First: opening a device or a pipe can have effects.
    const before = readable(path, () => lstatSync(path));
    refuseDoubted(path, before, undefined);
    const fd = readable(path, () =>
      openSync(path, constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK),
    );
    let keeps = false;
    try {
      const status = fstatSync(fd);
      refuseDoubted(path, status, trace);
      const page = Buffer.alloc(Math.min(core.control.bytes, status.size));
      readable(path, () => readSync(fd, page, 0, page.length, 0));
      const magic = page.subarray(0, MAGIC.length);
      if (magic.every((byte) => byte === 0)) {
        // What it feeds it cannot say, so nobody but its owner knows.
        if (trace === undefined && !isOurs(path, status)) {
          throw doubted(path, `belongs to another user (${status.uid})`);
        }
        const process = processOf(page);
        if (process.pid !== 0) return { path, pid: process.pid, ...ownerOf(fd, process) };
        const age = Date.now() - status.mtimeMs;
        const owner = age < LONGEST_UNREADY_MS ? 'alive' : 'dead';
        return { path, owner, pid: 0, isOwn: false };
      }
      if (magic.toString('latin1') !== MAGIC) {
        throw new TraceFormatError(path, 0, 'this is not a ring', { field: 'magic' });
      }
      const ring = new RingFile(path, fd, page, status);
      keeps = true;
      return ring;
    } catch (error) {
      // A ring of ours that is damaged is a fault; what others have put there is not.
      if (!(error instanceof TraceFormatError) || isOurs(path, before)) throw error;
      throw doubted(path, `belongs to another user (${before.uid})`);
    } finally {
      if (!keeps) closeSync(fd);
    }
  }

  private constructor(path: string, fd: number, page: Buffer, status: Stats) {
    const { control } = core;
    const { size } = status;
    this.#status = status;
    const { dev, ino } = fstatSync(fd, { bigint: true });
    this.file = `${dev}:${ino}`;
    const fault = (offset: number, field: string, value: unknown, limit: string) =>
      new TraceFormatError(path, offset, `${field} must be ${limit}, got ${String(value)}`, {
        field,
        value,
        limit,
      });
    if (page.length < control.bytes)
      throw fault(page.length, 'size', size, `at least ${control.bytes}`);
    const view = new DataView(page.buffer, page.byteOffset, page.length);
    const u32 = (at: number) => view.getUint32(at, LITTLE);
    const u64 = (at: number, field: string) => {
      const value = view.getBigUint64(at, LITTLE);
      if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw fault(at, field, value, 'below 2^53');
      return Number(value);
    };
    const within = (at: number, field: string, value: number, low: number, high: number) => {
      if (value < low || value > high) throw fault(at, field, value, `from ${low} to ${high}`);
      return value;
    };

    this.path = path;
    this.#fd = fd;
    const version = within(control.version, 'version', u32(control.version), 1, VERSION);
    this.#controlBytes = within(
      control.controlBytes,
      'control bytes',
      u32(control.controlBytes),
      control.bytes,
      LARGEST_CONTROL,
    );
    this.capacity = within(
      control.capacity,
      'capacity',
      u64(control.capacity, 'capacity'),
      1,
      LARGEST_CAPACITY,
    );
    if (this.#controlBytes + this.capacity !== size) {
      throw fault(
        control.capacity,
        'capacity',
        this.capacity,
        `the rest of a file of ${size} bytes`,
      );
    }
    this.format = textAt(page, control.format, 16);
    const kind = TARGET_KINDS[u32(control.targetKind)];
    if (kind === undefined) {
      throw fault(control.targetKind, 'target kind', u32(control.targetKind), '1, 2 or 3');
    }
    this.targetKind = kind;
    this.stampOffset = within(
      control.stampOffset,
      'stamp offset',
      u32(control.stampOffset),
      0,
      control.epilogueStride,
    );
    this.baseOffset = within(
      control.baseOffset,
      'base offset',
      u64(control.baseOffset, 'base offset'),
      0,
      LARGEST_PREAMBLE,
    );
    this.claim = {
      from: u64(control.claimFrom, 'claim'),
      to: u64(control.claimTo, 'claim'),
      offset: u64(control.claimOffset, 'claim'),
    };
    if (version > 1) this.openRecords = RingOpenRecords.of(path, fd, view, this.#controlBytes);
    const endedAt = version > 1 ? u64(control.endedAt, 'end') : 0;
    const head = endedAt > 0 ? endedAt - 1 : u64(control.head, 'head');
    const tail = u64(control.tail, 'tail');
    this.head = this.#hasWrittenPast(head, tail) ? tail : head;
    this.tail = within(control.tail, 'tail', tail, 0, this.head);
    within(control.head, 'head', this.head, this.tail, this.tail + this.capacity);
    this.lastStamp = view.getBigUint64(control.lastStamp, LITTLE);
    if (this.targetKind === 'shared-file') this.#checkClaim();
    this.epilogue = this.#readEpilogue(page, u32(control.epilogue), fault);
    this.target = textAt(page, control.target, control.pathBytes);
    this.targetFile = {
      inode: view.getBigUint64(control.targetInode, LITTLE),
      born: view.getBigUint64(control.targetBorn, LITTLE),
    };
    u64(control.pid, 'pid');
    this.process = processOf(page);
    ({ owner: this.owner, isOwn: this.isOwn } = ownerOf(fd, this.process));
    this.pid = this.process.pid;
  }

  /**
   * Why this ring is not believed to feed a file; undefined if it is.
   *
   * @param status of the file, where it is open.
   */
  doubt(path: string, status = kindOf(path)): TracewrightError | undefined {
    const doubt = doubtAbout(this.path, this.#status, { path, status });
    return doubt === undefined ? undefined : doubted(this.path, doubt);
  }

  /** Whether a chunk of this ring has a place in the file that it may not have reached. */
  get hasPlace(): boolean {
    return this.claim.to > this.tail && !this.hasOpenPlace;
  }

  /** Whether the records that were open have one: they follow all that the ring contained. */
  get hasOpenPlace(): boolean {
    return this.openRecords !== undefined && isAfter(this.claim, this.head);
  }

  /** Where a ring position lies in the ring's file. */
  offsetOf(position: number): number {
    return this.#controlBytes + (position % this.capacity);
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

  /** Of a file of the ring's own: where it ends at most, with what was being written after the head. */
  get mostBytes(): number {
    const { from, to, offset: bytes } = this.claim;
    const isNoted = bytes > 0 && from === this.head && to === from + bytes;
    return this.baseOffset + (isNoted ? to : this.head);
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

  /**
   * Whether the process died right after a record that is too long for the ring: that is in the file
   * before the tail says so, and the tail says so before the head.
   */
  #hasWrittenPast(head: number, tail: number): boolean {
    // So it is between the two notes after the records that were open.
    const mayBeOpen = this.openRecords !== undefined && tail > head;
    if (mayBeOpen && isAfter(this.claim, head)) return this.claim.to === tail;
    if (tail - head <= this.capacity / 2) return false;
    const { from, to, offset } = this.claim;
    if (from !== head || this.targetKind === 'socket') return false;
    return this.targetKind === 'own-file' ? to === tail : to === head && offset === 0;
  }

  /**
   * A place is taken for what the ring holds from its tail on, and the tail goes to its end at once;
   * one for nothing is that of a record that is being written past the ring.
   */
  #checkClaim(): void {
    const { from, to, offset } = this.claim;
    const isNoted = this.claim.to > this.tail || (from === to && offset !== 0);
    const most = this.openRecords?.mostBytes ?? 0;
    const mayFollow = from === this.head && to - from <= most;
    if (!isNoted || (from === this.tail && (to <= this.head || mayFollow))) return;
    throw new TraceFormatError(
      this.path,
      core.control.claimFrom,
      `the noted chunk must begin at ${this.tail} and end by ${this.head}, got ${from} to ${to}`,
      { field: 'claim', value: this.claim, limit: `from ${this.tail} to ${this.head}` },
    );
  }

  #readEpilogue(
    page: Buffer,
    chosen: number,
    fault: (offset: number, field: string, value: unknown, limit: string) => TraceFormatError,
  ): { records: number; bytes: Buffer } {
    const { control } = core;
    const count = (control.target - control.epilogues) / control.epilogueStride;
    if (chosen === 0) return { records: 0, bytes: Buffer.alloc(0) };
    if (chosen >= count) throw fault(control.epilogue, 'epilogue', chosen, `below ${count}`);
    const at = control.epilogues + chosen * control.epilogueStride;
    const view = new DataView(page.buffer, page.byteOffset, page.length);
    const records = view.getUint32(at, LITTLE);
    const total = records * view.getUint32(at + 4, LITTLE);
    const room = control.epilogueStride - control.epilogueHeadBytes;
    if (total > room) throw fault(at, 'epilogue', total, `at most ${room} bytes`);
    const start = at + control.epilogueHeadBytes;
    return { records, bytes: Buffer.from(page.subarray(start, start + total)) };
  }
}
