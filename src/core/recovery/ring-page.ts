import { core } from '../addon.js';
import { LITTLE } from '../byte-order.js';
import { TraceFormatError } from '../errors.js';
import { GETS_END } from '../unfinished-target.js';
import { tableLayout } from './open-records.js';
import type { TableLayout } from './open-records.js';
import type { ProcessIdentity } from './process-identity.js';
import { waitingLayout } from './waiting-records.js';
import type { WaitingLayout } from './waiting-records.js';

const MAGIC = 'TWRING\r\n';
const VERSION = 3;
const LARGEST_CAPACITY = 2 ** 30;
const LARGEST_CONTROL = 2 ** 31;
const LARGEST_PREAMBLE = 1 << 16;

/** Whether a ring has its target for itself; the numbers are those of native/ring/control_page.h. */
export type TargetKind = 'own-file' | 'shared-file' | 'socket';
const TARGET_KINDS: readonly (TargetKind | undefined)[] = [
  undefined,
  'own-file',
  'shared-file',
  'socket',
];

/**
 * The bytes that were being written, in ring positions: of a file that several rings feed a chunk and its offset
 * there, of a file of the ring's own so many bytes (`offset`) that never were in the ring.
 */
interface Claim {
  from: number;
  to: number;
  offset: number;
}

/** Where in a file that several rings feed a ring has noted to write, in bytes of the file. */
export interface NotedChunk {
  from: number;
  to: number;
  /** Whether it has written all of it. */
  isWritten: boolean;
}

/** Whether a chunk follows all that its ring contained up to `head`. */
function isAfter({ from, to }: Claim, head: number): boolean {
  return from === head && to > head;
}

/** A u64 of a page; of a file that ends before it, 0. */
export function numberAt(page: Buffer, at: number): bigint {
  if (page.length < at + 8) return 0n;
  return LITTLE ? page.readBigUInt64LE(at) : page.readBigUInt64BE(at);
}

function u32At(page: Buffer, at: number): number {
  if (page.length < at + 4) return 0;
  return LITTLE ? page.readUInt32LE(at) : page.readUInt32BE(at);
}

function textAt(page: Buffer, at: number, bytes: number): string {
  const piece = page.subarray(at, at + bytes);
  const end = piece.indexOf(0);
  return piece.toString('utf8', 0, end === -1 ? piece.length : end);
}

/** The process that a page names, ready or not. */
export function processOf(page: Buffer): ProcessIdentity {
  const { control } = core;
  const pid = Number(numberAt(page, control.pid));
  const start = String(numberAt(page, control.processStart));
  return { pid, start, boot: textAt(page, control.bootId, 48) };
}

/** Whether bytes begin as a ring does; undefined: they are zeros, of a ring that is not ready. */
export function isRingPage(page: Buffer): boolean | undefined {
  const magic = page.subarray(0, MAGIC.length);
  if (magic.every((byte) => byte === 0)) return undefined;
  return magic.toString('latin1') === MAGIC;
}

/** Whether a page has bytes and nothing but zeros: no process leaves one that was used. */
export function isBlankPage(page: Buffer): boolean {
  return page.length > 0 && page.every((byte) => byte === 0);
}

/** A ring of which a disk, or a copy, has left nothing. */
export function blankRing(path: string): TraceFormatError {
  return new TraceFormatError(
    path,
    0,
    `the ring is filled with zeros: what it held is lost. Remove it to accept the loss`,
    { field: 'magic' },
  );
}

/**
 * The first bytes of a control page, unchecked. They are enough to follow the file of a live process, and some
 * hundred where the page has thousands.
 */
export class RingFront {
  readonly process: ProcessIdentity;
  /** The format's word for itself: `ovni 3`, `heph`. */
  readonly format: string;
  /** Undefined: none that is known. */
  readonly targetKind: TargetKind | undefined;
  /**
   * The number of the file that the ring feeds and its birth in ns since 1970 (0: the file system does
   * not say), whatever path it has by now. Number 0: not noted.
   */
  readonly targetFile: { inode: bigint; born: bigint };
  /** Bytes that are surely in the target. */
  tail: number;
  claim: Claim;

