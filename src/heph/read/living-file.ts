import { closeSync, fstatSync, readSync } from 'node:fs';
import { TraceFormatError } from '../../core/errors.js';
import { openRegularFile } from '../../core/files/regular-file.js';
import { wrapSystemError } from '../../core/files/system-error.js';
import type { LivingRing } from '../../core/living/living-ring.js';
import { copyRing } from '../../core/living/ring-copy.js';
import { RingsOfFile } from '../../core/living/rings-of-file.js';
import type { RingPage } from '../../core/recovery/ring-page.js';
import { fileOfRing } from '../file-names.js';
import {
  COUNTER_OFFSET,
  DEFINITION_STREAM,
  EPOCH_PACKET_BYTES,
  PACKET_HEAD_BYTES,
  STREAM_OFFSET,
} from '../layout.js';
import { eventBytes, isEvent } from './event-size.js';
import { CounterRanges } from './counter-ranges.js';
import type { LivingPass } from './living-pass.js';

/** Options of a reading that goes on into the rings. */
export interface LivingOptions {
  /** More directories with rings than that of the file. */
  ringDirs?: readonly string[] | undefined;
  /** The reading of several files, of which this is one. */
  pass?: LivingPass | undefined;
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

/** A place in the file that is noted, and that its bytes have not reached yet. */
interface Hole {
  from: number;
  to: number;
}

/**
 * A Heph file and the rings that feed it, while processes write, rotate and recover them. It writes nothing
 * and locks nothing.
 *
 * First comes the file, up to the first place that a ring has noted and not filled. Then the rings are
 * copied, and the file is read to its end: what it has got meanwhile is in the copies, too. File and copy are
 * joined by stream and counter. What is in no ring any more is in the file, because a ring releases
 * nothing that the file does not have.
 */
export class LivingFile {
  readonly path: string;
  /** Bytes of the copies that were discarded: the writers had overtaken their reader. */
  overtaken = 0;
  state: LivingState = 'ended';
  /** Live processes that feed the file. */
  pids: readonly number[] = [];
  readonly #fd: number;
  readonly #rings: RingsOfFile;
  /** The events of this trace that were read and are not settled, of earlier pieces, too. */
  readonly #unsettled: CounterRanges;
  /** The events that the file got after the rings were copied. */
  readonly #noted = new CounterRanges();
  #settled = 0;
  /** The first event of the file that was read before. */
  #firstRepeated = Infinity;
  #isOpen = true;

  /** @throws TracewrightError `ERR_SYSTEM` when the file cannot be opened. */
  constructor(path: string, { ringDirs = [], pass }: LivingOptions = {}) {
    this.path = path;
    this.#fd = wrapSystemError('path', path, () => openRegularFile(path, 'followed').fd);
    const epoch = Buffer.alloc(EPOCH_PACKET_BYTES);
    readSync(this.#fd, epoch, 0, epoch.length, 0);
    this.#unsettled = pass?.unsettledOf(path, epoch) ?? new CounterRanges();
    this.#rings = new RingsOfFile(path, this.#fd, {
      fileOfRing,
      isFormat: (format) => format === 'heph',
      ringDirs,
    });
  }

