import { closeSync, fstatSync, readSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { TraceFormatError } from '../../core/errors.js';
import { openRegularFile } from '../../core/files/regular-file.js';
import type { Links } from '../../core/files/regular-file.js';
import { wrapSystemError } from '../../core/files/system-error.js';
import { copyRing } from '../../core/living/ring-copy.js';
import { RingsOfFile } from '../../core/living/rings-of-file.js';
import type { FeedingRing } from '../../core/recovery/feeding-ring.js';
import type { RingPage } from '../../core/recovery/ring-page.js';
import { fileOfRing, hasPredecessors } from '../file-names.js';
import {
  COUNTER_OFFSET,
  DEFINITION_STREAM,
  EPOCH_PACKET_BYTES,
  PACKET_HEAD_BYTES,
  SIZE_OFFSET,
  STREAM_OFFSET,
} from '../layout.js';
import { lossesOf, lostEnd, restOf } from './cut-ends.js';
import { eventBytes, isEvent } from './event-bytes.js';
import type { EventBytes } from './event-bytes.js';
import { HeldEvents, HeldRing } from './held-events.js';
import { CounterRanges } from './living-pass.js';
import type { LivingPass } from './living-pass.js';
import { UnfilledClaims } from './unfilled-claims.js';

/** The rings of a file. */
interface FileRings {
  /** Those that are there now, and those that were there before. */
  find(): readonly FeedingRing[];
  /** Faults of some of them, by path. */
  readonly faults: Map<string, TraceFormatError>;
  close(): void;
}

/** Options of a reading that goes on into the rings. */
export interface LivingOptions {
  /** More directories with rings than that of the file. */
  ringDirs?: readonly string[] | undefined;
  /** The reading of several files, of which this is one. */
  pass?: LivingPass | undefined;
  /** The rings, where they are open; default: those that are found. */
  rings?: FileRings | undefined;
  /** The ranges that an earlier reading had of the rings: `entries` of its ranges. It is not read again. */
  known?: CounterRanges['entries'] | undefined;
  /** Whether a symbolic link at the path is followed. Default: it is. */
  links?: Links | undefined;
}

/** A stretch of a file that can be read now, or what a ring holds. */
export type Part =
  | {
      kind: 'file';
      from: number;
      to: number;
      /** Whether nobody changes these bytes any more. */
      isFinal: boolean;
      /** Whether the reader is to call `note` with each event. */
      isNoted: boolean;
      /** Whether a record that is cut at the end is an error. */
      isLast: boolean;
    }
  | { kind: 'memory'; bytes: Buffer; offset: number };

/** Whose file it is. */
export type LivingState = 'ended' | 'growing' | 'died';

/** Readings of a file that grows though no ring is seen. */
const MOST_ROUNDS = 3;
/** Of half an event, by which to tell which one it is. */
const COMPARED_BYTES = 1 << 16;

/**
 * A Heph file and the rings that feed it, while processes write, rotate and recover them. It writes nothing
 * and locks nothing.
 *
 * First the rings are copied, then the file is read to its end: what it has got meanwhile is in the copies,
 * too. What is in no ring any more is in the file, because a ring releases nothing that the file does not
 * have. So events of a copy follow that the file does not have. Of a dead process, those of a claim that a ring
 * has not filled come there.
 */
export class LivingFile {
  readonly path: string;
  /** Bytes of the copies that were discarded: the writers had overtaken their reader. */
  overtaken = 0;
  state: LivingState = 'ended';
  /** Live processes that feed the file. */
  pids: readonly number[] = [];
  /** Of a dead process, once all parts are read: where the records of the file end. */
  end = 0;
  /** A loss of bytes that the process had written, if it is on no record yet. */
  loss: TraceFormatError | undefined;
  readonly #fd: number;
  /** The packet at its start, which has the trace's time 0. */
  readonly #epoch = Buffer.alloc(EPOCH_PACKET_BYTES);
  readonly #rings: FileRings;
  readonly #isPiece: boolean;
  readonly #claims: UnfilledClaims;
  readonly #held = new HeldEvents();
  /** Those that earlier recoveries have put on record. */
  #losses: readonly TraceFormatError[] = [];
  /** The events of this trace that were read and are not settled, of earlier pieces, too. */
  readonly #unsettled: CounterRanges;
  #settled = 0;
  /** The first event of the file that was read before. */
  #firstRepeated = Infinity;
  #isOpen = true;

  /** @throws TracewrightError `ERR_SYSTEM` when the file cannot be opened. */
  constructor(
    path: string,
    { ringDirs = [], pass, rings, known = [], links = 'followed' }: LivingOptions = {},
  ) {
    this.path = path;
    this.#isPiece = hasPredecessors(path);
    this.#fd = wrapSystemError('path', path, () => openRegularFile(path, links).fd);
    this.#claims = new UnfilledClaims(path, this.#fd, (ring, error) => {
      this.#leaveOut(ring, error);
    });
    const epoch = this.#epoch;
    readSync(this.#fd, epoch, 0, epoch.length, 0);
    this.#unsettled = pass?.unsettledOf(path, epoch) ?? new CounterRanges();
    this.#unsettled.restore(known);
    const isFormat = (format: string): boolean => format === 'heph';
    this.#rings = rings ?? new RingsOfFile(path, this.#fd, { fileOfRing, isFormat, ringDirs });
  }

  /** Faults of rings that were left out, and losses of the file. */
  get faults(): readonly TraceFormatError[] {
    const found = this.loss === undefined ? [] : [this.loss];
    return [...this.#rings.faults.values(), ...this.#losses, ...found];
  }

  /**
   * Once all parts are read: how many events of a ring were open when its process died.
   *
   * @param counts whether one is counted.
   *
   * @throws TraceFormatError when the ring was left out.
   */
  recordsAddedBy({ path }: FeedingRing, counts: (event: Buffer) => boolean): number {
    const fault = this.#rings.faults.get(path);
    if (fault !== undefined) throw fault;
    const held = this.#held.rings.find((each) => each.path === path);
    return held?.open.filter(counts).length ?? 0;
  }

  /** Whether it is another open file. */
  isSame({ dev, ino }: Pick<Stats, 'dev' | 'ino'>): boolean {
    const own = fstatSync(this.#fd);
    return own.dev === dev && own.ino === ino;
  }

  /** Whether a ring feeds it, or has fed it since it was opened. */
  get hasRings(): boolean {
    return this.#rings.find().length > 0;
  }

  /** Whether a live process writes to it now. */
  get isGrowing(): boolean {
    return this.#rings.find().some((ring) => ring.isRunning && ring.isInPlace());
  }

  /** Which trace it is, whatever its name is: a file that is deleted leaves its inode to another one. */
  get identity(): string {
    const { dev, ino } = fstatSync(this.#fd, { bigint: true });
    return `${dev}:${ino}:${this.#epoch.toString('hex', PACKET_HEAD_BYTES)}`;
  }

  /** Bytes of the file now. */
  get size(): number {
    return this.#size();
  }

  /** Up to where the bytes of the file are final now. It may lie inside a record. */
  get finalEnd(): number {
    const size = this.#size();
    return this.#claims.below(size, this.#rings.find())[0]?.from ?? size;
  }

  /** The same, as live processes say. */
  get notedEnd(): number {
    return this.#claims.notedEnd(this.#size(), this.#rings.find());
  }

  /**
   * Notes an event of a part that is to be noted.
   *
   * @returns false if it was read before. From there on nothing is settled in this reading: a later one
   *   finds the event in the file alone.
   */
  note(event: EventBytes, isFinal: boolean): boolean {
    this.#held.note(event);
    const stream = event.view.getUint32(event.position + STREAM_OFFSET);
    if (stream === DEFINITION_STREAM) return true;
    if (isFinal && this.#unsettled.isEmpty) return true;
    const counter = event.view.getUint32(event.position + COUNTER_OFFSET);
    if (this.#unsettled.has(stream, counter)) {
      this.#firstRepeated = Math.min(this.#firstRepeated, event.offset);
      return false;
    }
    if (!isFinal || this.hasRepeated) this.#unsettled.add(stream, counter);
    return true;
  }

  /** Where everything before is final; known once all parts are read. */
  get settled(): number {
    return Math.min(this.#settled, this.#firstRepeated);
  }

  /** Whether nothing that is read now counts as settled. */
  get hasRepeated(): boolean {
    return this.#firstRepeated < Infinity;
  }

  /**
   * The parts, each with where its reader has stopped: after its last whole record.
   *
   * @param since where to begin.
   */
  *parts(since: number): Generator<Part, void, number> {
    this.#losses = lossesOf(this.path);
    let reached = since;
    const file = (to: number, isFinal: boolean, isLast = false) => {
      const isNoted = this.#held.rings.length > 0 || !this.#unsettled.isEmpty;
      return { kind: 'file', from: reached, to, isFinal, isNoted, isLast } as const;
    };
    let size = 0;
    let rings: readonly FeedingRing[] = [];
    for (let i = 0; rings.length === 0; i++) {
      const before = size;
      size = this.#size();
      rings = this.#rings.find();
      if (rings.length > 0) break;
      // Nobody feeds it, unless its ring was removed before it was seen: then the file has grown.
      const isLast = size === before || i === MOST_ROUNDS;
      if (reached < size) reached = yield file(size, true, isLast);
      if (isLast) {
        this.#settled = reached;
        return;
      }
    }

    this.#copy(rings);
    // In this order: who claims bytes after another has noted its own before.
    size = this.#size();
    const claims = this.#claims.below(size, this.#rings.find());
    const hasDied = this.state === 'died';
    let isFinal = true;
    this.#settled = reached;
    for (const { from, to, bytes } of [...claims, { from: size, to: size, bytes: undefined }]) {
      // It cannot be: what is read was in no claim that was being filled.
      if (from < reached) continue;
      reached = yield file(from, isFinal);
      if (isFinal) this.#settled = reached;
      isFinal = false;
      if (reached < from) {
        if ((hasDied || from === size) && this.#mayEnd(reached, size)) break;
        yield file(from, false, true);
      }
      if (bytes !== undefined) {
        this.#held.noteAll(bytes);
        yield { kind: 'memory', bytes, offset: from };
      }
      reached = bytes === undefined ? Math.min(to, size) : to;
    }
    this.end = reached;
    if (hasDied) this.#judge(since, size);
    let offset = hasDied ? reached : size;
    for (const ring of this.#held.rings) {
      const events = ring.missing();
      if (events.length === 0) continue;
      if (hasDied && this.#held.isOlder(ring)) {
        this.#rings.faults.set(ring.path, olderRing(ring, this.path));
        continue;
      }
      this.#held.noteAll(events);
      for (let at = 0; at < events.length; at += events.readUInt32BE(at + SIZE_OFFSET)) {
        const counter = events.readUInt32BE(at + COUNTER_OFFSET);
        this.#unsettled.add(events.readUInt32BE(at + STREAM_OFFSET), counter);
      }
      yield { kind: 'memory', bytes: events, offset };
      offset += events.length;
    }
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#rings.close();
    closeSync(this.#fd);
  }

  #size(): number {
    return fstatSync(this.#fd).size;
  }

  /** Copies the events that the rings hold, and of dead processes those that were open. */
  #copy(rings: readonly FeedingRing[]): void {
    for (const ring of rings) {
      try {
        const { page, records, overtaken } = copyRing(ring, PACKET_HEAD_BYTES, eventBytes);
        this.overtaken += overtaken;
        // One that goes with the next piece has left nothing for this one.
        if (ring.isRunning && !ring.isInPlace()) continue;
        const held = new HeldRing(
          page,
          records,
          ring.isRunning ? [] : this.#openEvents(ring, page),
        );
        held.noteRead((stream, counter) => this.#unsettled.has(stream, counter));
        this.#held.add(held);
      } catch (error) {
        this.#leaveOut(ring, error);
      }
    }
    const alive = rings.filter(({ isRunning }) => isRunning);
    this.pids = [...new Set(alive.map(({ pid }) => pid))].sort((a, b) => a - b);
    this.state = alive.length > 0 ? 'growing' : 'died';
  }

  /** The events that were open when the process died, each in the bytes that complete it. */
  #openEvents(ring: FeedingRing, page: RingPage): Buffer[] {
    try {
      const open = ring.content.openRecords(page);
      if (open === undefined) return [];
      const { claim, head, openCount } = page;
      if (openCount > 0 && open.isBlank) throw blankTable(page);
      const waiting = ring.content.waiting(page, eventBytes);
      if (page.claimsOpenRecords) {
        const numbered = waiting?.isNumbered === true ? waiting.records : [];
        return [...numbered, ...open.closedAt(head, isEvent)];
      }
      // What one ends that went past the ring, and is whole, is not open.
      const isEnded = claim.from === claim.to && claim.offset > 0 && this.#isWhole(claim.offset);
      return open.close(head, ring.content.afterHead(page), isEnded, isEvent, waiting);
    } catch (error) {
      this.#leaveOut(ring, error);
      return [];
    }
  }

  #isWhole(offset: number): boolean {
    const head = Buffer.alloc(PACKET_HEAD_BYTES);
    if (readSync(this.#fd, head, 0, head.length, offset) < head.length) return false;
    const bytes = eventBytes(head, 0);
    return bytes !== undefined && offset + bytes <= this.#size();
  }

  /** Whether the readable part of a file can end here: the rest is the beginning of a packet, or was lost. */
  #mayEnd(offset: number, size: number): boolean {
    const rest = restOf(this.#fd, offset, size);
    return rest === 'half' || (rest === 'zeros' && this.state === 'died');
  }

  /** Finds out whether a dead process had written more than the file has. */
  #judge(since: number, size: number): void {
    // A loss that is on record explains what is missing.
    const isLost =
      this.#losses.length === 0 &&
      ((this.end < size && !this.#isBeingWritten(size)) ||
        // A ring that cannot be read may have claimed bytes, too.
        this.#held.isNotedPast(this.end, this.#rings.faults.size === 0) ||
        (since === 0 && this.#held.isMissing(this.#isPiece)));
    if (isLost) this.loss = lostEnd(this.path, this.end, Math.max(0, size - this.end));
  }

  /** Whether what follows the last whole packet was being written there, by its process or a recovery. */
  #isBeingWritten(size: number): boolean {
    if (this.#size() !== size) return true;
    const isNoted = this.#held.rings.some(({ page: { notedChunk } }) => {
      return notedChunk?.from === this.end && notedChunk.to === this.end;
    });
    if (isNoted) return true;
    const rest = Buffer.alloc(Math.min(size - this.end, COMPARED_BYTES));
    readSync(this.#fd, rest, 0, rest.length, this.end);
    return this.#held.rings.some((ring) => ring.hasBeginning(rest));
  }

  #leaveOut(ring: FeedingRing, error: unknown): void {
    if (!(error instanceof TraceFormatError)) throw error;
    this.#rings.faults.set(ring.path, error);
  }
}

function blankTable({ path, openCount }: RingPage): TraceFormatError {
  const message = `the ring is filled with zeros: the ${openCount} open records that it held are lost`;
  return new TraceFormatError(path, 0, message, { field: 'open records' });
}

function olderRing({ path, page: { tail } }: HeldRing, file: string): TraceFormatError {
  return new TraceFormatError(
    path,
    0,
    `the ring does not fit ${file}: it is older, for the file has what the ring still holds. Both are ` +
      'left as they are',
    { field: 'tail', value: tail },
  );
}