  /** @param page the first bytes of a page, {@link frontBytes} of them at least. */
  constructor(page: Buffer) {
    const { control } = core;
    const numberOf = (at: number): number => Number(numberAt(page, at));
    this.process = processOf(page);
    this.format = textAt(page, control.format, 16);
    this.targetKind = TARGET_KINDS[u32At(page, control.targetKind)];
    this.targetFile = {
      inode: numberAt(page, control.targetInode),
      born: numberAt(page, control.targetBorn),
    };
    this.tail = numberOf(control.tail);
    this.claim = {
      from: numberOf(control.claimFrom),
      to: numberOf(control.claimTo),
      offset: numberOf(control.claimOffset),
    };
  }

  /**
   * The chunk that a ring has noted last, of a file that several rings feed: an empty one
   * (`from` = `to`) is a record that never was in the ring.
   */
  get notedChunk(): NotedChunk | undefined {
    const { from, to, offset } = this.claim;
    if (offset === 0) return undefined;
    return { from: offset, to: offset + to - from, isWritten: from < to && to <= this.tail };
  }
}

/** Bytes of the front of a page. */
export function frontBytes(): number {
  return core.control.targetBorn + 8;
}

/**
 * A control page (native/ring/control_page.h), read without trusting it. Every number is checked
 * against the size of the ring's file and the others.
 */
export class RingPage extends RingFront {
  readonly path: string;
  declare readonly targetKind: TargetKind;
  readonly capacity: number;
  /** Bytes in front of the data. */
  readonly controlBytes: number;
  readonly stampOffset: number;
  /** Offset of ring position 0 in a file of the ring's own. */
  readonly baseOffset: number;
  /** Bytes committed. */
  head: number;
  /** Of the table of open records, if there is one. */
  readonly openTable: TableLayout | undefined;
  /** Of records that wait, if there are any. */
  readonly waiting: WaitingLayout | undefined;
  /** Clock of the last record that its ring stamped or checked. */
  readonly lastStamp: bigint;
  /** Records that were open when its process died, by the count that it kept. */
  readonly openCount: number;
  /** Whether its stream has got its end, or one more record than the page says. */
  readonly isEnded: boolean;
  /** Records that found no room, or that the format or the target cannot hold. */
  readonly dropped: number;
  /** Records that end the stream from the state in which it was left. */
  readonly epilogue: { records: number; bytes: Buffer };
  /** The target's path as the process knew it. */
  readonly target: string;
  /** Whether its writer was adding the end that only the format can write. */
  readonly #getsEnd: boolean;