  /** What is wrong with rings that were left out. */
  get faults(): readonly TraceFormatError[] {
    return [...this.#rings.faults.values()];
  }

  /** Whether a ring feeds it, or has fed it since it was opened. */
  get hasRings(): boolean {
    return this.#rings.find().length > 0;
  }

  /** Up to where the bytes of the file are final now. It may lie inside a record. */
  get finalEnd(): number {
    const size = this.#size();
    return this.#holes(this.#rings.find(), size)[0]?.from ?? size;
  }

  /**
   * Notes an event of a part that is to be noted.
   *
   * @param offset where it lies in the file.
   * @returns false if it was read before. From there on nothing is settled in this reading: a later one
   *   finds the event in the file alone.
   */
  note(stream: number, counter: number, offset: number, isFinal: boolean): boolean {
    this.#noted.add(stream, counter);
    if (stream === DEFINITION_STREAM) return true;
    if (this.#unsettled.has(stream, counter)) {
      this.#firstRepeated = Math.min(this.#firstRepeated, offset);
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
    let reached = since;
    const file = (to: number, kind: { isFinal?: boolean; isNoted?: boolean; isLast?: boolean }) => {
      const { isFinal = false, isNoted = !this.#unsettled.isEmpty, isLast = false } = kind;
      return { kind: 'file', from: reached, to, isFinal, isNoted, isLast } as const;
    };
    // In this order: who takes a place after another has noted its own before.
    let size = this.#size();
    let rings = this.#rings.find();
    const [first] = this.#holes(rings, size);
    reached = yield file(first?.from ?? size, { isFinal: true });
    for (let i = 0; rings.length === 0; i++) {
      const before = size;
      size = this.#size();
      rings = this.#rings.find();
      if (rings.length > 0) break;
      // Nobody feeds it, unless its ring was removed before it was seen: then the file has grown.
      const isLast = size === before || i === MOST_ROUNDS;
      if (reached < size) reached = yield file(size, { isFinal: true, isLast });
      if (isLast) {
        this.#settled = reached;
        return;
      }
    }

    const copies = this.#copies(rings);
    size = this.#size();
    const holes = this.#holes(this.#rings.find(), size);
    let isFinal = true;
    this.#settled = reached;
    for (const { from, to } of [...holes, { from: size, to: size }]) {
      // It cannot be: what is read was in no place that was being filled.
      if (from < reached) continue;
      reached = yield file(from, { isFinal, isNoted: true });
      // Half a record at the end is being written. Anywhere else it is none.
      if (reached < from && from < size) yield file(from, { isNoted: true, isLast: true });
      if (isFinal) this.#settled = reached;
      isFinal = false;
      reached = Math.min(to, size);
    }
    let offset = size;
    for (const events of copies) {
      const bytes = this.#withoutRead(events);
      if (bytes.length > 0) yield { kind: 'memory', bytes, offset };
      offset += bytes.length;
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

  /** The places below `size` that are not filled, in order. */
  #holes(rings: readonly LivingRing[], size: number): Hole[] {
    const holes: Hole[] = [];
    for (const ring of rings) {
      try {
        const hole = this.#holeOf(ring);
        if (hole !== undefined && hole.from < size) holes.push(hole);
      } catch (error) {
        this.#leaveOut(ring, error);
      }
    }
    return holes.sort((a, b) => a.from - b.from);
  }

  #holeOf(ring: LivingRing): Hole | undefined {
    for (;;) {
      const page = ring.sample();
      // One that goes with the next piece has nothing on the way to this one.
      if (!page.hasPlace && !page.hasOpenPlace) return undefined;
      if (!ring.isInPlace() && ring.isRunning) return undefined;
      const { from, to, offset } = page.claim;
      const mayBe = page.hasOpenPlace || this.#mayBePlace(ring, page);
      if (mayBe) return { from: offset, to: offset + to - from };
      if (ring.tail() === page.tail) {
        throw new TraceFormatError(ring.path, 0, `it is not what ${this.path} has at its place`);
      }
    }
  }

  /** Whether a place has what the ring holds for it, or nothing yet. */
  #mayBePlace(ring: LivingRing, page: RingPage): boolean {
    const { from, to, offset } = page.claim;
    const held = ring.read(page, from, to);
    const written = Buffer.alloc(held.length);
    readSync(this.#fd, written, 0, written.length, offset);
    if (held.equals(written)) return true;
    return !written.some((byte, i) => byte !== 0 && byte !== held[i]);
  }

  /** The events that the rings hold, and of dead processes those that were open. */
  #copies(rings: readonly LivingRing[]): Buffer[] {
    const events: Buffer[] = [];
    for (const ring of rings) {
      try {
        const copy = copyRing(ring, PACKET_HEAD_BYTES, eventBytes);
        this.overtaken += copy.overtaken;
        // One that goes with the next piece has left nothing for this one.
        if (ring.isRunning && !ring.isInPlace()) continue;
        events.push(...copy.records);
        // Before the file's size is taken: what a recovery has removed from the table is in the file then.
        if (!ring.isRunning) events.push(this.#openRecords(ring, copy.page));
      } catch (error) {
        this.#leaveOut(ring, error);
      }
    }
    const alive = rings.filter(({ isRunning }) => isRunning);
    this.pids = [...new Set(alive.map(({ pid }) => pid))].sort((a, b) => a - b);
    this.state = alive.length > 0 ? 'growing' : 'died';
    return events;
  }

  /** What was open when the process died, as a recovery completes it. */
  #openRecords(ring: LivingRing, page: RingPage): Buffer {
    try {
      const open = ring.openRecords(page);
      if (open === undefined) return Buffer.alloc(0);
      const { head, claim } = page;
      if (page.hasOpenPlace) return open.closedAt(head, isEvent).bytes;
      // What one ends that went past the ring, and is whole, is not open.
      if (claim.from === claim.to && claim.offset > 0 && this.#isWhole(claim.offset)) {
        open.discardCommitting(head);
      }
      return open.close(head, ring.afterHead(page), isEvent).bytes;
    } catch (error) {
      this.#leaveOut(ring, error);
      return Buffer.alloc(0);
    }
  }

  #isWhole(offset: number): boolean {
    const head = Buffer.alloc(PACKET_HEAD_BYTES);
    if (readSync(this.#fd, head, 0, head.length, offset) < head.length) return false;
    const bytes = eventBytes(head, 0);
    return bytes !== undefined && offset + bytes <= this.#size();
  }

  /** Events that were in no other ring, and that the file has not got since they were copied. */
  #withoutRead(events: Buffer): Buffer {
    const kept: Buffer[] = [];
    let from = 0;
    let at = 0;
    while (at < events.length) {
      const next = at + eventBytes(events, at)!;
      const stream = events.readUInt32BE(at + STREAM_OFFSET);
      const counter = events.readUInt32BE(at + COUNTER_OFFSET);
      if (this.#noted.has(stream, counter) || this.#unsettled.has(stream, counter)) {
        if (at > from) kept.push(events.subarray(from, at));
        from = next;
      } else {
        this.#unsettled.add(stream, counter);
      }
      at = next;
    }
    if (from === 0) return events;
    if (at > from) kept.push(events.subarray(from, at));
    return Buffer.concat(kept);
  }

  #leaveOut(ring: LivingRing, error: unknown): void {
    if (!(error instanceof TraceFormatError)) throw error;
    this.#rings.faults.set(ring.path, error);
  }
}