  /**
   * @param page the first bytes of the ring's file.
   * @param size bytes of the whole file.
   * @throws TraceFormatError when it contradicts itself.
   */
  constructor(path: string, page: Buffer, size: number) {
    super(page);
    const { control } = core;
    const fault = (offset: number, field: string, value: unknown, limit: string) =>
      new TraceFormatError(path, offset, `${field} must be ${limit}, got ${String(value)}`, {
        field,
        value,
        limit,
      });
    if (page.length < control.bytes)
      throw fault(page.length, 'size', size, `at least ${control.bytes}`);
    const view = new DataView(page.buffer, page.byteOffset, page.length);
    const u32 = (at: number) => u32At(page, at);
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
    const version = u32(control.version);
    if (version !== VERSION) throw fault(control.version, 'version', version, String(VERSION));
    this.controlBytes = within(
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
    if (this.controlBytes + this.capacity !== size) {
      throw fault(
        control.capacity,
        'capacity',
        this.capacity,
        `the rest of a file of ${size} bytes`,
      );
    }
    if (TARGET_KINDS[u32(control.targetKind)] === undefined) {
      throw fault(control.targetKind, 'target kind', u32(control.targetKind), '1, 2 or 3');
    }
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
    for (const at of [control.claimFrom, control.claimTo, control.claimOffset]) u64(at, 'claim');
    this.openTable = tableLayout(path, view, this.controlBytes);
    this.waiting = this.#waitingIn(view);
    const endedAt = u64(control.endedAt, 'end');
    const head = endedAt > 0 ? endedAt - 1 : u64(control.head, 'head');
    const tail = u64(control.tail, 'tail');
    this.head = this.#hasWrittenPast(head, tail) ? tail : head;
    this.tail = within(control.tail, 'tail', tail, 0, this.head);
    this.isEnded = endedAt > 0 || this.head !== head;
    within(control.head, 'head', this.head, this.tail, this.tail + this.capacity);
    this.lastStamp = view.getBigUint64(control.lastStamp, LITTLE);
    this.openCount = view.getInt32(control.openRecords, LITTLE);
    const count = (at: number) => view.getFloat64(at, LITTLE);
    this.dropped = count(control.droppedEvents) + count(control.refusedEvents);
    if (this.targetKind === 'shared-file') this.#checkClaim();
    this.epilogue = this.#readEpilogue(page, u32(control.epilogue), fault);
    this.target = textAt(page, control.target, control.pathBytes);
    u64(control.pid, 'pid');
    this.#getsEnd = u32(control.unfinished) === GETS_END;
  }

  /** Whether a chunk of this ring has claimed bytes of the file that it may not have reached. */
  get hasClaim(): boolean {
    return this.claim.to > this.tail && !this.claimsOpenRecords;
  }

  /** Whether the records that were open have claimed bytes: they follow all that the ring contained. */
  get claimsOpenRecords(): boolean {
    return this.openTable !== undefined && isAfter(this.claim, this.head);
  }

  /** Where a ring position lies in the ring's file. */
  offsetOf(position: number): number {
    return this.controlBytes + (position % this.capacity);
  }

  /** Of a file of the ring's own: where it ends at most, with what was being written after the head. */
  get mostBytes(): number {
    const { from, to, offset: bytes } = this.claim;
    if (this.#getsEnd && this.tail === this.head) return this.baseOffset + core.control.anyBytes;
    const isNoted = bytes > 0 && from === this.head && to === from + bytes;
    return this.baseOffset + (isNoted ? to : this.head);
  }

  /** @throws TraceFormatError when they do not lie before the data. */
  #waitingIn(page: DataView): WaitingLayout | undefined {
    const layout = waitingLayout(page);
    if (layout === undefined) return undefined;
    const { at, front, capacity } = layout;
    if (at >= core.control.bytes && at + front + capacity <= this.controlBytes) return layout;
    throw new TraceFormatError(
      this.path,
      core.control.waitingAt,
      `the records that wait must lie before ${this.controlBytes}, got ${at} to ${at + front + capacity}`,
      { field: 'waiting', value: at, limit: `before ${this.controlBytes}` },
    );
  }

  /**
   * Whether the process died right after a record that is too long for the ring: that is in the file
   * before the tail says so, and the tail says so before the head.
   */
  #hasWrittenPast(head: number, tail: number): boolean {
    // So it is between the two notes after the records that were open.
    const mayBeOpen = this.openTable !== undefined && tail > head;
    if (mayBeOpen && isAfter(this.claim, head)) return this.claim.to === tail;
    if (tail - head <= this.capacity / 2) return false;
    const { from, to, offset } = this.claim;
    if (from !== head || this.targetKind === 'socket') return false;
    return this.targetKind === 'own-file' ? to === tail : to === head && offset === 0;
  }

  /**
   * A claim is for what the ring holds from its tail on, and the tail goes to its end at once;
   * one of no bytes is for a record that is being written past the ring.
   */
  #checkClaim(): void {
    const { from, to, offset } = this.claim;
    const isNoted = this.claim.to > this.tail || (from === to && offset !== 0);
    const most = (this.openTable?.bytes ?? 0) + (this.waiting?.capacity ?? 0);
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
